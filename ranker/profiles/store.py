"""Profiles by name and version, kept in the user's cluster, so that every ranker there serves the same.

Each version is a document NAME@VERSION, made once and never changed; the document NAME says which version is
current. A writer first makes its version, under the next number that is free, and then moves the current
version up to it, on condition that nobody did in between (`if_seq_no`). So of two writers at once each gets a
version of its own, the higher one ends up as current, and one that dies in between leaves a version in the
history that nobody uses.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import count
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import ConflictError, NotFoundError, RequestError

from trifuse.ranker.errors import ProfileError, ProfileMissing, SearchUnavailable
from trifuse.ranker.native.pipeline import require_native
from trifuse.ranker.profiles.documents import (
    CURRENT,
    VERSION,
    Pointer,
    current_document,
    profiles_body,
    read_version,
    version_document,
)
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.profiles.published import published
from trifuse.ranker.profiles.versions import ProfileVersion, Reference, check_name
from trifuse.ranker.server import asking

PROFILES_INDEX = "trifuse-profiles"

MOST = 10_000
"""So many names, and versions of one name, are listed: `index.max_result_window`'s default."""

_PAUSES_S = (0.1, 0.2, 0.4, 0.8, 1.6)


class ProfileStore:
    """The stored profiles of a cluster; safe to share by threads. Reading never makes the index.

        store = ProfileStore(client)
        store.set(Profile(name="mine", weights={"lexical": 0.4, "dense": 0.6}), note="tuned in March")
        store.get("mine").profile, store.get("mine@1").profile

    Where OpenSearch doesn't answer methods raise `SearchUnavailable`, `SearchRejected` where it refuses.

    Args:
        index: where they are kept; made by the first that is stored.
        read_timeout_s: a reading that takes longer fails.
    """

    def __init__(
        self, client: OpenSearch, *, index: str = PROFILES_INDEX, read_timeout_s: float = 10.0
    ) -> None:
        self._client = client
        self._index = index
        self._reading = {"request_timeout": read_timeout_s}

    def get(self, reference: str) -> ProfileVersion:
        """What is current of `NAME`, or the version `NAME@VERSION`.

        Raises:
            ProfileMissing: there is none.
            ProfileError: which version is current can't be read: the index was changed by other means.
        """
        wanted = Reference.parse(reference)
        pointer = self._pointer(wanted.name) if wanted else None
        if wanted is None or pointer is None:
            raise self._missing(reference)
        version = wanted.version or pointer.version
        found = self._document(f"{wanted.name}@{version}")
        read = read_version(self._index, found, pointer.version) if found else None
        if read is not None:
            return read
        if wanted.version is None:
            raise ProfileError(
                f"the document {self._index}/{wanted.name} names no version that is there: make one current "
                f"with `trifuse profile rollback {wanted.name} VERSION`"
            )
        raise ProfileMissing(
            f"the profile {wanted.name!r} has no version {version}: see `trifuse profile history "
            f"{wanted.name}`"
        )

    def set(
        self, profile: Profile, *, note: str = "", evidence: Mapping[str, Any] | None = None
    ) -> ProfileVersion:
        """Store a profile as the next version of its name, and make it current.

        Args:
            note: why, for who reads the history.
            evidence: what was measured when it was chosen, a JSON object.

        Raises:
            ProfileError: a name that can't be stored under; or (`ProfileNotNative`) it says `native`, and
                can't run so.
        """
        check_name(profile.name)
        if profile.execution == "native":
            require_native(profile)
        return self._add(profile.name, profile.as_dict(), note, evidence)

    def rollback(self, name: str, version: int, *, note: str | None = None) -> ProfileVersion:
        """Make an old version current again, as a new version that equals it.

        Raises:
            ProfileMissing: there is no such version.
            ProfileError: it can't be used.
        """
        old = self.get(str(Reference(name, version)))
        return self._add(name, old.profile.as_dict(), note or f"as version {version}", old.evidence)

    def names(self) -> list[str]:
        """The names of the stored profiles, sorted."""
        return sorted(hit["_id"] for hit in self._search({"term": {"kind": CURRENT}}))

    def history(self, name: str) -> list[ProfileVersion]:
        """All versions of a profile, the newest first; also such as can't be used.

        Raises:
            ProfileMissing: there is no profile of that name.
        """
        pointer = self._pointer(name) if Reference.parse(name) == Reference(name) else None
        if pointer is None:
            raise self._missing(name)
        terms = [{"term": {"kind": VERSION}}, {"term": {"name": name}}]
        hits = self._search({"bool": {"filter": terms}})
        found = (read_version(self._index, hit, pointer.version) for hit in hits)
        mine = [version for version in found if version is not None and version.name == name]
        return sorted(mine, key=lambda version: -version.version)

    def delete(self, name: str) -> int:
        """Delete a profile with all its versions; how many there were.

        A ranker that serves it goes on with what it knows of it.

        Raises:
            ProfileMissing: there is no profile of that name.
        """
        versions = [each.version for each in self.history(name)]
        with asking(self._index):
            for id in (name, *(f"{name}@{version}" for version in versions)):
                self._client.delete(index=self._index, id=id, params={"refresh": "true", "ignore": [404]})
        return len(versions)

    def _add(
        self, name: str, settings: Mapping[str, Any], note: str, evidence: Mapping[str, Any] | None
    ) -> ProfileVersion:
        with asking(self._index):
            self._make_index()
            pointer = self._pointer_of_started(name)
            for version in count(pointer.version + 1 if pointer else 1):
                made = Reference(name, version)
                document = version_document(made, settings, note, evidence)
                try:
                    self._write(str(made), document, {"op_type": "create"})
                    break
                except ConflictError:  # another writer's, or left by one that died
                    continue
            self._advance(made)
        return self.get(str(made))

    def _advance(self, made: Reference) -> None:
        """Make a version current, unless a higher one is."""
        while True:
            pointer = self._pointer(made.name)
            if pointer is not None and pointer.version >= (made.version or 0):
                return
            condition = {"op_type": "create"} if pointer is None else pointer.condition
            try:
                self._write(made.name, current_document(made), condition)
                return
            except ConflictError:  # another writer moved it: look again where to
                continue

    def _write(self, id: str, document: Mapping[str, Any], condition: Mapping[str, Any]) -> None:
        params = {**condition, "refresh": "true"}
        self._client.index(index=self._index, id=id, body=document, params=params)

    def _make_index(self) -> None:
        if self._client.indices.exists(index=self._index):
            return
        try:
            self._client.indices.create(index=self._index, body=profiles_body())
        except RequestError as error:
            if error.error != "resource_already_exists_exception":
                raise

    def _pointer_of_started(self, name: str) -> Pointer | None:
        """The pointer, also where another writer makes the index now: reads, unlike writes, don't wait."""
        for pause_s in _PAUSES_S:
            try:
                return self._pointer(name)
            except SearchUnavailable:
                time.sleep(pause_s)
        return self._pointer(name)

    def _pointer(self, name: str) -> Pointer | None:
        found = self._document(name)
        return None if found is None else Pointer.of(found)

    def _document(self, id: str) -> dict[str, Any] | None:
        with asking(self._index):
            try:
                found: dict[str, Any] = self._client.get(index=self._index, id=id, params=self._reading)
            except NotFoundError:
                return None
        return found

    def _search(self, query: Mapping[str, Any]) -> list[dict[str, Any]]:
        with asking(self._index):
            answer = self._client.search(
                index=self._index,
                body={"query": query, "size": MOST},
                params={"ignore_unavailable": "true", **self._reading},
            )
        hits: list[dict[str, Any]] = answer["hits"]["hits"]
        return hits

    def _missing(self, name: str) -> ProfileMissing:
        there = ", ".join([*published(), *self.names()])
        return ProfileMissing(f"there is no profile {name!r}: there are {there}")
