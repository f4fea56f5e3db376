"""The studies as tables for people. Pure: nothing is printed here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table
from rich.text import Text

from trifuse.deploy.cli.study_memory import LogMemory
from trifuse.ranker.evaluation.cost import Timed
from trifuse.ranker.evaluation.features import FEATURES
from trifuse.ranker.evaluation.gains import GainStudy
from trifuse.ranker.evaluation.log_size import ALL, SizePoint, share_name
from trifuse.ranker.evaluation.printing import as_typed, p_value
from trifuse.ranker.evaluation.regression import Coefficient
from trifuse.ranker.evaluation.segment_gains import SegmentGains

KINDS = {
    "q": "what was clicked",
    "docs": "ids of documents",
    "queries": "frequencies",
    "few": "queries not public yet",
    "seen": "marks of 8 days",
    "visits": "visits of 8 days",
}
"""Kinds of Redis keys, in words."""


def segments_table(gains: SegmentGains, profile: str, against: str) -> Table:
    """A section a segment, and in it a row a measure."""
    table = _table(f"What the click log adds: {profile} against {against}", "measure")
    _numbers(table, "without", "with", "added", "95 %", "gain", "p")
    table.caption = (
        "n: queries; p of the paired randomisation test, two-sided, in segments adjusted (Holm) for their "
        "number"
    )
    for segment, measures in gains.items():
        queries = next(iter(measures.values())).queries
        table.add_row(Text(segment, "bold"), f"n={queries}")
        for measure, found in measures.items():
            table.add_row(
                measure,
                f"{found.against:.3f}",
                f"{found.value:.3f}",
                f"{found.difference:+.3f}",
                _interval(found.difference_ci95, sign="+"),
                "" if found.relative is None else f"{100 * found.relative:+.0f} %",
                p_value(found.p),
            )
        table.add_section()
    return table


def log_size_table(lines: Mapping[str, Sequence[SizePoint]], measure: str, profile: str) -> Table:
    """A row a share of the log, and a column a segment."""
    table = _table(f"{measure} of {profile} by the share of the click log that is used", "log")
    others = [name for name in lines if name != ALL]
    _numbers(table, ALL, "95 %", "added", *others)
    counts = ", ".join(f"{name} {line[0].queries}" for name, line in lines.items())
    table.caption = f"added: to all queries, by so much of the log; queries: {counts}"
    for at, point in enumerate(lines[ALL]):
        table.add_row(
            share_name(point.share) if point.share else "none",
            f"{point.mean:.3f}",
            _interval(point.ci95),
            f"{point.difference:+.3f}" if point.share else "",
            *(f"{lines[name][at].mean:.3f}" for name in others),
        )
    return table


def gains_table(study: GainStudy, measure: str) -> Table:
    """A row a feature: what goes with it."""
    fit = study.regression
    table = _table(
        f"Which queries gain from the click log: change in {measure} from the least to the most of a feature",
        "feature",
    )
    _numbers(table, "change", "95 %", "least", "mean", "most")
    table.caption = (
        f"{fit.observations} queries, mean gain {fit.mean:+.4f}; R² {fit.r2:.3f}, adjusted "
        f"{fit.adjusted_r2:.3f}; intervals of {fit.resamples} bootstrap resamples of the queries"
    )
    for name, found in fit.coefficients.items():
        change = ("-", "") if found.constant else (f"{found.value:+.4f}", _interval(found.ci95, sign="+"))
        table.add_row(Text(name), *change, *_range(found))
    return table


def gains_notes(study: GainStudy) -> Iterator[str]:
    """What must be known to read the table of gains."""
    fit = study.regression
    yield from (f"{name}: {what}" for name, what in FEATURES.items())
    yield (
        "features are scaled from their least to their most; the fit has an intercept, and of equal fits the "
        "one with the smallest changes is shown"
    )
    for group in fit.collinear:
        yield f"{', '.join(group)} determine each other: each says how it differs from their average"
    if fit.constant:
        yield f"{', '.join(fit.constant)}: the same for all queries, so nothing can be said of it"
    if study.left_out:
        yield f"{study.left_out} queries without similar past queries were left out"


def cost_table(times: Mapping[str, Timed], profile: str, against: str) -> Table:
    """A row a statistic of the time of a search."""
    table = _table(f"Time of a search, ms: {profile} against {against}", "")
    _numbers(table, "without", "with", "added", "95 %", "ratio", "95 %")
    table.caption = "added: of the paired differences; intervals of bootstrap resamples of the queries"
    for name, found in times.items():
        table.add_row(
            name,
            f"{found.without_ms:.1f}",
            f"{found.with_ms:.1f}",
            f"{found.added_ms:+.1f}",
            _interval(found.added_ci95, digits=1, sign="+"),
            f"{found.ratio:.2f}",
            _interval(found.ratio_ci95, digits=2),
        )
    return table


def _table(title: str, first: str) -> Table:
    table = Table(title=as_typed(title), title_justify="left", caption_justify="left")
    table.add_column(first, no_wrap=True)
    return table


def _numbers(table: Table, *columns: str) -> None:
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)


def _interval(ends: tuple[float, float], *, digits: int = 3, sign: str = "") -> str:
    separator = " to " if sign else "-"
    return separator.join(f"{end:{sign}.{digits}f}" for end in ends)


def _range(found: Coefficient) -> tuple[str, str, str]:
    return f"{found.low:.3g}", f"{found.mean:.3g}", f"{found.high:.3g}"


def memory_table(memory: LogMemory) -> Table:
    """A row a store and a kind of key or an index."""
    table = _table(
        f"What the click log takes: {memory.past_queries:,} past queries, {memory.pairs:,} clicked documents",
        "",
    )
    _numbers(table, "MB", "bytes a pair", "bytes a past query")
    rows = [("Redis", memory.totals["redis"])]
    rows += [(f"  {KINDS.get(kind, kind)}", size) for kind, size in memory.redis.items()]
    rows += [("OpenSearch", memory.totals["opensearch"])]
    rows += [(f"  {name}", size) for name, size in memory.opensearch.items()]
    for name, size in rows:
        per = (f"{size / count:.1f}" if count else "" for count in (memory.pairs, memory.past_queries))
        table.add_row(name, f"{size / 1e6:.2f}", *per)
    return table
