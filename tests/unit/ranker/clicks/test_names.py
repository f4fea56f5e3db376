"""Hashes to ids: asked once, bounded, and never wrong."""

from __future__ import annotations

import threading

from trifuse.ranker.clicks.names import DocumentNames
from trifuse.ranker.clicks.records import doc_hash


class Store:
    """Knows the ids of some documents, and keeps what it was asked."""

    def __init__(self, *known: str) -> None:
        self.known: dict[bytes, bytes] = {doc_hash(name): name.encode() for name in known}
        self.asked: list[list[bytes]] = []

    def fetch(self, docs: list[bytes]) -> list[bytes | None]:
        self.asked.append(docs)
        return [self.known.get(doc) for doc in docs]


def test_a_known_id_isnt_asked_for_again() -> None:
    store, names = Store("a", "Zürich"), DocumentNames()
    a, z = doc_hash("a"), doc_hash("Zürich")
    assert names.ids([a], store.fetch) == ["a"]
    assert names.ids([z, a, z], store.fetch) == ["Zürich", "a", "Zürich"]
    assert names.ids([a, z], store.fetch) == ["a", "Zürich"]
    assert store.asked == [[a], [z]]


def test_nothing_is_asked_for_nothing() -> None:
    store = Store()
    assert DocumentNames().ids([], store.fetch) == []
    assert store.asked == []


def test_an_id_that_nobody_knows_is_asked_for_again() -> None:
    store, names = Store(), DocumentNames()
    assert names.ids([doc_hash("a")], store.fetch) == [None]
    store.known[doc_hash("a")] = b"a"
    assert names.ids([doc_hash("a")], store.fetch) == ["a"]


def test_an_id_of_another_hash_is_none() -> None:
    store, names = Store(), DocumentNames()
    store.known = {doc_hash("a"): b"b", doc_hash("c"): b"\xff\xfe", doc_hash("d"): b""}
    assert names.ids([doc_hash("a"), doc_hash("c"), doc_hash("d")], store.fetch) == [None, None, None]


def test_the_oldest_go_first() -> None:
    store, names = Store("a", "b", "c"), DocumentNames(limit=2)
    a, b, c = (doc_hash(each) for each in "abc")
    assert names.ids([a, b], store.fetch) == ["a", "b"]
    assert names.ids([c], store.fetch) == ["c"]
    assert names.ids([b, c], store.fetch) == ["b", "c"]
    assert names.ids([a], store.fetch) == ["a"]
    assert store.asked == [[a, b], [c], [a]]


def test_more_than_the_limit_at_once_still_come_back() -> None:
    store, names = Store("a", "b", "c"), DocumentNames(limit=1)
    docs = [doc_hash(each) for each in "abc"]
    assert names.ids(docs, store.fetch) == ["a", "b", "c"]
    assert names.ids(docs[2:], store.fetch) == ["c"]
    assert len(store.asked) == 1


def test_threads_share_it() -> None:
    words = [f"d{i}" for i in range(200)]
    store, names = Store(*words), DocumentNames(limit=50)
    wrong: list[object] = []

    def read(offset: int) -> None:
        for i in range(300):
            some = [words[(offset * 31 + i + j) % 200] for j in range(20)]
            if (got := names.ids([doc_hash(each) for each in some], store.fetch)) != some:
                wrong.append(got)

    threads = [threading.Thread(target=read, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
