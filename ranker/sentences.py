"""Search among the sentences of an index's documents, by an aspect where one is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from trifuse.encoder.errors import AspectUnknown, SpaceMismatch
from trifuse.encoder.threads import Threads
from trifuse.ranker.aspect_rules import Asked, asked_for
from trifuse.ranker.aspects import Adapters, AspectEncoder, By, BySpace, Chosen, OfAspect
from trifuse.ranker.errors import (
    BodyError,
    DocumentMissing,
    IndexMissing,
    SearchRejected,
    SearchUnavailable,
)
from trifuse.ranker.hybrid import HybridRanker
from trifuse.ranker.moving import TRIES, Doubt
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.sentence_groups import by_document
from trifuse.ranker.sentence_missing import check_document, check_sections, check_vectors
from trifuse.ranker.sentence_place import Place, find_sentences
from trifuse.ranker.sentence_request import SentenceRequest, Wanted, read_request
from trifuse.ranker.sentence_steps import topic_then_aspect
from trifuse.ranker.target import Target

AUTO = "auto"
"""In an aspect's place: the one that the question's wording asks for, if any."""

ASPECT_PROFILE = Profile(name="aspect", weights={"dense": 1.0}, normalization={"dense": "none"})
"""What searches by an aspect go by unless told otherwise: vectors alone, since words don't tell what is asked
of them; a hit's score is its cosine."""

_MOST_AT_ONCE = 32
"""So many aspects' vectors are made at once."""


