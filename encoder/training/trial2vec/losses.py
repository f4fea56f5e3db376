"""The losses of Trial2Vec (Wang and Sun 2022, section 3.3): L = L_g + L_l, each by InfoNCE.

What is printed, with ψ the cosine and sums over a batch of B trials:

    (5)  L_g = −Σᵢ log  exp ψ(vᵢ, vᵢ⁺) / Σ_{v ∈ Vᵢ⁻} exp ψ(vᵢ, v),   Vᵢ⁻ = {vᵢ⁻} ∪ {vⱼ : j ≠ i}
    (8)  L_l = −Σᵢ log  ψ(vᵢ, vᵢ⁺)     / Σ_{v ∈ Vᵢ⁻} exp ψ(vᵢ, v)

(8) lacks the exp in its numerator: the logarithm of a cosine is undefined where that is negative, and grows
without end near zero. Both leave the positive out of the denominator: such a loss has no lower bound that is
reached, and goes on pushing apart what is already told apart. Trained is InfoNCE as it is defined (van den
Oord et al. 2018), which the text names, for both:

    L = −1/B Σᵢ log  exp(ψ(vᵢ, vᵢ⁺)/τ) / (exp(ψ(vᵢ, vᵢ⁺)/τ) + Σ_{v ∈ Vᵢ⁻} exp(ψ(vᵢ, v)/τ))

A row of it is log(1 + eˡ), where l is that row of (5). It is a mean, so that the learning rate doesn't depend
on the batch; τ = 1 is the paper's.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from trifuse.encoder.training.trial2vec.attention import unit


def info_nce(
    anchors: Tensor,
    positives: Tensor,
    *,
    negatives: Tensor | None = None,
    others: Tensor | None = None,
    excluded: Tensor | None = None,
    without_negative: Tensor | None = None,
    temperature: float = 1.0,
) -> Tensor:
    """The loss that is trained, of global vectors and of local ones.

    Args:
        anchors, positives: (n, dim), row by row vᵢ and vᵢ⁺; they needn't be of unit norm.
        negatives: (n, dim) vᵢ⁻, made for the anchor: the trial with another's title, the text that lacks an
            entity.
        others: (n, dim) whose row j is a negative of each other anchor i; None: the anchors themselves, as
            in the paper. Given the positives, an anchor is told apart from what it is compared with.
        excluded: (n, n) bool, true where row j of the others is no negative of anchor i: of the same
            disease, say. An anchor's own row never is one.
        without_negative: (n,) bool, true where a row of `negatives` says nothing.
        temperature: τ.

    Returns:
        the mean over anchors; 0 of a row that is left without any negative.
    """
    rows = unit(anchors)
    pairs = [(rows * unit(positives)).sum(1, keepdim=True)]
    within = rows @ (rows if others is None else unit(others)).T
    hidden = torch.eye(len(rows), dtype=torch.bool, device=rows.device)
    pairs.append(within.masked_fill(hidden if excluded is None else hidden | excluded, -torch.inf))
    if negatives is not None:
        made = (rows * unit(negatives)).sum(1, keepdim=True)
        pairs.append(
            made if without_negative is None else made.masked_fill(without_negative[:, None], -torch.inf)
        )
    scores = torch.cat(pairs, dim=1) / temperature
    return functional.cross_entropy(scores, torch.zeros(len(rows), dtype=torch.long, device=rows.device))
