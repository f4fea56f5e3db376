"""Why a query moved: its first documents by two rankings, their grades, and what each leg gave. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from trifuse.ranker.evaluation.comparison import Moved
from trifuse.ranker.evaluation.report import Evaluation
from trifuse.ranker.evaluation.run_files import Run

Legs = Mapping[str, Mapping[str, Any] | None]
"""Leg to the rank, score, weight and normalized score that it gave a document, as responses have them."""


@dataclass(frozen=True)
class Placed:
    """A document in one ranking.

    Args:
        rank: from 1.
        legs: None where the ranking was read from a file.
    """

    rank: int
    legs: Legs | None = None


@dataclass(frozen=True)
class Explained:
    """A document that is among the first by either ranking.

    Args:
        grade: None where nobody judged it.
        placed, against: None where that ranking doesn't have it.
    """

    document: str
    grade: int | None
    placed: Placed | None
    against: Placed | None


@dataclass(frozen=True)
class Explanation:
    """A query that moved, and the documents that it moved by."""

    query: str
    text: str
    measure: str
    profile: str
    against: str
    value: float
    against_value: float
    documents: tuple[Explained, ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def moved_queries(evaluation: Evaluation) -> dict[str, list[str]]:
    """Profile to the queries that moved most by it or from it, in the first measure."""
    found: dict[str, dict[str, None]] = {profile: {} for profile in evaluation.values}
    for profile, against, _, moved in _moved(evaluation):
        found[profile][moved.query] = None
        found[against][moved.query] = None
    return {profile: list(queries) for profile, queries in found.items()}


def explanations(
    evaluation: Evaluation,
    runs: Mapping[str, Run],
    legs: Mapping[str, Mapping[str, Mapping[str, Legs]]],
    qrels: Mapping[str, Mapping[str, int]],
    first: int,
) -> Iterator[Explanation]:
    """Those queries that gain most and lose most in the first measure, by each comparison.

    Args:
        legs: profile to query to document to what each leg gave it; a run from a file isn't there.
        first: so many first documents of either ranking.
    """
    for profile, against, measure, moved in _moved(evaluation):
        query = moved.query
        sides = [
            _placed(runs[name].get(query, ()), legs.get(name, {}).get(query)) for name in (profile, against)
        ]
        documents = dict.fromkeys(document for side in sides for document in list(side)[:first])
        yield Explanation(
            query,
            evaluation.texts.get(query, ""),
            measure,
            profile,
            against,
            moved.value,
            moved.against,
            tuple(
                Explained(
                    document, qrels[query].get(document), sides[0].get(document), sides[1].get(document)
                )
                for document in documents
            ),
        )


def _placed(documents: Sequence[str], legs: Mapping[str, Legs] | None) -> dict[str, Placed]:
    return {
        document: Placed(rank, legs.get(document) if legs is not None else None)
        for rank, document in enumerate(documents, start=1)
    }


def _moved(evaluation: Evaluation) -> Iterator[tuple[str, str, str, Moved]]:
    """Profile, the other one, measure, and a query that moved."""
    for profile, compared in evaluation.tests.items():
        measure, found = next(iter(compared.items()))
        for moved in (*found.gained, *reversed(found.lost)):
            yield profile, found.against, measure, moved