class SentenceRanker:
    """Ranks sentences; safe to share by threads.

        sentences = SentenceRanker(HybridRanker(client, encoder), load_adapter("pico-bge-small"))
        sentences.search("trials", text="aspirin after stroke", aspect="outcome", document="NCT01234567")

    Nothing of the ranker's own searches changes, and nothing that is stored: adapters encode queries alone.

    Args:
        ranker: ranks them; its encoder is for searches without an aspect.
        adapters: for searches by an aspect; of several each search takes the first that is for the vectors
            of its sentences and knows the aspect. A function loads those of a space, once.
    """

    def __init__(
        self, ranker: HybridRanker, adapters: AspectEncoder | Sequence[AspectEncoder] | BySpace | None = None
    ) -> None:
        self._ranker = ranker
        self._adapters = Adapters(adapters)
        self._threads = Threads(_MOST_AT_ONCE, "trifuse-aspects")

    def search(
        self,
        index: str | Sequence[str],
        body: Mapping[str, Any] | None = None,
        *,
        text: str,
        aspect: str | None = None,
        adapter: str | None = None,
        document: str | None = None,
        routing: str | None = None,
        sections: Sequence[str] = (),
        per_document: int | None = None,
        filter: Mapping[str, Any] | None = None,
        size: int | None = None,
        from_: int | None = None,
        explain: bool | None = None,
        profile: Profile | str | None = None,
    ) -> dict[str, Any]:
        """Rank sentences, and return a response of OpenSearch's shape.

        Args:
            index: an index whose documents were split, an alias or a pattern, or the sentences' own index.
            text, body, filter, size, from_, explain: as of `HybridRanker.search`. Without any body a hit's
                `highlight.text` is the sentence with the query's words marked.
            aspect: `population`, `intervention`, `outcome`, ...; `auto`: what the text's wording asks for,
                and none where it doesn't tell.
            adapter: the name of the adapter to take.
            document: the id of the only document to look in. Each of its sentences is then scored.
            routing: of that document, where several have the id.
            sections: look in these alone, and in those below them: `eligibility`, `eligibility.inclusion`.
            per_document: group by document, and show so many sentences of each: see `by_document`; 100 at
                most by an aspect over all documents. The page is then counted in documents.
            profile: what legs weigh; by an aspect the dense leg alone, unless told otherwise.

        Returns:
            a response of `HybridRanker.search`; its hits name their document (`parent_id`), `section`,
            `start` and `end`. `trifuse.aspect` says what was asked for, why, and which adapter answered.

        Raises:
            AspectUnknown: no adapter at hand knows the aspect.
            SpaceMismatch: no adapter at hand is for the vectors of these sentences: nothing was searched.
            BodyError: what is asked for contradicts itself, or there are no sentences.
            DocumentMissing: there is no such document, or it has no sentences, or these have no vectors yet.
            IndexMissing, ProfileError, SearchRejected, SearchUnavailable: as `HybridRanker.search`.
        """
        wanted = Wanted(
            text=text,
            body=body,
            aspect=aspect,
            adapter=adapter,
            document=document,
            routing=routing,
            sections=sections,
            per_document=per_document,
            filter=filter,
            size=size,
            start=from_,
            explain=explain,
            profile=profile,
        )
        for left in reversed(range(TRIES)):
            place = None
            try:
                place = find_sentences(self._ranker.target_of, index)
                request = self._read(wanted, place)
                response, doubt = self._answer(request)
                # Where it moved, that is read anew for the next try.
                if doubt == "none" or (not self._moved(index, place) and doubt == "some"):
                    return self._shown(request, response)
            except (DocumentMissing, IndexMissing, SearchRejected, SpaceMismatch):
                if not left or not self._moved(index, place):
                    raise
        raise SearchUnavailable(
            f"what {index!r} stands for changed during each of {TRIES} tries: search again"
        )

    def _read(self, wanted: Wanted, place: Place) -> SentenceRequest:
        chosen = None if wanted.aspect is None else self._chosen(wanted, place.target, wanted.aspect)
        encoder = None if chosen is None else chosen.encoder
        return read_request(wanted, place, chosen, self._ranker.profile_of(_profile(wanted, encoder)))

    def _answer(self, request: SentenceRequest) -> tuple[dict[str, Any], Doubt]:
        """The response, and whether it may be of other sentences than the request was made for."""
        encoder = request.encoder
        if encoder is not None and request.wanted.document is None:
            return topic_then_aspect(self._ranker, request, encoder, self._threads.ahead)
        return self._in_one_search(request, encoder), "none"

    def _in_one_search(self, request: SentenceRequest, encoder: OfAspect | None) -> dict[str, Any]:
        """Search without an aspect, or within one document."""
        user, wanted = request.user, request.wanted
        response = self._ranker.search(
            request.place.sentences,
            request.body,
            text=wanted.text,
            filter=request.filter,
            size=request.profile.depth if wanted.per_document else user.size,
            from_=0 if wanted.per_document else user.start,
            explain=user.page.get("explain"),
            profile=_profile(wanted, encoder),
            encoder=encoder,
            exact=wanted.document is not None,
        )
        if wanted.per_document is None:
            return response
        return by_document(response, sentences=wanted.per_document, start=user.start, size=user.size)

    def _shown(self, request: SentenceRequest, response: dict[str, Any]) -> dict[str, Any]:
        """The response with what was searched."""
        user, place = request.user, request.place
        if not response["hits"]["hits"] and user.size and not user.start:
            self._check_nothing(request)
        about = {**response["trifuse"], "sentences": {"index": place.sentences, "lacking": place.lacking}}
        if request.chosen is not None:
            about["aspect"] = request.chosen.as_dict()
        return {**response, "trifuse": about}

    def _chosen(self, wanted: Wanted, target: Target, aspect: str) -> Chosen:
        """The aspect to ask for, and by what. One that a question asks for needn't be known by an adapter."""
        asked = asked_for(wanted.text) if aspect == AUTO else Asked(aspect, "")
        if asked is None:
            return Chosen(None, "rule", reason="its wording names none")
        settings = self._ranker.profile_of(ASPECT_PROFILE if wanted.profile is None else wanted.profile)
        field = target.field_of(settings.vector_field)
        space = target.space_of(field)
        if settings.weights["dense"] == 0:
            raise BodyError(
                f"the profile {settings.name!r} has no weight for dense, and an aspect is told by vectors "
                "alone: give it one, or leave the aspect out"
            )
        if space is None:
            raise BodyError(
                f"{target.expression!r} has no vectors in the field {field!r}: an aspect needs some"
            )
        try:
            encoder = self._adapters.of(space.encoder, asked.aspect, name=wanted.adapter)
        except AspectUnknown as error:
            if aspect != AUTO:
                raise
            return Chosen(None, "rule", asked.words, reason=str(error))
        target.require_space(field, encoder.space)
        by: By = "rule" if aspect == AUTO else "given"
        return Chosen(asked.aspect, by, asked.words or None, OfAspect(encoder, asked.aspect))

    def _moved(self, index: str | Sequence[str], place: Place | None) -> bool:
        """Whether the sentences of an index stand elsewhere than they were taken to.

        Raises:
            BodyError, IndexMissing: there are none by now.
        """
        try:
            return find_sentences(partial(self._ranker.target_of, fresh=True), index) != place
        except SearchUnavailable:
            return False

    def _check_nothing(self, request: SentenceRequest) -> None:
        """Tell what isn't there, of what was named and of vectors, from what doesn't match."""
        client, place, profile, wanted = self._ranker.client, request.place, request.profile, request.wanted
        if wanted.document is not None:
            check_document(client, place, wanted.document, wanted.routing)
        if profile.weights["dense"] > 0 and (wanted.document is not None or request.encoder is not None):
            field = place.target.field_of(profile.vector_field)
            check_vectors(client, place, field, wanted.document, wanted.routing)
        if wanted.sections:
            check_sections(client, place, wanted.sections)


def _profile(wanted: Wanted, encoder: OfAspect | None) -> Profile | str | None:
    """The profile as it was named, so that the response tells its version; that of aspects where none was."""
    return ASPECT_PROFILE if wanted.profile is None and encoder is not None else wanted.profile
