"""Loads into a real OpenSearch."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from opensearchpy import OpenSearch
from opensearchpy.connection import Urllib3HttpConnection
from opensearchpy.exceptions import TransportError

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.marks import VECTOR_FIELD, mark
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.templates import build_text, text_hash
from trifuse.indexer.bulk import Action, bulk
from trifuse.indexer.errors import HintsUndelivered, IndexBlocked, IndexNotOurs
from trifuse.indexer.hints import Hint
from trifuse.indexer.load import load
from trifuse.indexer.readers import Record, Rejection
from trifuse.indexer.refresh import pending_restores
from trifuse.indexer.report import LoadReport
from trifuse.indexer.retry import Retry
from trifuse.indexer.trial import TRIAL_TEMPLATE, Arm, Intervention, Outcome, Reference

Made = Callable[..., Record]


def _documents(client: OpenSearch, index: str) -> dict[str, dict[str, Any]]:
    client.indices.refresh(index=index)
    hits = client.search(index=index, body={"size": 1000}, version=True)["hits"]["hits"]
    return {hit["_id"]: {**hit["_source"], "_version": hit["_version"]} for hit in hits}


def _sums(report: LoadReport) -> tuple[int, int, int, int]:
    assert report.read == report.indexed + report.unchanged + len(report.rejected)
    return report.read, report.indexed, report.unchanged, len(report.rejected)


def _embed(client: OpenSearch, index: str, record: Record, space: Space) -> None:
    """Write a vector and its mark, as a worker does."""
    text = build_text(record.trial.source(), space.template)
    source = {VECTOR_FIELD: np.ones(4, np.float32), **mark(VECTOR_FIELD, space.id, text_hash(text))}
    action = Action(op="update", index=index, id=record.trial.nct_id, source=source)
    assert not bulk(client, [action]).failed


def test_new_records_are_searchable_at_once_and_hinted(
    client: OpenSearch, index_name: str, space: Space, record: Made, hints: Any
) -> None:
    full = record(
        1,
        conditions=("Asthma",),
        interventions=(Intervention("DRUG", "Placebo", "daily"), Intervention("DEVICE", "Spacer")),
        arms=(Arm("A", "EXPERIMENTAL"),),
        primary_outcomes=(Outcome("FEV1", "12 weeks", "spirometry"),),
        references=(Reference("123", "RESULT", "Someone 2001"),),
        phases=("PHASE1", "PHASE2"),
        healthy_volunteers=False,
        enrollment=20,
        start_date="2005-01",
        completion_date="2006",
    )
    report = load(client, [full, record(2)], index_name, space=space, enqueue=hints)
    assert _sums(report) == (2, 2, 0, 0)
    assert hints.calls == [(index_name, VECTOR_FIELD, space.id)]
    assert hints.ids == ["T0001", "T0002"]
    assert report.hinted == 2
    found = client.get(index=index_name, id="T0001")["_source"]
    assert {key: found[key] for key in full.trial.source()} == full.trial.source()
    query = {"query": {"match": {"interventions.name": "spacers"}}}  # the english analyzer stems
    assert client.search(index=index_name, body=query)["hits"]["total"]["value"] == 1


def test_the_same_again_writes_nothing(
    client: OpenSearch, index_name: str, space: Space, record: Made, hints: Any
) -> None:
    records = [record(n) for n in range(30)]
    load(client, records, index_name, space=space)
    before = client.indices.stats(index=index_name)["_all"]["primaries"]["indexing"]["index_total"]
    report = load(client, records, index_name, space=space, enqueue=hints)
    after = client.indices.stats(index=index_name)["_all"]["primaries"]["indexing"]["index_total"]
    assert _sums(report) == (30, 0, 30, 0)
    assert after == before
    assert hints.ids == []


def test_a_changed_record_keeps_its_old_vector_until_a_worker_replaces_it(
    client: OpenSearch, index_name: str, space: Space, record: Made, hints: Any
) -> None:
    old = record(
        1, conditions=("Asthma", "Cough"), interventions=(Intervention("DRUG", "A", "x"),), sex="ALL"
    )
    load(client, [old], index_name, space=space)
    _embed(client, index_name, old, space)
    new = record(1, conditions=("Asthma",), interventions=(Intervention(None, "B"),))
    report = load(client, [new], index_name, space=space, enqueue=hints)
    assert _sums(report) == (1, 1, 0, 0)
    found = _documents(client, index_name)["T0001"]
    assert {key: found[key] for key in new.trial.source()} == new.trial.source()
    assert found[VECTOR_FIELD] == [1, 1, 1, 1]
    kept = found["trifuse"]["fields"][VECTOR_FIELD]["hash"]
    assert kept == text_hash(build_text(old.trial.source(), TRIAL_TEMPLATE))
    assert kept != text_hash(build_text(new.trial.source(), TRIAL_TEMPLATE))
    assert hints.ids == ["T0001"]


def test_a_change_outside_of_the_embedded_text_is_not_hinted(
    client: OpenSearch, index_name: str, space: Space, record: Made, hints: Any
) -> None:
    old = record(1, status="RECRUITING")
    load(client, [old], index_name, space=space)
    _embed(client, index_name, old, space)
    report = load(client, [record(1, status="COMPLETED")], index_name, space=space, enqueue=hints)
    assert _sums(report) == (1, 1, 0, 0)
    assert hints.ids == []


def test_t6_the_last_record_of_an_id_wins_and_is_counted(
    client: OpenSearch, index_name: str, space: Space, record: Made
) -> None:
    """Also where the last is what the index had before: A, B, A."""
    load(client, [record(1, acronym="A")], index_name, space=space)
    items = [record(1, acronym="A"), record(1, acronym="B"), record(1, acronym="A"), record(2)]
    report = load(client, items, index_name, space=space)
    assert _sums(report) == (4, 3, 1, 0)
    assert report.duplicates == 2
    assert _documents(client, index_name)["T0001"]["acronym"] == "A"


def test_t5_drift_of_the_schema_shows(
    client: OpenSearch, index_name: str, space: Space, record: Made
) -> None:
    load(client, [record(n, sponsor="S", acronym="A") for n in range(20)], index_name, space=space)
    drifted = [msgspec.structs.replace(record(n, acronym="A"), unknown=("newModule",)) for n in range(20)]
    few = load(client, drifted[:19], index_name, space=space)
    assert few.newly_empty_fields == []
    report = load(client, drifted, index_name, space=space)
    assert report.newly_empty_fields == ["sponsor"]
    assert report.unknown_fields == {"newModule": 20}


def test_rejected_records_go_to_the_report_and_the_dead_letters(
    client: OpenSearch, index_name: str, space: Space, record: Made, tmp_path: Path
) -> None:
    """A reader's rejection, a mapping error, half a surrogate pair: the rest gets in."""
    items = [
        record(1),
        Rejection("f.json", 2, None, "no study"),
        record(3, start_date="soon"),
        record(4, acronym="x\ud800"),
        record(5),
    ]
    path = tmp_path / "rejected.ndjson"
    report = load(client, items, index_name, space=space, dead_letter=path)
    assert _sums(report) == (5, 2, 0, 3)
    assert report.dead_letter == str(path)
    lines = {line["line"]: line for line in map(msgspec.json.decode, path.read_bytes().splitlines())}
    assert set(lines) == {2, 3, 4}
    assert "start_date" in lines[3]["reason"]
    assert "soon" in lines[3]["reason"]
    assert lines[3]["record"]["start_date"] == "soon"
    assert set(_documents(client, index_name)) == {"T0001", "T0005"}


