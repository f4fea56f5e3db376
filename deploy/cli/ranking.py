"""What the commands that rank have in common: how a body and a profile are given."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from trifuse.deploy.cli.common import err, fail
from trifuse.deploy.config import opensearch_client, require_opensearch, resolve
from trifuse.deploy.errors import NotConfigured
from trifuse.encoder.errors import AspectUnknown
from trifuse.ranker import BodyError, Profile
from trifuse.ranker.body_template import PLACE, fill_template
from trifuse.ranker.errors import MeasureUnknown, ProfileError, SearchUnavailable
from trifuse.ranker.profiles.published import published
from trifuse.ranker.profiles.store import PROFILES_INDEX, ProfileStore
from trifuse.ranker.profiles.versions import Reference
from trifuse.ranker.server import asking

BodyOption = Annotated[
    str | None,
    typer.Option(
        "--body",
        help="Your own search body: JSON, or a file of it; {{text}} stands for the text. Else the profile's.",
    ),
]


@contextmanager
def usage() -> Iterator[None]:
    """What was asked for wrongly ends the command with status 2."""
    try:
        yield
    except (AspectUnknown, BodyError, MeasureUnknown, ProfileError) as error:
        fail(str(error), status=2)


def json_object(given: str | None, option: str) -> dict[str, Any] | None:
    """An object from JSON, or from a file that holds it."""
    if given is None:
        return None
    try:
        content = given if given.lstrip().startswith("{") else Path(given).read_text("utf-8")
        value = json.loads(content)
    except (OSError, ValueError, RecursionError) as error:
        fail(f"{option} {given!r} is neither a JSON object nor a file of one: {error}", status=2)
    if not isinstance(value, dict):
        fail(f"{option} {given!r} holds {type(value).__name__}: give a JSON object", status=2)
    return value


def check_template(body: Mapping[str, Any] | None, option: str) -> None:
    """Say so where a body's query is the same whatever the text: nearly always its place was forgotten.

    Raises:
        BodyError: the text's place stands where it can't.
    """
    filled = fill_template(body or {}, "")
    if body and "query" in body and filled["query"] == body["query"]:
        warning = f"trifuse: the query of {option} has no {PLACE}: it is the same for every text"
        err.print(warning, style="yellow", markup=False, soft_wrap=True)


def read_profile(given: str | None, *, opensearch: str | None = None) -> Profile:
    """A profile by its name, from weights, or from JSON or a file of it; the default where nothing is given.

    Args:
        opensearch: URL of the cluster that has the stored ones, where it isn't the one that is configured.

    Raises:
        ProfileError: it is none of these, or its settings are out of range.
    """
    if given is None:
        return Profile()
    built_in = published()
    if given in built_in:
        return built_in[given]
    if given.lstrip().startswith("{") or _is_file(given):
        return Profile.from_dict(json_object(given, "--profile") or {})
    if "=" in given:
        return Profile.parse(given)
    if is_stored(given):
        return _stored(given, opensearch)
    raise ProfileError(
        f"there is no profile and no file {given!r}: give one of {', '.join(built_in)}, a stored one's name "
        "(trifuse profile list), weights such as lexical=0.5,dense=0.5, or a file of JSON"
    )


def is_stored(given: str) -> bool:
    """Whether it stands for a stored profile, if for any: a built-in one and a file come first."""
    return Reference.parse(given) is not None and given not in published() and not _is_file(given)


@contextmanager
def profile_store(opensearch: str | None) -> Iterator[ProfileStore]:
    """The stored profiles of the cluster by that URL, or else of what is configured.

    Raises:
        NotConfigured: there is no OpenSearch anywhere.
        SearchUnavailable: it doesn't answer.
        NotAnswering: something else does.
    """
    settings = resolve(opensearch=opensearch)
    with closing(opensearch_client(settings)) as client:
        with asking(PROFILES_INDEX):
            require_opensearch(client, settings)
        yield ProfileStore(client)


def pinned_profiles(store: ProfileStore, field: str) -> list[str]:
    """The stored profiles whose current version names this vector field, without those that can't be used.

    Raises:
        SearchUnavailable, SearchRejected: they can't be listed.
    """
    found = []
    for name in store.names():
        try:
            if store.get(name).profile.vector_field == field:
                found.append(name)
        except ProfileError:
            continue
    return found


def _stored(given: str, opensearch: str | None) -> Profile:
    try:
        with profile_store(opensearch) as store:
            return replace(store.get(given).profile, name=given)
    except (NotConfigured, SearchUnavailable) as error:
        fail(
            f"{given!r} is no built-in profile ({', '.join(published())}) and no file, and stored ones can't "
            f"be read: {error}"
        )


def _is_file(given: str) -> bool:
    try:
        return Path(given).is_file()
    except (OSError, ValueError):  # too long for a name, or a character that none has
        return False
