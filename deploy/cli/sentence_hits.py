"""A response of sentences as a table for people. Pure: nothing is printed here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from trifuse.deploy.clamped import Clamped
from trifuse.deploy.cli.hits import LEGS, leg_cell, summary
from trifuse.ranker.sentence_groups import INNER

_LINES = 4


def sentences_table(response: Mapping[str, Any], *, start: int = 0, explain: bool = False) -> Table:
    """A row a sentence: its text and place, the score, and what each leg gave; by document where grouped."""
    table = Table(title=_title(response), title_justify="left", expand=True)
    table.add_column("", justify="right", style="dim", no_wrap=True)
    table.add_column("sentence", ratio=1)
    table.add_column("score", justify="right", no_wrap=True)
    legs = [leg for leg in LEGS if response["trifuse"]["legs"][leg]["state"] != "off"]
    by_aspect = any("aspect" in hit["trifuse"] for hit in response["hits"]["hits"])
    for column in ["aspect", *legs] if by_aspect else legs:
        table.add_column(column, justify="right", no_wrap=True)
    for rank, hits in enumerate(_grouped(response), start=start + 1):
        for number, hit in enumerate(hits):
            told = hit["trifuse"]
            cells = [leg_cell(told["legs"].get(leg), explain=explain) for leg in legs]
            if by_aspect:
                cells = [Text(f"{told['aspect']['score']:.4f}"), *cells]
            table.add_row("" if number else str(rank), _label(hit), f"{hit['_score']:.4f}", *cells)
        if len(hits) > 1:
            table.add_section()
    if by_aspect:
        table.caption = "score: topic + aspect; legs: how the document's best sentence fits the topic"
    return table


def aspect_lines(response: Mapping[str, Any]) -> list[Text]:
    """What was asked for, and why; and which indices have no sentences."""
    told = response["trifuse"]
    lines = []
    if (asked := told.get("aspect")) is not None:
        words = f", by the words {asked['words']!r}" if asked["words"] else ""
        adapter = f" (adapter {asked['adapter']})" if asked["adapter"] else ""
        reason = f": {asked['reason']}" if asked["reason"] else ""
        lines.append(Text(f"asked for: {asked['name'] or 'no aspect'}{words}{adapter}{reason}"))
    if lacking := told["sentences"]["lacking"]:
        lines.append(Text(f"no sentences of {', '.join(lacking)}", style="yellow"))
    return lines


def _title(response: Mapping[str, Any]) -> str:
    total = response["hits"].get("total")
    grouped = any("inner_hits" in hit for hit in response["hits"]["hits"])
    counted = summary(response)
    return counted.replace(" hits,", " documents," if grouped else " sentences,") if total else counted


def _grouped(response: Mapping[str, Any]) -> Iterator[list[Mapping[str, Any]]]:
    for hit in response["hits"]["hits"]:
        inner = (hit.get("inner_hits") or {}).get(INNER)
        yield inner["hits"]["hits"] if inner else [hit]


def _label(hit: Mapping[str, Any]) -> Group:
    source = hit.get("_source") or {}
    place = [str(source[name]) for name in ("parent_id", "section") if name in source]
    if "start" in source and "end" in source:
        place.append(f"{source['start']}-{source['end']}")
    return Group(Clamped(_marked(hit), lines=_LINES), Clamped(Text("  ".join(place), "dim"), lines=1))


def _marked(hit: Mapping[str, Any]) -> Text:
    """The sentence, with the query's words in bold where the hit has them marked."""
    found = (hit.get("highlight") or {}).get("text")
    if not found:
        return Text(" ".join(str((hit.get("_source") or {}).get("text", hit["_id"])).split()))
    text = Text()
    for part in " ".join(" ".join(found).split()).split("<em>"):
        inside, closed, after = part.partition("</em>")
        text.append(inside, "bold" if closed else None)
        text.append(after)
    return text