def test_limit_counts_what_is_read(client: OpenSearch, index_name: str, space: Space, record: Made) -> None:
    items = iter([record(1), Rejection("f.json", 2, None, "no study"), record(3), record(4)])
    report = load(client, items, index_name, space=space, limit=3)
    assert _sums(report) == (3, 2, 0, 1)
    assert [item.trial.nct_id for item in items if isinstance(item, Record)] == ["T0004"]


def test_truncated_texts_are_counted(client: OpenSearch, index_name: str, space: Space, record: Made) -> None:
    report = load(client, [record(1), record(2, brief_summary="x" * 2001)], index_name, space=space)
    assert report.truncated == 1


def test_a_broker_that_is_down_does_not_stop_the_load(
    client: OpenSearch, index_name: str, space: Space, record: Made
) -> None:
    tried = []

    def down(index: str, field: str, space: Space, ids: Sequence[Hint]) -> None:
        tried.append(len(ids))
        raise HintsUndelivered("the broker is down")

    records = [record(n) for n in range(6)]
    report = load(client, records, index_name, space=space, enqueue=down, batch_items=2)
    assert _sums(report) == (6, 6, 0, 0)
    assert (report.hinted, report.hints_error) == (0, "the broker is down")
    assert tried == [2]


class _Busy(Urllib3HttpConnection):
    """A connection whose first two bulk requests are answered 429."""

    left = 2

    def perform_request(self, method: str, url: str, *args: Any, **kwargs: Any) -> Any:
        if url == "/_bulk" and _Busy.left:
            _Busy.left -= 1
            raise TransportError(429, "busy", {})
        return super().perform_request(method, url, *args, **kwargs)


