"""`trifuse similar`: documents like one of an index, or like parts of one that needn't exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.table import Table
from rich.text import Text

from trifuse.deploy.clamped import Clamped
from trifuse.deploy.cli.common import EncoderOption, JsonOption, OpenSearchOption, emit, fail, out
from trifuse.deploy.cli.hits import title_of
from trifuse.deploy.cli.query_encoder import query_encoder
from trifuse.deploy.cli.ranking import json_object, usage
from trifuse.deploy.cli.unmapped import hint_unmapped
from trifuse.deploy.config import opensearch_client, require_opensearch, resolve
from trifuse.ranker.similar import similar

IndexArgument = Annotated[str, typer.Argument(metavar="INDEX", help="An index, an alias, or a pattern.")]
DocumentArgument = Annotated[
    str | None, typer.Argument(metavar="ID", help="The id of a document in it; else give parts.")
]
TitleOption = Annotated[list[str] | None, typer.Option("--title", help="The part title.")]
ConditionOption = Annotated[
    list[str] | None, typer.Option("--condition", help="The part condition; may be given several times.")
]
InterventionOption = Annotated[
    list[str] | None, typer.Option("--intervention", help="The part intervention; also several times.")
]
OutcomeOption = Annotated[
    list[str] | None, typer.Option("--outcome", help="The part outcome; also several times.")
]
PartOption = Annotated[
    list[str] | None, typer.Option("--text", metavar="PART=TEXT", help="Any part, such as context=...")
]
ByOption = Annotated[
    str | None,
    typer.Option("--by", metavar="PART", help="Compare by the vectors of this part alone (--part-vectors)."),
]
FilterOption = Annotated[
    str | None, typer.Option("--filter", help="A query that every hit must match: JSON, or a file of it.")
]
SizeOption = Annotated[int, typer.Option("--size", min=1, max=10_000, help="Documents to show.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("similar")(similar_command)


def similar_command(
    index: IndexArgument,
    document: DocumentArgument = None,
    title: TitleOption = None,
    condition: ConditionOption = None,
    intervention: InterventionOption = None,
    outcome: OutcomeOption = None,
    part: PartOption = None,
    by: ByOption = None,
    filter: FilterOption = None,
    size: SizeOption = 10,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    encoder: EncoderOption = None,
) -> None:
    """Find the documents nearest to one of an index, or to parts that you give.

    Example: [bold]trifuse similar trials NCT01234567[/bold], or
    [bold]trifuse similar trials --condition asthma --intervention budesonide[/bold]
    """
    named = {"title": title, "condition": condition, "intervention": intervention, "outcome": outcome}
    parts = given_parts(named, part or ())
    given = json_object(filter, "--filter")
    settings = resolve(opensearch=opensearch, encoder=encoder)
    client = require_opensearch(opensearch_client(settings), settings)
    try:
        with usage():
            response = similar(
                client,
                query_encoder(settings) if parts else None,
                index,
                doc_id=document,
                parts=parts or None,
                by=by,
                filter=given,
                size=size,
            )
        hint_unmapped(client, index, given)
    finally:
        client.close()
    if as_json:
        emit(response)
    else:
        _show(response)
    if failed := response["_shards"].get("failed"):
        fail(f"{failed} of {response['_shards']['total']} shards failed: hits may be missing; try again")


def given_parts(named: Mapping[str, Sequence[str] | None], others: Sequence[str]) -> dict[str, list[str]]:
    """Part to its texts, from options of their own and from PART=TEXT.

    >>> given_parts({"title": None, "condition": ["asthma"]}, ["context=adults", "condition=gout"])
    {'condition': ['asthma', 'gout'], 'context': ['adults']}
    """
    parts = {name: list(texts) for name, texts in named.items() if texts}
    for other in others:
        name, equals, text = other.partition("=")
        if not equals or not name.strip():
            fail(
                f"--text {other!r} is no part: give PART=TEXT, such as context='adults with asthma'", status=2
            )
        parts.setdefault(name.strip(), []).append(text)
    # An argument that is no text holds lone surrogates.
    return {
        name: [text.encode("utf-8", "replace").decode() for text in texts] for name, texts in parts.items()
    }


def _show(response: Mapping[str, Any]) -> None:
    about = response["trifuse"]
    like = about["like"].get("_id") or ", ".join(about["like"]["parts"])
    by = f" by {about['by']}" if about["by"] else ""
    told = f"like {like}{by}: {len(response['hits']['hits'])} documents, {response['took']} ms"
    if response["hits"]["hits"]:
        out.print(similar_table(response, told))
    else:
        out.print(told, markup=False)
    if about["lacking"]:
        lacking = f"no vectors in the field {about['field']!r} of {', '.join(about['lacking'])}"
        out.print(lacking, style="yellow", markup=False)


def similar_table(response: Mapping[str, Any], told: str) -> Table:
    """A row a document: its title and id, and how similar it is."""
    table = Table(title=Text(told), title_justify="left", expand=True)
    table.add_column("", justify="right", style="dim", no_wrap=True)
    table.add_column("document", ratio=1)
    table.add_column("similarity", justify="right", no_wrap=True)
    for rank, hit in enumerate(response["hits"]["hits"], start=1):
        title = Clamped(Text(title_of(hit.get("_source") or {})))
        label = Group(title, Clamped(Text(hit["_id"], "dim"), lines=1))
        table.add_row(str(rank), label, f"{hit['trifuse']['similarity']:.4f}")
    return table
