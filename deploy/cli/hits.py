"""A response of the ranker as a table for people. Pure: nothing is printed here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from trifuse.deploy.clamped import Clamped

LEGS = ("lexical", "dense", "clicks")
_TITLES = ("brief_title", "title", "name", "headline", "official_title", "text")


def hits_table(response: Mapping[str, Any], *, start: int = 0, explain: bool = False) -> Table:
    """A row a hit: title and id, the fused score, and what each leg gave."""
    table = Table(title=summary(response), title_justify="left", expand=True)
    table.add_column("", justify="right", style="dim", no_wrap=True)
    table.add_column("document", ratio=1)
    table.add_column("score", justify="right", no_wrap=True)
    for leg in LEGS:
        table.add_column(leg, justify="right", no_wrap=True)
    for rank, hit in enumerate(response["hits"]["hits"], start=start + 1):
        cells = (leg_cell(hit["trifuse"]["legs"].get(leg), explain=explain) for leg in LEGS)
        label = Group(
            Clamped(Text(title_of(hit.get("_source") or {}))), Clamped(Text(hit["_id"], "dim"), lines=1)
        )
        table.add_row(str(rank), label, f"{hit['_score']:.4f}", *cells)
    if explain and response["trifuse"].get("execution") != "native":
        table.caption = "#rank and score by that signal alone; then its weight x its score normalised"
    return table


def summary(response: Mapping[str, Any]) -> str:
    """How many hits there are, and how long they took."""
    total = response["hits"].get("total")
    took = f"{response['took']} ms"
    if total is None:
        return took
    return f"{'' if total['relation'] == 'eq' else 'at least '}{total['value']} hits, {took}"


def title_of(source: Mapping[str, Any]) -> str:
    """What to call a document: a field that is usually its title, else its first text."""
    named = (source.get(field) for field in _TITLES)
    texts = (value for value in [*named, *source.values()] if isinstance(value, str) and value.strip())
    return " ".join(next(texts, "").split())


def profile_lines(response: Mapping[str, Any]) -> list[Text]:
    """Where legs were fused if not here, which version of a stored profile ranked, and by which of its rules.

    Where it was asked to explain, also what the rules go by.
    """
    told = response["trifuse"]
    lines = []
    if told.get("note"):
        lines.append(Text(told["note"], style="dim"))
    if told.get("profile_version") is not None:
        lines.append(Text(f"profile  {told['profile']}, version {told['profile_version']}"))
    if told.get("profile_note"):
        lines.append(Text(f"profile  {told['profile_note']}", style="yellow"))
    if told.get("rule") is not None:
        lines.append(Text(f"rule     {told['rule']}"))
    if features := told.get("features"):
        known = (f"{name} {_plain(value)}" for name, value in features.items() if value is not None)
        lines.append(Text(f"rules go by {', '.join(known)}", style="dim"))
    return lines


def _plain(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def leg_lines(response: Mapping[str, Any]) -> list[Text]:
    """A line a leg: how it fared, and why where it isn't plain."""
    lines = []
    for leg, report in response["trifuse"]["legs"].items():
        style = {"ok": "green", "failed": "red"}.get(report["state"], "yellow")
        reason = f": {report['reason']}" if report["reason"] else ""
        hits = "" if report["hits"] is None else f"{report['hits']} hits, "
        counted = f"  {hits}{report['took_ms']} ms" if report["state"] == "ok" else ""
        if report.get("exact"):
            of = (
                "all that the filters match" if report["candidates"] == "filters" else "lexical matches alone"
            )
            counted += f"  exact, of {of}"
        lines.append(Text.assemble(f"{leg:8} ", (report["state"], style), counted, reason))
    return lines


def query_lines(response: Mapping[str, Any]) -> list[Text]:
    """How frequent the query is in the click log, where that was read."""
    query = response["trifuse"]["query"]
    if query["frequency"] is None:
        return []
    return [
        Text(
            f"the click log has {query['frequency']} clicks for this query ({query['segment']})", style="dim"
        )
    ]


def past_query_lines(response: Mapping[str, Any]) -> list[Text]:
    """The past queries that the clicks came from, where they were asked for (`explain`)."""
    queries = response["trifuse"]["legs"]["clicks"].get("queries")
    if not queries:
        return []
    listed = ", ".join(f"{query['text']!r} {query['similarity']:.2f}" for query in queries)
    return [Text(f"past queries (similarity): {listed}", style="dim")]


def filter_lines(response: Mapping[str, Any]) -> list[Text]:
    """What the legs beside the lexical one were held to, where anything was required."""
    filters = response["trifuse"]["filter"]
    lines = [
        Text(f"filter   {name}: {json.dumps(filters[name], ensure_ascii=False)}", style="dim")
        for name in ("given", "alias", "post_filter", "lifted")
        if filters[name]
    ]
    if filters["not_lifted"]:
        bounded = "; other legs re-score lexical matches only" if filters["rescored_only"] else ""
        lines.append(
            Text(f"filter   not lifted: {', '.join(filters['not_lifted'])}{bounded}", style="yellow")
        )
    return lines


def leg_cell(value: Mapping[str, Any] | None, *, explain: bool) -> Text:
    """What a leg gave a hit; a dash, where it didn't bring it."""
    if value is None:
        return Text("-", style="dim")
    if value["rank"] is None:  # the server fused, and tells the score alone
        return Text(f"{value['score']:.4g}")
    shown = f"#{value['rank']}  {value['score']:.4g}"
    if explain:
        shown += f"\n{value['weight']:.2f} x {value['normalized']:.3f}"
    return Text(shown)
