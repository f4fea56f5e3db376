"""`trifuse search`: one query, ranked by three signals, each hit saying what each signal gave it."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated, Any

import typer

from trifuse.deploy.cli.common import (
    EncoderOption,
    JsonOption,
    OpenSearchOption,
    RedisOption,
    emit,
    err,
    fail,
    out,
)
from trifuse.deploy.cli.hits import (
    filter_lines,
    hits_table,
    leg_lines,
    past_query_lines,
    profile_lines,
    query_lines,
    summary,
)
from trifuse.deploy.cli.query_encoder import query_encoder
from trifuse.deploy.cli.ranking import BodyOption, is_stored, json_object, read_profile, usage
from trifuse.deploy.cli.search_sentences import (
    AdapterOption,
    AspectOption,
    DocumentOption,
    PerDocumentOption,
    RoutingOption,
    SectionOption,
    SentencesOption,
    adapters,
    wanted,
)
from trifuse.deploy.cli.sentence_hits import aspect_lines, sentences_table
from trifuse.deploy.cli.unmapped import hint_unmapped
from trifuse.deploy.config import Settings, opensearch_client, redis_client, require_opensearch, resolve
from trifuse.encoder.errors import EncoderError, ModelNotFound
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.types import Encoder
from trifuse.ranker import ClickStore, HybridRanker, Profile
from trifuse.ranker.body_template import fill_template
from trifuse.ranker.encoders import BySpace
from trifuse.ranker.sentences import SentenceRanker

_WEIGHTS = ",".join(f"{leg}={weight:g}" for leg, weight in Profile().weights.items())

IndexArgument = Annotated[str, typer.Argument(metavar="INDEX", help="An index, an alias, or a pattern.")]
TextArgument = Annotated[str, typer.Argument(metavar="TEXT", help="What to search for, in quotes.")]
SizeOption = Annotated[int | None, typer.Option("--size", min=0, help="Hits to show; the body's, else 10.")]
FromOption = Annotated[int | None, typer.Option("--from", min=0, help="Hits to leave out before them.")]
ProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile",
        help=f"A name (trifuse profile list), NAME@VERSION, weights, or a JSON file. Without it: {_WEIGHTS}.",
    ),
]
FilterOption = Annotated[
    str | None, typer.Option("--filter", help="A query that every hit must match: JSON, or a file of it.")
]
ExplainOption = Annotated[bool, typer.Option("--explain", help="Show how each score came about.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("search")(search_command)


def search_command(
    index: IndexArgument,
    text: TextArgument,
    size: SizeOption = None,
    start: FromOption = None,
    profile: ProfileOption = None,
    filter: FilterOption = None,
    body: BodyOption = None,
    explain: ExplainOption = False,
    sentences: SentencesOption = False,
    aspect: AspectOption = None,
    adapter: AdapterOption = None,
    document: DocumentOption = None,
    routing: RoutingOption = None,
    section: SectionOption = None,
    per_document: PerDocumentOption = None,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
    encoder: EncoderOption = None,
) -> None:
    """Search an index by BM25, dense vectors and clicks, fused.

    Example: [bold]trifuse search trials "stroke in adults" --filter '{"term": {"sex": "ALL"}}'[/bold], or
    [bold]trifuse search trials "aspirin after stroke" --aspect outcome --document NCT01234567[/bold]
    """
    asked = wanted(
        sentences=sentences,
        aspect=aspect,
        adapter=adapter,
        document=document,
        routing=routing,
        sections=section,
        per_document=per_document,
    )
    text = text.encode("utf-8", "replace").decode()  # an argument that is no text holds lone surrogates
    with usage():
        template = json_object(body, "--body")
        chosen = read_profile(profile, opensearch=opensearch)
        given = json_object(filter, "--filter")
        filled = None if template is None else fill_template(template, text)
    settings = resolve(opensearch=opensearch, redis=redis, encoder=encoder)
    client = require_opensearch(opensearch_client(settings), settings)
    try:
        clicks = ClickStore(redis_client(settings), client) if settings.redis_url else None
        model = _encoder(settings, chosen)
        # By its name, so that the response tells the version.
        served = profile if profile is not None and is_stored(profile) else chosen
        common: dict[str, Any] = {
            "text": text,
            "filter": given,
            "size": size,
            "from_": start,
            "explain": explain or None,
        }
        with usage(), closing(HybridRanker(client, model, clicks, served)) as ranker:
            if asked is None:
                response = ranker.search(index, filled, **common)
            else:
                beside = SentenceRanker(ranker, adapters(adapter))
                by = None if profile is None else served
                response = beside.search(index, filled, profile=by, **asked.as_dict(), **common)
        among = response["trifuse"].get("sentences")
        hint_unmapped(client, among["index"] if among else index, given, sentences=among is not None)
    finally:
        client.close()
    if as_json:
        emit(response)
    else:
        shown = template or chosen.body or {}
        _show(response, start=start or shown.get("from", 0), explain=explain)
    dense = response["trifuse"]["legs"]["dense"]
    named = chosen.vector_field
    if named is not None and dense["state"] == "off" and repr(named) in dense["reason"]:
        fail(f"ranked without vectors: {dense['reason']}")
    by_aspect = (response["trifuse"].get("aspect") or {}).get("name")
    if by_aspect is not None and dense["state"] not in ("ok", "empty"):
        fail(f"no aspect was asked for, since vectors tell it: {dense['reason']}")


def _encoder(settings: Settings, profile: Profile) -> Encoder | BySpace | None:
    """The encoder, where a leg needs one; without it the rest still answers, unless it was named."""
    if profile.weights["dense"] == 0 and profile.weights["clicks"] == 0:
        return None
    found = query_encoder(settings)
    if not callable(found):
        return found
    by_space = found

    def load(space: EncoderSpace) -> Encoder | None:
        try:
            return by_space(space)
        except ModelNotFound:
            raise
        except EncoderError as error:
            err.print(f"trifuse: searching without vectors: {error}", style="yellow", markup=False)
            return None

    return load


def _show(response: dict[str, Any], *, start: int, explain: bool) -> None:
    among = "sentences" in response["trifuse"]
    if response["hits"]["hits"]:
        table = sentences_table if among else hits_table
        out.print(table(response, start=start, explain=explain))
    else:
        out.print(summary(response))
    for line in [
        *(aspect_lines(response) if among else ()),
        *profile_lines(response),
        *leg_lines(response),
    ]:
        out.print(line)
    if explain:
        for line in [*query_lines(response), *past_query_lines(response), *filter_lines(response)]:
            out.print(line)
