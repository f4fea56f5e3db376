"""What `trifuse aspect evaluate` shows: a table, or JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from trifuse.ranker.evaluation.aspects import AspectEvaluation, AspectScores, Share

_SHARES = ("top1", "specific", "switching", "possible")


def evaluation_json(found: AspectEvaluation) -> dict[str, Any]:
    """The shares in percent (null where there is nothing to be a share of), and intervals beside them."""
    return {
        **_scores_json(found.scores),
        "documents": found.documents,
        "pair_documents": found.pair_documents,
        "per_aspect": {aspect: _scores_json(scores) for aspect, scores in found.per_aspect.items()},
    }


def asked_line(found: AspectEvaluation, said: str) -> str:
    """What was asked of how many documents, and by what, in one line."""
    scores = found.scores
    return (
        f"{said}: {found.documents:,} documents, {scores.top1.of:,} requests ({_percent(scores.possible)} % "
        f"have a sentence of that aspect alone), {scores.switching.of:,} pairs of {found.pair_documents:,} "
        "documents"
    )


def evaluation_table(methods: Mapping[str, AspectEvaluation]) -> Table:
    """A row a method, with intervals; below it what it has of each aspect alone."""
    table = Table(
        caption="percent; 95 % intervals over documents\nin dimmed rows each aspect, and its pairs",
        caption_justify="left",
    )
    table.add_column("", no_wrap=True)
    table.add_column("Top-1", justify="right")
    table.add_column("Aspect-Specific\nTop-1", justify="right")
    table.add_column("Two-Aspect\nSwitching", justify="right")
    for name, found in methods.items():
        shares = (found.scores.top1, found.scores.specific, found.scores.switching)
        table.add_row(Text(name, "bold"), *map(_with_interval, shares))
        for aspect, scores in found.per_aspect.items():
            of_aspect = (scores.top1, scores.specific, scores.switching)
            table.add_row(f"  {aspect}", *map(_percent, of_aspect), style="dim")
    return table


def _scores_json(scores: AspectScores) -> dict[str, Any]:
    shares: dict[str, Share] = {name: getattr(scores, name) for name in _SHARES}
    return {
        **{name: share.percent for name, share in shares.items()},
        "pairs": scores.switching.of,
        "ci95": {name: share.ci95 for name, share in shares.items()},
    }


def _percent(share: Share) -> str:
    return "-" if share.percent is None else f"{share.percent:.1f}"


def _with_interval(share: Share) -> str:
    interval = "" if share.ci95 is None else f"\n{share.ci95[0]:.1f}-{share.ci95[1]:.1f}"
    return _percent(share) + interval