def test_b3_429_then_success(
    services: Any, client: OpenSearch, index_name: str, space: Space, record: Made
) -> None:
    pauses: list[float] = []
    busy = OpenSearch(services.opensearch_url, connection_class=_Busy, max_retries=0)
    report = load(busy, [record(1)], index_name, space=space, retry=Retry(sleep=pauses.append))
    busy.close()
    assert _sums(report) == (1, 1, 0, 0)
    assert len(pauses) == 2
    assert _documents(client, index_name)["T0001"]["_version"] == 1


def test_b4_two_of_a_hundred_fail(
    client: OpenSearch, index_name: str, space: Space, record: Made, tmp_path: Path
) -> None:
    bad = {7: {"enrollment": 2**40}, 70: {"completion_date": "never"}}
    records = [record(n, **bad.get(n, {})) for n in range(100)]
    report = load(client, records, index_name, space=space, dead_letter=tmp_path / "d.ndjson")
    assert _sums(report) == (100, 98, 0, 2)
    assert {rejection.line for rejection in report.rejected} == {7, 70}
    assert len(_documents(client, index_name)) == 98


def test_b5_one_large_record_among_ordinary_ones(
    client: OpenSearch, index_name: str, space: Space, record: Made
) -> None:
    """The server takes 10 MB in a request."""
    records = [record(n) for n in range(301)]
    records[150] = record(150, detailed_description="x" * 25_000_000)
    report = load(client, records, index_name, space=space)
    assert _sums(report) == (301, 300, 0, 1)
    (large,) = report.rejected
    assert large.id == "T0150"
    assert "takes 2500" in large.reason
    assert "10485760 bytes" in large.reason


def _dimensions(dimension: int) -> Space:
    return Space(EncoderSpace("tiny", "r1", "fp32", "cls", dimension, True, "cosine"), TRIAL_TEMPLATE)


def _never() -> Iterator[Record]:
    raise AssertionError("a record was read")
    yield


@pytest.mark.parametrize("with_meta", [True, False], ids=["ours", "by hand"])
def test_b2_model_and_field_of_other_dimensions(client: OpenSearch, index_name: str, with_meta: bool) -> None:
    if with_meta:
        load(client, [], index_name, space=_dimensions(768))
    else:
        method = {"name": "hnsw", "engine": "lucene"}
        vector = {"type": "knn_vector", "dimension": 768, "method": method}
        body = {"settings": {"index.knn": True}, "mappings": {"properties": {VECTOR_FIELD: vector}}}
        client.indices.create(index=index_name, body=body)
    with pytest.raises(SpaceMismatch, match=r"768 dimensions.*makes 384"):
        load(client, _never(), index_name, space=_dimensions(384))


def test_another_space_is_refused_before_anything_is_read(
    client: OpenSearch, index_name: str, space: Space
) -> None:
    load(client, [], index_name, space=space)
    other = Space(EncoderSpace("tiny", "r2", "fp32", "cls", 4, True, "cosine"), TRIAL_TEMPLATE)
    with pytest.raises(SpaceMismatch, match="tiny"):
        load(client, _never(), index_name, space=other)


