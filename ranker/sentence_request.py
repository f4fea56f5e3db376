"""What a search among sentences asks for, read before any of it is searched. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trifuse.encoder.templates import clean_text
from trifuse.ranker.aspects import Chosen, OfAspect
from trifuse.ranker.body import UserBody, check_filter, check_text, read_body
from trifuse.ranker.body_template import fill_template
from trifuse.ranker.errors import BodyError
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.queries import items
from trifuse.ranker.sentence_filters import of_document, of_sections, with_filters
from trifuse.ranker.sentence_groups import GROUPED_BY
from trifuse.ranker.sentence_place import Place
from trifuse.ranker.types import Clause

HIGHLIGHTED: Mapping[str, Any] = {"highlight": {"fields": {"text": {"number_of_fragments": 0}}}}
"""The body where nobody gives one: a sentence is shown whole, and the query's words in it are marked."""


@dataclass(frozen=True)
class Wanted:
    """What is asked for: the arguments of `SentenceRanker.search`.

    Raises:
        BodyError: they contradict each other.
    """

    text: str
    body: Mapping[str, Any] | None = None
    aspect: str | None = None
    adapter: str | None = None
    document: str | None = None
    routing: str | None = None
    sections: Sequence[str] = ()
    per_document: int | None = None
    filter: Mapping[str, Any] | None = None
    size: int | None = None
    start: int | None = None
    explain: bool | None = None
    profile: Profile | str | None = None

    def __post_init__(self) -> None:
        check_text(self.text)
        if self.aspect is not None and not clean_text(self.text):
            raise BodyError("the text is empty: give a topic or a question to ask an aspect of")
        number = self.per_document
        if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < 1):
            raise BodyError(f"per_document is {number!r}: give a whole number of 1 or more")
        if self.routing is not None and self.document is None:
            raise BodyError(f"routing is {self.routing!r}: it belongs to a document, give its id too")
        _check_name("document", self.document)
        _check_name("routing", self.routing)
        if isinstance(self.sections, str) or not isinstance(self.sections, Sequence):
            raise BodyError(f"sections are {self.sections!r}: give a list of their names")
        for section in self.sections:
            _check_name("a section", section, needed=True)


def _check_name(what: str, value: Any, *, needed: bool = False) -> None:
    """Refuse what no id can be: OpenSearch's own word on it names neither.

    Raises:
        BodyError: it is empty, isn't a string, or holds half a surrogate pair.
    """
    if value is None and not needed:
        return
    usable = isinstance(value, str) and value and not any("\ud800" <= sign <= "\udfff" for sign in value)
    if not usable:
        raise BodyError(f"{what} is {value!r}: give its name as a string of Unicode characters, not empty")


@dataclass(frozen=True)
class SentenceRequest:
    """A search among sentences.

    Args:
        wanted: which of them.
        place: where they stand.
        chosen: the aspect; None where none was asked for.
        profile: what legs weigh.
        body, filter: as `HybridRanker.search` takes them, held to what is wanted.
        user: the body taken apart as it was before that, with the page that is asked for.
    """

    wanted: Wanted
    place: Place
    chosen: Chosen | None
    profile: Profile
    body: Mapping[str, Any]
    filter: Clause | None
    user: UserBody

    @property
    def encoder(self) -> OfAspect | None:
        """Of the aspect; None without one."""
        return None if self.chosen is None else self.chosen.encoder


def read_request(wanted: Wanted, place: Place, chosen: Chosen | None, profile: Profile) -> SentenceRequest:
    """The search that is asked for.

    Raises:
        BodyError: the body or the filter can't be used, or groups sentences by something else.
    """
    given = fill_template(profile.body or HIGHLIGHTED, wanted.text) if wanted.body is None else wanted.body
    user = read_body(given, depth=profile.depth, start=wanted.start, size=wanted.size, explain=wanted.explain)
    if wanted.per_document is not None:
        if user.collapse is not None:
            raise BodyError(
                "sentences are grouped by their document already: leave out the body's 'collapse'"
            )
        given = {**given, "docvalue_fields": [*items(given.get("docvalue_fields")), *GROUPED_BY]}
    check_filter(wanted.filter)
    ours = [*of_sections(wanted.sections), *items(place.filter)]
    if wanted.document is not None:
        ours += of_document(wanted.document, wanted.routing)
    narrowed, held = with_filters(given, wanted.filter, ours)
    return SentenceRequest(wanted, place, chosen, profile, narrowed, held, user)
