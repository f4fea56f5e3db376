"""The profiles that are there by name: `default`, and LADER's score and its variants as they were published.

LADER (Jin, Shin, Lu 2023: "Log-Augmented DEnse Retrieval for Biomedical Literature Search", section 2.2):

    Score(d) = Σ_j softmax(s)_j · 1(d = d_j) + λ Σ_i softmax(s)_i · 1(d ∈ Rel(q_i))

over the n nearest documents d_j and the m nearest past queries q_i, m = n = 1,000, λ = 0.5 for HEAD and TORSO
queries and 0.2 for TAIL ones; softmax over raw inner products. Here: the documents' leg is normalised by
`softmax`; the click leg is the second sum as the click store gives it (weighting `relevant`), so its
normalization is `none`, and its weight λ.

The temperature of both softmaxes is the paper's, 1, where the encoder's space is of inner products. In a
space of cosines (unit-norm vectors) it is 0.05, because at 1 a softmax over 1,000 cosines is flat
(`fusion.softmax.UNIT_NORM_TEMPERATURE`).
"""

from __future__ import annotations

from dataclasses import replace

from trifuse.ranker.clicks.settings import HEAD, TAIL, TORSO, ClickSettings
from trifuse.ranker.profiles.profile import Profile

N = 1000
"""The paper's m and n."""

LAMBDA = {HEAD: 0.5, TORSO: 0.5, TAIL: 0.2}

_NO_DOUBT = -1e9
"""So far below any similarity that it has no share in a softmax, and a number in JSON."""


def published() -> dict[str, Profile]:
    """The built-in profiles by name."""
    lader = Profile(
        name="lader",
        weights={"dense": 1.0, "clicks": LAMBDA[HEAD]},
        normalization={"lexical": "softmax", "dense": "softmax", "clicks": "none"},
        depth=N,
        clicks=ClickSettings(
            m=N,
            doubt=_NO_DOUBT,
            weighting="relevant",
            support=0.0,
            candidates=10_000,
            segment_weights=LAMBDA,
        ),
        click_budget_s=1.0,
    )
    variants = {
        # The same log over BM25, whose scores go into the softmax as they are.
        "lader-bm25": {"lexical": 1.0, "clicks": LAMBDA[HEAD]},
        # The same log over both: halves, so that the documents' scores still sum to 1.
        "lader-hybrid": {"lexical": 0.5, "dense": 0.5, "clicks": LAMBDA[HEAD]},
        # Without log augmentation (w/o LA): the dense retriever alone.
        "lader-no-log": {"dense": 1.0},
        # Without dense retrieval (w/o DR): what was clicked for similar queries. Documents that are only near
        # score 0 in the paper; here they aren't listed.
        "lader-no-dense": {"clicks": LAMBDA[HEAD]},
    }
    profiles = [Profile(), lader, *(replace(lader, name=name, weights=w) for name, w in variants.items())]
    return {profile.name: profile for profile in profiles}
