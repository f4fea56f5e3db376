"""Click evidence for a query: what similar past queries were clicked for, within a time budget."""

from __future__ import annotations

import math
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from opensearchpy import OpenSearch
from redis import Redis
from redis.crc import key_slot

from trifuse.encoder.marks import VECTOR_FIELD, mark
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.templates import text_hash
from trifuse.ranker.click_settings import ClickSettings
from trifuse.ranker.clicks import ClickStore
from trifuse.ranker.past_queries import queries_index, query_space
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.intake import Intake

NOW = 1.75e9
Embed = Callable[..., None]
QUERY = np.array([1.0, 0.0, 0.0], np.float32)


def click(query: str, doc: str, number: int = 1) -> list[ClickEvent]:
    return [
        ClickEvent(event_id=f"{query}-{doc}-{n}", query=query, doc_id=doc, timestamp=NOW)
        for n in range(number)
    ]


NEAR = ClickSettings(temperature=0.1, min_similarity=0.75)


@pytest.fixture
def store(client: OpenSearch, redis_client: Redis) -> ClickStore:
    return ClickStore(redis_client, client)


def test_the_same_query_alone(store: ClickStore, index: str, intake: Intake) -> None:
    intake.take([*click("Asthma", "d1", 4), *click("asthma", "d2", 1), *click("copd", "d3", 9)])
    evidence = store.lookup(index, " ASTHMA? ", budget_s=5)
    assert evidence.scores == pytest.approx({"d1": 1.0, "d2": 0.25})
    assert [(q.text, q.similarity, q.weight) for q in evidence.queries] == [("asthma", 1.0, 1.0)]
    assert evidence.state == "partial"
    assert evidence.reason is not None
    assert "no vector" in evidence.reason
    assert 0 < evidence.took_ms < 5000


def test_similar_queries_weigh_by_the_softmax_of_their_cosines(
    store: ClickStore, index: str, space: EncoderSpace, intake: Intake, embed_query: Embed
) -> None:
    # cosines with (1, 0, 0): 0.96, 0.8 and 0.6; the floor is 0.75
    intake.take([*click("near", "d1", 2), *click("near", "d2"), *click("far", "d2"), *click("too far", "d9")])
    embed_query("near", [0.96, 0.28, 0.0])
    embed_query("far", [0.8, 0.6, 0.0])
    embed_query("too far", [0.6, 0.8, 0.0])
    evidence = store.lookup(index, "never asked", QUERY, space=space, budget_s=5, settings=NEAR)
    near, far = math.exp(0.96 / 0.1), math.exp(0.8 / 0.1)
    share = near / (near + far)
    assert evidence.scores == pytest.approx({"d1": share, "d2": share / 2 + (1 - share)}, abs=1e-4)
    assert [q.text for q in evidence.queries] == ["near", "far"]
    assert [q.similarity for q in evidence.queries] == pytest.approx([0.96, 0.8], abs=1e-5)
    assert sum(q.weight for q in evidence.queries) == pytest.approx(1.0)
    assert (evidence.state, evidence.reason) == ("ok", None)


def test_the_query_itself_counts_once_and_as_similarity_one(
    store: ClickStore, index: str, space: EncoderSpace, intake: Intake, embed_query: Embed
) -> None:
    intake.take([*click("asthma", "d1"), *click("near", "d2")])
    embed_query("asthma", [1.0, 0.0, 0.0])
    embed_query("near", [0.96, 0.28, 0.0])
    evidence = store.lookup(index, "Asthma", QUERY, space=space, budget_s=5, settings=NEAR)
    same = 1 / (1 + math.exp((0.96 - 1.0) / 0.1))
    assert evidence.scores == pytest.approx({"d1": same, "d2": 1 - same}, abs=1e-4)
    assert [q.text for q in evidence.queries] == ["asthma", "near"]


def test_past_queries_of_another_space_give_nothing(
    store: ClickStore, index: str, space: EncoderSpace, intake: Intake, embed_query: Embed
) -> None:
    intake.take(click("near", "d1"))
    embed_query("near", [1.0, 0.0, 0.0], replace(space, revision="0"))
    assert store.lookup(index, "never asked", QUERY, space=space, budget_s=5).scores == {}
    embed_query("near", [1.0, 0.0, 0.0])
    assert store.lookup(index, "never asked", QUERY, space=space, budget_s=5).scores == {"d1": 1.0}


