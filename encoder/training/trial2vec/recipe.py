"""What a Trial2Vec is made by: numbers and names only, so that a recipe can be read, compared, written down.

The defaults are those of the paper (Wang and Sun 2022, sections 3.3 and 4.2). It says nothing of lengths in
tokens, of steps, of dropout of attributes, or of a temperature: exp(cosine) is printed, so it is 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from trifuse.encoder.errors import TrainingInvalid
from trifuse.encoder.training.recipe import require_least, require_reached
from trifuse.encoder.training.trial2vec.attention import PAPER, Form


@dataclass(frozen=True)
class Recipe:
    """How a Trial2Vec is trained.

    Args:
        steps: optimizer steps of the contrastive training, at most: the early stop may end it before.
        warmup_steps: the learning rate rises from 0 to `learning_rate` over them, then falls by a half cosine
            to 0 at `steps`.
        batch: trials in a minibatch.
        learning_rate, weight_decay: of AdamW; weights of one dimension don't decay.
        trained_layers: the upper layers of the backbone that are trained; None: all, and the embeddings; 0:
            none, so that each part is encoded once and kept.
        dim: of the vectors; None: the backbone's.
        form: of the attention.
        key_tokens, context_tokens: where a key attribute and the context are cut.
        centred: begin with the mean vector of each part's texts taken off, and, where `dim` is less than the
            backbone's, with their principal axes.
        prior: part to how much it weighs before anything is learned; 1 where it isn't named.
        views: how a trial becomes two. `dropout`: the whole trial, and one in which each part is dropped by
            the chance `dropout`. `complementary`: no part is in both; title and context are in one, the
            condition in the other, so that a trial is known by its disease and a disease by its trials.
        dropout: of a part, for `dropout`.
        hard_negatives: whether each trial is told apart from itself with the title of another one of the same
            disease.
        spare_same_disease: whether trials of the same disease are no negatives of each other.
        local_weight: of the loss over texts with replaced entities; 0: it is left out.
        local_variants: how many replacements are drawn for a text in all.
        temperature, local_temperature: what cosines are divided by.
        dev_every: steps between two looks at the dev score.
        patience: looks without a better score before the training ends.
        mlm_epochs: of masked-language-model training before; 0: none.
        mlm_batch, mlm_learning_rate, mlm_tokens: of that: windows, the highest rate, tokens of a window.
        seed: of everything that is drawn.
    """

    steps: int = 20_000
    warmup_steps: int = 0
    batch: int = 50
    learning_rate: float = 2e-5
    weight_decay: float = 1e-4
    trained_layers: int | None = None
    dim: int | None = None
    form: Form = PAPER
    key_tokens: int = 64
    context_tokens: int = 256
    centred: bool = False
    prior: Mapping[str, float] = field(default_factory=dict)
    views: Literal["dropout", "complementary"] = "dropout"
    dropout: float = 0.3
    hard_negatives: bool = True
    spare_same_disease: bool = False
    local_weight: float = 1.0
    local_variants: int = 8
    temperature: float = 1.0
    local_temperature: float = 1.0
    dev_every: int = 500
    patience: int = 5
    mlm_epochs: int = 5
    mlm_batch: int = 100
    mlm_learning_rate: float = 5e-5
    mlm_tokens: int = 256
    seed: int = 0

    def __post_init__(self) -> None:
        require_least(self, _LEAST)
        if self.dropout >= 1:
            raise TrainingInvalid(f"dropout={self.dropout}: nothing would be left, expected less than 1")
        require_reached(self.warmup_steps, self.steps)
        if self.views not in ("dropout", "complementary"):
            raise TrainingInvalid(f"views={self.views!r}: expected 'dropout' or 'complementary'")
        wrong = {part: weight for part, weight in self.prior.items() if not weight > 0}
        if wrong:
            raise TrainingInvalid(f"prior={wrong}: a weight is above 0")

    @property
    def frozen(self) -> bool:
        """Whether the backbone stays as it is, so that a part's vector can be kept."""
        return self.trained_layers == 0

    def as_dict(self) -> dict[str, Any]:
        """The recipe as JSON."""
        return asdict(self)


_LEAST: dict[str, float] = {
    "steps": 1,
    "warmup_steps": 0,
    "batch": 2,
    "learning_rate": 0,
    "weight_decay": 0,
    "trained_layers": 0,
    "dim": 1,
    "key_tokens": 3,
    "context_tokens": 3,
    "dropout": 0,
    "local_weight": 0,
    "local_variants": 1,
    "temperature": 1e-3,
    "local_temperature": 1e-3,
    "dev_every": 1,
    "patience": 1,
    "mlm_epochs": 0,
    "mlm_batch": 1,
    "mlm_learning_rate": 0,
    "mlm_tokens": 8,
    "seed": 0,
}

SMALL = Recipe(
    steps=150,
    warmup_steps=30,
    batch=96,
    learning_rate=1e-3,
    weight_decay=1e-2,
    trained_layers=0,
    form=Form(prior=False),
    context_tokens=128,
    centred=True,
    prior={"condition": 3.0, "intervention": 0.5, "outcome": 0.3, "context": 0.5},
    views="complementary",
    spare_same_disease=True,
    local_weight=0.1,
    local_variants=1,
    temperature=0.1,
    local_temperature=0.05,
    dev_every=25,
    patience=3,
    mlm_epochs=0,
)
"""For two cores and some thousand trials, from bge-small: most of the time goes into encoding parts once.

Its views, its negatives and the parts' weights aren't the paper's. By the losses as printed, on a backbone
that is made for sentences already, the two views of a trial hold the same title and are told apart at once,
and search gets worse. The parts' weights were found on the dev trials, and stay as they are.
"""