def test_an_index_of_somebody_else_is_refused(client: OpenSearch, index_name: str, space: Space) -> None:
    client.indices.create(index=index_name)
    with pytest.raises(IndexNotOurs, match="wasn't made by `trifuse load`"):
        load(client, _never(), index_name, space=space)


def test_an_impossible_name_is_refused(client: OpenSearch, space: Space) -> None:
    with pytest.raises(IndexNotOurs, match="can't be the name of an index"):
        load(client, _never(), "Not A Name", space=space)


def test_a_report_adds_up_also_where_a_batch_is_interrupted(
    client: OpenSearch, index_name: str, space: Space, record: Made
) -> None:
    seen: list[LoadReport] = []

    def interrupt(index: str, field: str, space: Space, ids: Sequence[Hint]) -> None:
        if seen:
            raise KeyboardInterrupt

    records = [record(1), Rejection("f.json", 2, None, "no study"), record(3), record(4), record(5)]
    with pytest.raises(KeyboardInterrupt):
        load(
            client,
            records,
            index_name,
            space=space,
            enqueue=interrupt,
            batch_items=2,
            progress=seen.append,
        )
    assert _sums(seen[-1]) == (4, 3, 0, 1)


def test_an_index_that_is_deleted_during_the_load_is_not_made_again(
    client: OpenSearch, index_name: str, space: Space, record: Made
) -> None:
    def items() -> Iterator[Record]:
        yield from (record(n) for n in range(2))
        client.indices.delete(index=index_name)
        yield from (record(n) for n in range(2, 4))

    with pytest.raises(IndexNotOurs, match="can't be read any more"):
        load(client, items(), index_name, space=space, batch_items=2)
    assert not client.indices.exists(index=index_name)


def test_b7_two_loads_of_one_file_at_once(
    services: Any, client: OpenSearch, index_name: str, space: Space, record: Made
) -> None:
    """Each document has one version; what one load wrote, the other counts as unchanged."""
    records = [record(n) for n in range(200)]
    start = threading.Barrier(2)
    reports: list[LoadReport] = []

    def run() -> None:
        own = OpenSearch(services.opensearch_url)
        start.wait()
        reports.append(load(own, records, index_name, space=space, batch_items=10))
        own.close()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    documents = _documents(client, index_name)
    assert len(documents) == 200
    assert {document["_version"] for document in documents.values()} == {1}
    assert [report.rejected for report in reports] == [[], []]
    assert [_sums(report)[0] for report in reports] == [200, 200]
    assert sum(report.indexed for report in reports) == 200


@pytest.mark.parametrize("block", ["write", "read_only_allow_delete"])
def test_an_index_that_takes_no_writes_ends_the_load(
    client: OpenSearch, index_name: str, space: Space, record: Made, block: str
) -> None:
    """Else each batch would wait for all retries, and end in a rejection of every record."""
    seen: list[LoadReport] = []

    def close(report: LoadReport) -> None:
        seen.append(report)
        client.indices.put_settings(index=index_name, body={f"index.blocks.{block}": True})

    records = [record(n) for n in range(6)]
    retry = Retry(retries=1, sleep=lambda _: None)
    with pytest.raises(IndexBlocked, match=r"blocked by.*index\.blocks"):
        load(client, records, index_name, space=space, batch_items=2, progress=close, retry=retry)
    client.indices.put_settings(index=index_name, body={f"index.blocks.{block}": None})
    assert len(seen) == 1
    assert _sums(seen[0]) == (2, 2, 0, 0)
    assert _sums(load(client, records, index_name, space=space)) == (6, 4, 2, 0)
    assert pending_restores(client, index_name) == {}


def test_a_name_of_several_indexes_is_refused(client: OpenSearch, index_name: str, space: Space) -> None:
    for name in ("a", "b"):
        load(client, [], f"{index_name}-{name}", space=space)
        client.indices.put_alias(index=f"{index_name}-{name}", name=f"{index_name}-both")
    with pytest.raises(IndexNotOurs, match="name one of these"):
        load(client, _never(), f"{index_name}-both", space=space)
    with pytest.raises(IndexNotOurs, match="it holds"):
        load(client, _never(), f"{index_name}-*", space=space)
