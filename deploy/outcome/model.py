"""A fitted layer as a file: its weights, the space that they are for, and how well it did."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta

from trifuse.deploy.errors import OutcomeInvalid
from trifuse.deploy.outcome.compare import VECTORS, Comparison
from trifuse.deploy.outcome.labels import Outcomes
from trifuse.deploy.outcome.layer import Layer
from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.spaces import Space

FORMAT = 1
_LARGEST = 1e100
"""No layer on vectors has such a weight, and sums of smaller ones are finite."""

_Names = Annotated[tuple[str, ...], Meta(min_length=1)]


class OutcomeModel(msgspec.Struct, frozen=True, kw_only=True):
    """One fully connected layer on the vectors of one space.

    Args:
        space: the id of the space.
        encoder: the name of the encoder of that space.
        positive, negative: the labels that were told apart.
        weights, bias: of the layer.
        penalty: the inverse strength of its L2 penalty.
        trials: how many it was fitted, tuned and judged on, by part and outcome.
        measures: how it did on the test trials, with 95 % intervals.
    """

    format: int = FORMAT
    space: str
    encoder: str
    positive: _Names
    negative: _Names
    weights: tuple[float, ...]
    bias: float
    penalty: float
    trials: Mapping[str, Mapping[str, int]]
    measures: Mapping[str, Any]

    @property
    def layer(self) -> Layer:
        """The layer that predicts."""
        return Layer(np.array(self.weights, dtype=np.float64), self.bias, self.penalty)

    def require_space(self, space: Space, index: str) -> None:
        """Refuse vectors of another space.

        Raises:
            SpaceMismatch: naming both spaces and the remedy.
            OutcomeInvalid: it hasn't a weight for each number of a vector.
        """
        if space.id != self.space:
            raise SpaceMismatch(
                f"the model of outcomes is for vectors of {self.space!r}, but {index!r} serves vectors of "
                f"{space.id!r}: train on this index (`trifuse outcome train`), or embed it by the encoder "
                f"{self.encoder!r} from the same fields"
            )
        if len(self.weights) != space.encoder.dimension:
            raise OutcomeInvalid(
                f"the model of outcomes has {len(self.weights)} weights, but vectors of {space.id!r} have "
                f"{space.encoder.dimension} numbers: its file was changed; make one with "
                "`trifuse outcome train`"
            )


def model_of(found: Comparison, space: Space, outcomes: Outcomes) -> OutcomeModel:
    """The layer on the vectors of a space, with how it did.

    Raises:
        OutcomeInvalid: the comparison has no layer on vectors.
    """
    judged = found.methods.get(VECTORS)
    if judged is None or judged.layer is None:
        raise OutcomeInvalid(f"the comparison has the methods {', '.join(found.methods)}, but no {VECTORS!r}")
    told = found.as_dict()
    return OutcomeModel(
        space=space.id,
        encoder=space.encoder.encoder,
        positive=outcomes.positive,
        negative=outcomes.negative,
        weights=tuple(judged.layer.weights.tolist()),
        bias=judged.layer.bias,
        penalty=judged.layer.penalty,
        trials=told["trials"],
        measures=told["methods"][VECTORS],
    )


def save_model(model: OutcomeModel, path: Path) -> None:
    """Write the model as JSON."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(model), indent=1) + b"\n")


def load_model(path: Path) -> OutcomeModel:
    """Read a model.

    Raises:
        OutcomeInvalid: the file isn't one.
    """
    try:
        model = msgspec.json.decode(path.read_bytes(), type=OutcomeModel)
    except msgspec.DecodeError as error:
        raise OutcomeInvalid(
            f"{path} isn't a model of outcomes ({error}): make one with `trifuse outcome train`"
        ) from error
    if not all(abs(number) < _LARGEST for number in (*model.weights, model.bias)):
        raise OutcomeInvalid(
            f"{path} has weights that no training gives: its file was changed; make one with "
            "`trifuse outcome train`"
        )
    if model.format != FORMAT:
        raise OutcomeInvalid(
            f"{path} has the format {model.format}, but this version reads {FORMAT}: train it anew"
        )
    return model
