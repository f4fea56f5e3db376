"""Rankings in files, as TREC writes them: `query Q0 document rank score tag`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from trifuse.ranker.errors import UnreadableInput
from trifuse.ranker.evaluation.lines import fault, read_lines

Run = Mapping[str, Sequence[str]]
"""Query id to document ids, best first."""


def run_lines(runs: Mapping[str, Run]) -> Iterator[str]:
    """Runs as TREC's lines, the profile as the tag.

    The score falls by 1 a rank: tools order a run by score, so they see ties in the order that was served.
    """
    for profile, run in runs.items():
        tag = "_".join(profile.split())
        for query, documents in run.items():
            for rank, document in enumerate(documents, start=1):
                yield f"{query} Q0 {document} {rank} {len(documents) - rank + 1} {tag}\n"


def read_runs(path: str | Path) -> dict[str, dict[str, list[str]]]:
    """The runs of a file, plain or gzip, by their tags, whatever system made them.

    Documents are ordered by score, as trec_eval does; equal scores by rank, then as they stand in the file.

    Raises:
        UnreadableInput: naming the file, the line, and what was expected.
    """
    found: dict[str, dict[str, dict[str, tuple[float, int]]]] = {}
    for number, line in read_lines(path):
        parts = line.split()
        if len(parts) != 6:
            expected = "6: `query Q0 document rank score tag`"
            raise fault(path, number, f"{len(parts)} columns, expected {expected}")
        query, _, document, rank, score, tag = parts
        ranked = found.setdefault(tag, {}).setdefault(query, {})
        if document in ranked:
            raise fault(
                path, number, f"document {document!r} of query {query!r} is in the run {tag!r} before"
            )
        ranked[document] = (-_score(path, number, score), _rank(path, number, rank))
    if not found:
        raise UnreadableInput(f"{path}: there is no run in it")
    return {
        tag: {query: sorted(ranked, key=ranked.__getitem__) for query, ranked in run.items()}
        for tag, run in found.items()
    }


def _score(path: str | Path, number: int, given: str) -> float:
    try:
        score = float(given)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise fault(path, number, f"the score is {given!r}, expected a finite number")
    return score


def _rank(path: str | Path, number: int, given: str) -> int:
    try:
        return int(given)
    except ValueError:
        raise fault(path, number, f"the rank is {given!r}, expected a whole number") from None
