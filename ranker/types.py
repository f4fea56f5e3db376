"""What the parts of the ranker hand to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.types import Vectors
from trifuse.ranker.clicks.evidence import ClickEvidence
from trifuse.ranker.clicks.settings import ClickSettings

Clause = dict[str, Any]
"""One query of OpenSearch's DSL: `{"term": {"status": "COMPLETED"}}`."""

Floats = NDArray[np.float64]
Ranks = NDArray[np.int64]

State = Literal["ok", "empty", "off", "skipped", "failed"]
"""A leg ran and found something; ran and found nothing; isn't there to run; had nothing to run on; broke."""

Candidates = Literal["filters", "lexical"]
"""What an exact dense leg scores: what the filters match, or the best of the lexical leg's matches."""

LEGS = ("lexical", "dense", "clicks")


class Key(NamedTuple):
    """A document: two indices, or two routings in one, may hold the same `_id`. Orders equal scores."""

    id: str
    index_name: str
    routing: str = ""


@dataclass(frozen=True)
class LegReport:
    """How a leg fared.

    Args:
        state: see `State`.
        reason: why the state isn't `ok`, or what was missing where it is.
        took_ms: encoding, click lookup and search together.
        hits: documents that the leg brought.
    """

    state: State
    reason: str | None = None
    took_ms: int = 0
    hits: int = 0


class ClickLookup(Protocol):
    """Where click evidence comes from (`ClickStore`): never raises, keeps to its budget."""

    def lookup(
        self,
        index: str,
        text: str,
        vector: Vectors | None = None,
        *,
        space: EncoderSpace | None = None,
        budget_s: float = 0.3,
        settings: ClickSettings = ...,
        leave_one_out: bool = False,
    ) -> ClickEvidence:
        """The evidence for a query: `vector` is (dim,) float32 in that space, or None without an encoder."""


@runtime_checkable
class JointLookup(Protocol):
    """A `ClickLookup` whose search in OpenSearch may go along with others (`ClickStore`)."""

    def similar_search(
        self,
        index: str,
        vector: Vectors | None,
        *,
        space: EncoderSpace | None,
        budget_s: float,
        settings: ClickSettings,
        leave_one_out: bool,
    ) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
        """Header and body for `_msearch`; None where nothing is to be searched."""

    def lookup(
        self,
        index: str,
        text: str,
        vector: Vectors | None = None,
        *,
        space: EncoderSpace | None = None,
        budget_s: float = 0.3,
        settings: ClickSettings = ...,
        leave_one_out: bool = False,
        similar: Mapping[str, Any] | None = None,
    ) -> ClickEvidence:
        """The evidence for a query; `similar` is the answer to that search."""
