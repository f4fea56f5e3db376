"""Past queries of an index that is embedded anew: the click leg finds them before and after the switch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.encoder.spaces import EncoderSpace, spaces_in_meta
from trifuse.indexer.errors import ReembedRefused
from trifuse.indexer.reembed import abandon, begin, blue_green, fill, finish, switch
from trifuse.ranker import ClickStore
from trifuse.ranker.clicks.past_queries import queries_index
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.indexes import drop_other_space
from trifuse.worker.clicks.intake import Intake

OLD = EncoderSpace("test-old", "1", "fp32", "cls", 4, True, "cosine")
NEW = EncoderSpace("test-new", "1", "fp32", "cls", 8, True, "cosine")


def _take(client: OpenSearch, redis_client: Redis, index: str, workers: Any, query: str, doc: str) -> None:
    click = ClickEvent(query=query, doc_id=doc, event_id=query)
    Intake(client, redis_client, index, min_visitors=1, enqueue=workers).take([click])
    client.indices.refresh(index=queries_index(index))


def _found(client: OpenSearch, redis_client: Redis, index: str, encoder: Any, near: str) -> set[str]:
    """The documents that were clicked for the past query at a vector, for another text."""
    store = ClickStore(redis_client, client)
    vector = np.array(encoder.vector(near), np.float32)
    settings = ClickSettings(m=1)
    found = store.lookup(index, "else", vector, space=encoder.space, budget_s=6.0, settings=settings)
    return set(found.scores)


def _fields(client: OpenSearch, index: str) -> set[str]:
    name = queries_index(index)
    return set(spaces_in_meta(client.indices.get_mapping(index=name)[name]["mappings"]["_meta"]))


def test_similar_queries_are_found_in_both_spaces_and_new_ones_too(
    client: OpenSearch, redis_client: Redis, titles: str, workers: Any
) -> None:
    _take(client, redis_client, titles, workers, "lamp", "0")
    assert _found(client, redis_client, titles, workers.old, "lamp") == {"0"}
    assert _found(client, redis_client, titles, workers.new, "lamp") == set()
    begin(client, titles, NEW)
    fill(client, titles, workers)
    client.indices.refresh(index=queries_index(titles))
    _take(client, redis_client, titles, workers, "boats", "1")
    for query, document in {"lamp": "0", "boats": "1"}.items():
        assert _found(client, redis_client, titles, workers.old, query) == {document}
        assert _found(client, redis_client, titles, workers.new, query) == {document}
    switch(client, titles, workers)
    assert not drop_other_space(client, titles)
    assert _found(client, redis_client, titles, workers.new, "lamp") == {"0"}
    finish(client, titles)
    assert _fields(client, titles) == {"trifuse_vector_2"}
    assert _found(client, redis_client, titles, workers.new, "boats") == {"1"}


def test_abandoning_takes_the_new_field_out_of_past_queries(
    client: OpenSearch, redis_client: Redis, titles: str, workers: Any
) -> None:
    _take(client, redis_client, titles, workers, "lamp", "0")
    begin(client, titles, NEW)
    fill(client, titles, workers)
    assert _fields(client, titles) == {"trifuse_vector", "trifuse_vector_2"}
    abandon(client, titles)
    assert _fields(client, titles) == {"trifuse_vector"}
    assert _found(client, redis_client, titles, workers.old, "lamp") == {"0"}


@pytest.mark.parametrize("end", ["finish", "abandon"])
def test_an_end_that_was_killed_leaves_no_second_field_in_past_queries(
    client: OpenSearch,
    redis_client: Redis,
    titles: str,
    workers: Any,
    monkeypatch: pytest.MonkeyPatch,
    end: str,
) -> None:
    """The index was deleted, and the process ended: the same command ends what is left, once."""
    alias = f"{titles}-alias"
    client.indices.put_alias(index=titles, name=alias)
    _take(client, redis_client, alias, workers, "lamp", "0")
    begin(client, alias, NEW)
    fill(client, alias, workers, switch=end == "finish")
    assert _fields(client, alias) == {"trifuse_vector", "trifuse_vector_2"}
    step = {"finish": finish, "abandon": abandon}[end]

    class Killed(BaseException):
        pass

    def killed(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(blue_green, "settle_past_queries", killed)
        with pytest.raises(Killed):
            step(client, alias)
    assert step(client, alias) == 0
    kept = "trifuse_vector_2" if end == "finish" else "trifuse_vector"
    assert _fields(client, alias) == {kept}
    encoder = workers.new if end == "finish" else workers.old
    assert _found(client, redis_client, alias, encoder, "lamp") == {"0"}
    with pytest.raises(ReembedRefused):
        step(client, alias)
