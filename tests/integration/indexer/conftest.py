"""Trials and a space for the tests of loading: nothing is encoded."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.indexer.hints import Hint
from trifuse.indexer.readers import Record
from trifuse.indexer.trial import TRIAL_TEMPLATE, Trial

Made = Callable[..., Record]


@pytest.fixture
def space() -> Space:
    """A space of 4 dimensions."""
    return Space(EncoderSpace("tiny", "r1", "fp32", "cls", 4, True, "cosine"), TRIAL_TEMPLATE)


@pytest.fixture
def record() -> Made:
    """Makes a record: `record(3, brief_title="x")` is the trial T0003, from line 3 of a file."""

    def make(number: int, **fields: object) -> Record:
        values = {"brief_title": f"Trial number {number}", **fields}
        return Record(Trial(nct_id=f"T{number:04}", **values), "trials.ndjson", number)  # type: ignore[arg-type]

    return make


class Hints:
    """Stands in for the broker: remembers what was queued."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, str]] = []
        self.ids: list[str] = []

    def __call__(self, index: str, field: str, space: Space, ids: Sequence[Hint]) -> None:
        self.calls.append((index, field, space.id))
        self.ids += [document for document, _ in ids]


@pytest.fixture
def hints() -> Hints:
    """A broker that remembers."""
    return Hints()