def test_inner_products_that_are_not_of_unit_norm(
    client: OpenSearch,
    redis_client: Redis,
    make_index: Callable[..., str],
    space: EncoderSpace,
    embed_query: Embed,
) -> None:
    dot = replace(space, similarity="dot", normalized=False)
    index = make_index(dot)
    Intake(client, redis_client, index).take([*click("asthma", "d1"), *click("near", "d2")])
    embed_query("asthma", [3.0, 0.0, 0.0], dot)
    embed_query("near", [2.5, 1.0, 0.0], dot)
    store = ClickStore(redis_client, client)
    evidence = store.lookup(index, "asthma", np.array([3, 0, 0], np.float32), space=dot, budget_s=5)
    assert [(q.text, q.similarity) for q in evidence.queries] == [
        ("asthma", 9.0),
        ("near", pytest.approx(7.5, abs=1e-4)),
    ]
    assert evidence.scores["d2"] == pytest.approx(1 / (1 + math.exp(1.5)), abs=1e-4)


def test_the_defaults_follow_the_similarity_of_the_space(
    client: OpenSearch,
    redis_client: Redis,
    index: str,
    space: EncoderSpace,
    intake: Intake,
    embed_query: Embed,
) -> None:
    intake.take([*click("near", "d1"), *click("far", "d2"), *click("too far", "d3")])
    embed_query("near", [0.8, 0.6, 0.0])
    embed_query("far", [0.75, math.sqrt(1 - 0.75**2), 0.0])
    embed_query("too far", [0.69, math.sqrt(1 - 0.69**2), 0.0])
    found = ClickStore(redis_client, client).lookup(index, "never asked", QUERY, space=space, budget_s=5)
    assert found.scores == pytest.approx({"d1": 1 / (1 + math.exp(-1)), "d2": 1 / (1 + math.e)}, abs=1e-4)


def test_at_most_m_queries_and_so_many_candidates(
    client: OpenSearch,
    redis_client: Redis,
    index: str,
    space: EncoderSpace,
    intake: Intake,
    embed_query: Embed,
) -> None:
    for i in range(4):
        intake.take(click(f"near {i}", f"d{i}", 2) + click(f"near {i}", "d9"))
        embed_query(f"near {i}", [1.0, 0.01 * i, 0.0])
    store = ClickStore(redis_client, client)
    few = ClickSettings(m=2, candidates=2)
    evidence = store.lookup(index, "never asked", QUERY, space=space, budget_s=5, settings=few)
    assert [q.text for q in evidence.queries] == ["near 0", "near 1"]
    # d0 has the nearer query's weight, d9 a half of both, d1 the other's
    assert list(evidence.scores) == ["d0", "d9"]
    none = ClickSettings(m=0)
    assert store.lookup(index, "asked", QUERY, space=space, budget_s=5, settings=none).state == "ok"


def test_ties_are_in_the_order_of_ids(store: ClickStore, index: str, intake: Intake) -> None:
    intake.take([*click("asthma", "d7"), *click("asthma", "d2"), *click("asthma", "d5")])
    assert list(store.lookup(index, "asthma", budget_s=5).scores) == ["d2", "d5", "d7"]


def test_no_past_queries_yet(store: ClickStore, index: str, space: EncoderSpace) -> None:
    evidence = store.lookup(index, "asthma", QUERY, space=space, budget_s=5)
    assert (dict(evidence.scores), evidence.queries, evidence.state) == ({}, (), "partial")
    assert queries_index(index) in str(evidence.reason)


def test_a_vector_of_another_dimension_leaves_the_same_query(
    store: ClickStore, index: str, space: EncoderSpace, intake: Intake, embed_query: Embed
) -> None:
    intake.take(click("asthma", "d1"))
    embed_query("asthma", [1.0, 0.0, 0.0])
    evidence = store.lookup(index, "asthma", np.ones(5, np.float32), space=space, budget_s=5)
    assert (evidence.scores, evidence.state) == ({"d1": 1.0}, "partial")
    assert "400" in str(evidence.reason)


@pytest.mark.parametrize("text", ["", " ?! ", "x" * 10_240, "\ud800"])
def test_a_query_that_no_one_repeats_has_no_evidence(store: ClickStore, index: str, text: str) -> None:
    evidence = store.lookup(index, text, budget_s=5)
    assert (evidence.scores, evidence.state) == ({}, "ok")
    assert evidence.reason


def test_c4_the_keys_of_a_lookup_share_a_slot(
    client: OpenSearch, index: str, space: EncoderSpace, intake: Intake, embed_query: Embed
) -> None:
    asked: list[str] = []

    class Recording:
        def zscore(self, key: str, member: str) -> None:
            asked.append(key)

        def register_script(self, script: str) -> Callable[..., object]:
            def call(*, keys: list[str], args: list[object]) -> object:
                asked.extend(keys)
                return [[0] * len(keys), []]

            return call

    intake.take([*click("near 1", "d1"), *click("near 2", "d1")])
    embed_query("near 1", [1.0, 0.0, 0.0])
    embed_query("near 2", [0.96, 0.28, 0.0])
    ClickStore(Recording(), client).lookup(index, "asthma", QUERY, space=space, budget_s=5)
    assert len(asked) == 4
    assert len({key_slot(key.encode()) for key in asked}) == 1


