"""Records as documents: hashes, and batches in which no id occurs twice."""

from __future__ import annotations

from trifuse.encoder.marks import EMPTY_HASH
from trifuse.encoder.templates import TextTemplate, text_hash
from trifuse.indexer.prepare import Prepared, batches, canonical, content_hash, embedded_hash, prepare
from trifuse.indexer.readers import Record, Rejection
from trifuse.indexer.trial import Trial

TEMPLATE = TextTemplate(("brief_title",), max_chars=10)


def _record(nct_id: str, title: str | None = "a title") -> Record:
    return Record(Trial(nct_id=nct_id, brief_title=title), "f.json")


def _ready(nct_id: str, title: str | None = "a title") -> Prepared:
    ready = prepare(_record(nct_id, title), TEMPLATE)
    assert isinstance(ready, Prepared)
    return ready


def test_the_hash_is_of_the_content_not_of_the_order_of_keys() -> None:
    assert canonical({"b": 1, "a": {"d": 2, "c": 3}}) == b'{"a":{"c":3,"d":2},"b":1}'
    # sha256 of the empty string, from FIPS 180-4's examples
    assert content_hash(b"") == "e3b0c44298fc1c149afbf4c8996fb924"


def test_another_place_is_the_same_record_another_text_is_not() -> None:
    trial = Trial(nct_id="NCT1", brief_title="x")
    here, there = (prepare(Record(trial, source, line), TEMPLATE) for source, line in (("a", 1), ("b", 2)))
    assert isinstance(here, Prepared)
    assert isinstance(there, Prepared)
    assert here.record_hash == there.record_hash != _ready("NCT1", "y").record_hash


def test_embedded_text_is_cut_and_said_to_be() -> None:
    assert embedded_hash({"brief_title": "0123456789"}, TEMPLATE) == (text_hash("0123456789"), False)
    assert embedded_hash({"brief_title": "0123456789x"}, TEMPLATE) == (text_hash("0123456789"), True)
    assert embedded_hash({"brief_title": None}, TEMPLATE) == (EMPTY_HASH, False)


def test_half_a_surrogate_pair_is_rejected_with_its_place() -> None:
    rejected = prepare(Record(Trial(nct_id="NCT1", brief_title="x\ud800"), "f.json", 7), TEMPLATE)
    assert isinstance(rejected, Rejection)
    assert (rejected.source, rejected.line, rejected.id) == ("f.json", 7, "NCT1")
    assert "'\\ud800'" in rejected.reason


def _ids(batch: list[Prepared | Rejection]) -> list[str | None]:
    return [item.id for item in batch]


def test_t6_a_batch_ends_before_an_id_that_it_has() -> None:
    """So the two are written one after the other, and the later one wins."""
    bad = Rejection("f.json", 3, None, "no study")
    items = [_record("NCT1"), _record("NCT2"), bad, _record("NCT1", "new"), _record("NCT3")]
    cut = [_ids(batch) for batch in batches(items, TEMPLATE, max_items=10, max_bytes=10**6)]
    assert cut == [["NCT1", "NCT2", None], ["NCT1", "NCT3"]]


def test_batches_by_count_and_bytes() -> None:
    items = [_record(f"NCT{n}") for n in range(5)]
    cut = [_ids(batch) for batch in batches(items, TEMPLATE, max_items=2, max_bytes=10**6)]
    assert cut == [["NCT0", "NCT1"], ["NCT2", "NCT3"], ["NCT4"]]
    size = _ready("NCT0").size
    cut = [_ids(batch) for batch in batches(items, TEMPLATE, max_items=9, max_bytes=3 * size)]
    assert cut == [["NCT0", "NCT1", "NCT2"], ["NCT3", "NCT4"]]


def test_a_stream_is_read_no_further_than_the_batch() -> None:
    read: list[int] = []

    def stream() -> object:
        for n in range(10):
            read.append(n)
            yield _record(f"NCT{n}")

    next(batches(stream(), TEMPLATE, max_items=2, max_bytes=10**6))  # type: ignore[arg-type]
    assert read == [0, 1, 2]
