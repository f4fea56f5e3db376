"""Lexical, dense and clicks in one ranking, over the user's own index and query body."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from opensearchpy import OpenSearch

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.types import Encoder
from trifuse.ranker.body import check_filter, check_text, read_body
from trifuse.ranker.body_template import fill_template
from trifuse.ranker.encoders import BySpace, Encoders
from trifuse.ranker.errors import ProfileNotNative, RankerError, SearchRejected
from trifuse.ranker.exact import ExactCandidates
from trifuse.ranker.lookups import LookUp, Lookups
from trifuse.ranker.moving import TRIES, Doubt, doubt_of, without_dense
from trifuse.ranker.native import NativeRanker, check_native_request, require_native
from trifuse.ranker.params import read_params
from trifuse.ranker.plan import plan_filters
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.profiles.served import ServedProfiles
from trifuse.ranker.profiles.store import ProfileStore
from trifuse.ranker.ranking import Ranking, rank
from trifuse.ranker.request import Request
from trifuse.ranker.response import build_response
from trifuse.ranker.retrieved import (
    Retrieved,
    confirmed,
    presumed,
    read_answers,
    routed,
    supported,
    unchecked,
)
from trifuse.ranker.searches import Documents, ask_legs, check, fetch
from trifuse.ranker.signals import encode
from trifuse.ranker.target import Target, check_collapse, index_expression
from trifuse.ranker.targets import Targets
from trifuse.ranker.types import ClickLookup, Key
from trifuse.ranker.unseen import may_stay_unseen, tells

_READ_TIMEOUT_S = 2.0
"""Of a stored profile: it is read beside searches, and again soon."""


class HybridRanker:
    """Ranks by three signals; safe to share by threads.

        ranker = HybridRanker(client, encoder, ClickStore(redis, client))
        response = ranker.search("trials", {"query": {...}, "highlight": {...}}, text="stroke in adults")

    Args:
        encoder: makes the query's vector; None leaves the dense leg out. Of several each search takes the one
            of the space that its index is served in; a function makes it from that space, once.
        clicks: where click evidence comes from; None leaves the click leg out.
        profile: weights, depth and fusion; or the name of a built-in or a stored profile, whose new versions
            are served within seconds. A search may use another.
    """

    def __init__(
        self,
        client: OpenSearch,
        encoder: Encoder | Sequence[Encoder] | BySpace | None = None,
        clicks: ClickLookup | None = None,
        profile: Profile | str | None = None,
    ) -> None:
        self._client = client
        self._encoders = Encoders(encoder)
        self._lookups = Lookups(clicks)
        self._profile = Profile() if profile is None else profile
        self._profiles = ServedProfiles(ProfileStore(client, read_timeout_s=_READ_TIMEOUT_S))
        self._targets = Targets(client)
        self._native = NativeRanker(client)
        self._exact = ExactCandidates(client)

    def search(
        self,
        index: str | Sequence[str],
        body: Mapping[str, Any] | None = None,
        *,
        text: str,
        filter: Mapping[str, Any] | None = None,
        size: int | None = None,
        from_: int | None = None,
        explain: bool | None = None,
        params: Mapping[str, Any] | None = None,
        profile: Profile | str | None = None,
        leave_one_out: bool = False,
        encoder: Encoder | None = None,
        exact: bool = False,
    ) -> dict[str, Any]:
        """Rank, and return a response of OpenSearch's shape.

        Args:
            index: a name, an alias, a pattern, or a list of them.
            body: the user's own `_search` body; its query is the lexical leg, as it is. Without a query the
                lexical leg is a `multi_match` of the text over the fields that were embedded. None: the
                profile's own body.
            text: what the user typed: the dense and the click leg go by it.
            filter: one query that every hit must match, beside what the body's query requires.
            size, from_, explain: replace the body's.
            params: what the user's `_search` URL has: `routing`, `preference`, `typed_keys`.
            profile: replaces the ranker's: settings, or a name (`mine`, or `mine@3` for that version).
            leave_one_out: rank as if the click log didn't have this very query: for evaluations.
            encoder: replaces the ranker's: another query encoder of the same space, as that of an aspect.
            exact: score each vector that the filters match, and ask no k-NN index: where they are few.

        Returns:
            hits with `_score` fused and `trifuse.legs`; `trifuse` with the state of each leg, the filters,
            and the query's frequency and segment in the click log.

        Raises:
            BodyError: a key or a page that fusion can't honour: nothing was sent.
            ProfileError: no profile has that name; or (`ProfileNotNative`) it can't run natively.
            IndexMissing: no index, alias or pattern by that name.
            SpaceMismatch: the index's vectors are in another space than the encoder's: nothing was searched.
            SearchRejected: OpenSearch refused the user's own query.
            SearchUnavailable: OpenSearch didn't answer.
        """
        started = time.perf_counter()
        fresh = False
        for left in reversed(range(TRIES)):
            try:
                request, looked_up = self.prepare(
                    index,
                    body,
                    text=text,
                    filter=filter,
                    size=size,
                    from_=from_,
                    explain=explain,
                    params=params,
                    profile=profile,
                    leave_one_out=leave_one_out,
                    encoder=encoder,
                    exact=exact,
                    fresh=fresh,
                )
            except SpaceMismatch:
                if fresh or not left:
                    raise
                fresh = True
                continue
            try:
                response, doubt = self._answer(
                    request if left else without_dense(request), looked_up, started
                )
            except SearchRejected:
                if not left or not self._moved(request):
                    raise
                fresh = False
                continue
            if not left or doubt == "none" or (doubt == "some" and not self._moved(request)):
                break
            fresh = doubt == "foreign"
        return response

    def _answer(self, request: Request, looked_up: LookUp, started: float) -> tuple[dict[str, Any], Doubt]:
        """The response, and whether it may be of other indices than the request was made for."""
        if request.profile.execution == "native":
            response = self._native.search(request, looked_up(), started=started)
            found = response["hits"]["hits"]
            whole = not response["_shards"].get("failed") and (bool(found) or request.user.size == 0)
            return response, doubt_of(request, found, whole=whole)
        retrieved, ranking, documents = self._retrieve(request, looked_up)
        if documents is None:
            documents = self._fetch(request, retrieved, ranking)
        took_ms = round((time.perf_counter() - started) * 1000)
        response = build_response(request, retrieved, ranking, documents, took_ms=took_ms)
        whole = retrieved.dense_is_whole and len(response["hits"]["hits"]) == len(ranking.places)
        return response, doubt_of(request, retrieved.raw_hits, whole=whole)

    def _moved(self, request: Request) -> bool:
        """Whether the index stands for something else than it was taken for."""
        try:
            now = self._targets.read(request.target.expression, request.url.resolving, fresh=True)
        except RankerError:
            return False
        return not now.same_vectors(request.target)

    def prepare(
        self,
        index: str | Sequence[str],
        body: Mapping[str, Any] | None = None,
        *,
        text: str,
        filter: Mapping[str, Any] | None = None,
        size: int | None = None,
        from_: int | None = None,
        explain: bool | None = None,
        params: Mapping[str, Any] | None = None,
        profile: Profile | str | None = None,
        leave_one_out: bool = False,
        encoder: Encoder | None = None,
        exact: bool = False,
        fresh: bool = False,
    ) -> tuple[Request, LookUp]:
        """A search, read and resolved, before its legs are asked; and its lookup in the click log, under way.

        Args:
            fresh: read anew what the index is; else what was read in the last seconds will do.

        Returns:
            the request, and what waits for its clicks. Arguments and errors are those of `search`.
        """
        served = self._profiles.get(self._profile if profile is None else profile)
        profile = served.profile
        check_text(text)
        check_filter(filter)
        given = fill_template(profile.body or {}, text) if body is None else body
        user = read_body(given, depth=profile.depth, start=from_, size=size, explain=explain)
        url = read_params(params, text=text)
        if profile.execution == "native":
            require_native(profile)
            check_native_request(user, url)
        target = self._targets.read(index_expression(index), url.resolving, fresh=fresh)
        field = target.field_of(profile.vector_field)
        if profile.execution == "native" and profile.weights["dense"] > 0 and target.is_exact(field):
            raise ProfileNotNative(
                f"the profile {profile.name!r} can't run natively: {target.expression!r} has no k-NN index "
                f"(index.knn) of the field {field!r}; take the execution 'client'"
            )
        check_collapse(user.collapse, target)
        filters = plan_filters(user, target, filter)
        space = target.space_of(field)
        encoder = encoder or self._encoders.of(space.encoder if space else None)
        encoded = encode(text, target, profile, encoder)
        looked_up = self._lookups.start(text, target, profile, encoded, leave_one_out=leave_one_out)
        request = Request(text, user, url, target, filters, encoded, profile, served.version, served.note)
        scored = self._exact.of(request, always=exact)
        return request if scored is None else replace(request, exact=scored), looked_up

    def rank(self, request: Request, looked_up: LookUp) -> tuple[Retrieved, Ranking]:
        """What the legs of a prepared search bring, and the ranking. Nothing is fetched, nor asked again.

        Raises:
            IndexMissing, SearchRejected, SearchUnavailable: as `search`.
        """
        retrieved, ranking, _ = self._retrieve(request, looked_up)
        return retrieved, ranking

    def target_of(self, index: str | Sequence[str], *, fresh: bool = False) -> Target:
        """What an index expression stands for, as it was read in the last seconds, or is now (`fresh`).

        Raises:
            BodyError: a name whose filters can't be known.
            IndexMissing: no index, alias or pattern by that name.
            SearchUnavailable: OpenSearch didn't answer.
        """
        return self._targets.read(index_expression(index), {}, fresh=fresh)

    def profile_of(self, profile: Profile | str | None = None) -> Profile:
        """What a search would rank by: a profile as it is given, by its name, or the ranker's own.

        Raises:
            ProfileError: no profile has that name.
            SearchUnavailable: it was never read, and OpenSearch doesn't answer.
        """
        return self._profiles.get(self._profile if profile is None else profile).profile

    @property
    def client(self) -> OpenSearch:
        """What it talks to OpenSearch with."""
        return self._client

    def close(self) -> None:
        """End the threads that look up clicks; they end with the ranker too. It can still be used."""
        self._lookups.close()

    def _retrieve(self, request: Request, looked_up: LookUp) -> tuple[Retrieved, Ranking, Documents | None]:
        """What each leg brought, the ranking, and the documents of its page where they came along.

        The search for past queries goes along with the legs. Of clicked documents that none brought it isn't
        known whether they are there. If they all are, they lead to a page, which is fetched: where only those
        on it matter, that tells of them, else the others are checked in the same request.
        """
        answers = ask_legs(self._client, request, looked_up)
        clicked = supported(request, looked_up(), answers)
        ids = unchecked(request, clicked, answers)
        if ids:
            guess = presumed(request, clicked, answers, ids)
            page: list[Key] = []
            if guess is not None:
                ranking = rank(request, guess)
                if may_stay_unseen(request, guess):
                    documents = self._fetch(request, guess, ranking)
                    if tells(ranking.keys, documents, set(ids)):
                        return guess, ranking, documents
                else:
                    page = ranking.keys
            answer, fetched = check(self._client, request, ids, page, plainly=routed(answers))
            if page and guess is not None and (right := confirmed(guess, answer)):
                return right, ranking, fetched
            answers["clicks"] = answer
        retrieved = read_answers(request, clicked, answers)
        return retrieved, rank(request, retrieved), None

    def _fetch(self, request: Request, retrieved: Retrieved, ranking: Ranking) -> Documents:
        by_query = retrieved.reports["lexical"].state != "failed"
        return fetch(self._client, request, ranking.keys, by_query=by_query)