# --- C6: Redis, or OpenSearch, is down or slow ---


@contextmanager
def silent_server() -> Iterator[int]:
    """A server that takes connections and says nothing; its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    open_: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            open_.append(connection)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        for connection in open_:
            connection.close()


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_c6_redis_down_is_neutral_at_once(client: OpenSearch, index: str, space: EncoderSpace) -> None:
    store = ClickStore(Redis(port=closed_port()), client)
    evidence = store.lookup(index, "asthma", QUERY, space=space, budget_s=2.0)
    assert (evidence.scores, evidence.queries, evidence.state) == ({}, (), "neutral")
    assert "the click store didn't answer" in str(evidence.reason)
    assert evidence.took_ms < 1000


def test_c6_redis_slow_is_neutral_within_the_budget_and_leaves_no_thread(
    client: OpenSearch, index: str, space: EncoderSpace, intake: Intake
) -> None:
    intake.take(click("asthma", "d1"))
    with silent_server() as port, Redis(port=port, socket_timeout=30) as redis:
        store = ClickStore(redis, client)
        threads = threading.active_count()
        for _ in range(3):
            start = time.monotonic()
            evidence = store.lookup(index, "asthma", QUERY, space=space, budget_s=0.4)
            assert time.monotonic() - start < 0.4
            assert (evidence.scores, evidence.state) == ({}, "neutral")
            assert "Timeout" in str(evidence.reason)
        assert threading.active_count() == threads


def test_c6_opensearch_slow_leaves_the_same_query_within_the_budget(
    redis_client: Redis, index: str, space: EncoderSpace, intake: Intake
) -> None:
    intake.take(click("asthma", "d1"))
    with silent_server() as port:
        # a client that would try again, and wait 30 s each time
        slow = OpenSearch(f"http://127.0.0.1:{port}", timeout=30, max_retries=3, retry_on_timeout=True)
        store = ClickStore(redis_client, slow)
        start = time.monotonic()
        evidence = store.lookup(index, "asthma", QUERY, space=space, budget_s=0.6)
        assert time.monotonic() - start < 0.6
        slow.close()
    assert (evidence.scores, evidence.state) == ({"d1": 1.0}, "partial")
    assert "similar past queries weren't found" in str(evidence.reason)


def test_c6_it_recovers_by_itself(
    client: OpenSearch, redis_client: Redis, index: str, intake: Intake
) -> None:
    intake.take(click("asthma", "d1"))
    store = ClickStore(redis_client, client)
    redis_client.script_flush()  # as a restarted Redis has none
    assert store.lookup(index, "asthma", budget_s=5).scores == {"d1": 1.0}
    store._bounded[5 / 4].connection_pool.disconnect()
    assert store.lookup(index, "asthma", budget_s=5).scores == {"d1": 1.0}


def test_bytes_that_are_no_text_are_no_documents_id(
    store: ClickStore, redis_client: Redis, index: str, intake: Intake
) -> None:
    intake.take(click("asthma", "d1"))
    (key,) = redis_client.scan_iter(match=f"trifuse:{{{index}}}:*:q:*")
    redis_client.zadd(key, {b"\xff\xfe": 0.0})
    assert set(store.lookup(index, "asthma", budget_s=5).scores) == {"d1", "\ufffd\ufffd"}


def test_a_past_query_of_another_make_leaves_the_same_query(
    store: ClickStore, client: OpenSearch, index: str, space: EncoderSpace, intake: Intake
) -> None:
    intake.take(click("asthma", "d1"))
    alien = {VECTOR_FIELD: [1.0, 0.0, 0.0], **mark(VECTOR_FIELD, query_space(space).id, text_hash("copd"))}
    client.index(index=queries_index(index), id="alien", body=alien, params={"refresh": "true"})
    evidence = store.lookup(index, "asthma", QUERY, space=space, budget_s=5)
    assert (dict(evidence.scores), evidence.state) == ({"d1": 1.0}, "partial")


def test_an_alias_whose_name_looks_like_an_escape(
    store: ClickStore, client: OpenSearch, redis_client: Redis, index: str, space: EncoderSpace
) -> None:
    alias = f"50%25-{index}"
    client.indices.put_alias(index=index, name=alias)
    Intake(client, redis_client, alias).take(click("asthma", "d1"))
    evidence = store.lookup(alias, "asthma", QUERY, space=space, budget_s=5)
    assert (dict(evidence.scores), evidence.state, evidence.reason) == ({"d1": 1.0}, "ok", None)
    for key in redis_client.scan_iter(match=f"trifuse:{{{alias}}}:*"):
        redis_client.delete(key)
