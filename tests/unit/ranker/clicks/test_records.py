"""Records of clicks: their bytes, their sums, and compaction."""

from __future__ import annotations

import hashlib
import math
import struct
from collections import defaultdict
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.ranker.clicks.records import (
    RECORD_BYTES,
    Sums,
    compacted,
    compacted_all,
    decode,
    doc_hash,
    merged,
    pack,
)

DAY = 86_400
NOW = 1_750_000_000
A, B, C = (doc_hash(doc) for doc in ("a", "b", "c"))
Rows = dict[tuple[int, bytes], tuple[float, float]]


def rows(sums: Sums) -> Rows:
    return {
        (int(query), int(sums.docs[doc]).to_bytes(8, "little")): (clicks, expected)
        for doc, query, clicks, expected in zip(
            sums.doc, sums.query, sums.clicks.tolist(), sums.expected.tolist(), strict=True
        )
    }


def reference(strings: Sequence[bytes], now: float, half_life: float) -> Rows:
    """The sums, record by record."""
    found: dict[tuple[int, bytes], list[tuple[float, float]]] = defaultdict(list)
    for query, data in enumerate(strings):
        for doc, time, clicks, expected in struct.iter_unpack("<8sIff", data):
            weight = 2.0 ** ((time - now) / (half_life * DAY))
            found[query, doc].append((clicks * weight, expected * weight))
    return {
        key: (math.fsum(c for c, _ in many), math.fsum(e for _, e in many)) for key, many in found.items()
    }


def close(got: Rows, wanted: Rows, rel: float) -> bool:
    return got.keys() == wanted.keys() and all(
        values == pytest.approx(wanted[key], rel=rel, abs=1e-30) for key, values in got.items()
    )


records = st.builds(
    pack,
    st.integers(0, 5).map(lambda n: doc_hash(f"d{n}")),
    st.integers(NOW - 400 * DAY, NOW + DAY),
    st.one_of(st.just(0.0), st.integers(1, 1000).map(float)),
    st.floats(0.0, 20.0, width=32),
)
strings = st.lists(records, max_size=30).map(b"".join)
half_lives = st.sampled_from([1 / 24, 1.0, 7.0, 90.0])


# --- one record ---


def test_a_documents_hash_is_8_bytes_of_blake2b() -> None:
    assert doc_hash("NCT00000102") == hashlib.blake2b(b"NCT00000102", digest_size=8).digest()
    assert len(doc_hash("\ud800")) == 8


def test_the_bytes_of_a_record() -> None:
    data = pack(bytes(range(8)), 258.9, 2.0, 0.5)
    assert data.hex(" ", 4) == "00010203 04050607 02010000 00000040 0000003f"
    (record,) = decode(data)
    assert int(record["doc"]).to_bytes(8, "little") == bytes(range(8))
    assert (record["time"], record["clicks"], record["expected"]) == (258, 2.0, 0.5)


def test_a_time_before_1970_or_after_2106_is_the_nearest_that_fits() -> None:
    assert decode(pack(A, -5.0, 1, 0) + pack(A, 1e12, 1, 0))["time"].tolist() == [0, 2**32 - 1]


def test_more_clicks_than_a_float_holds_are_the_most_that_it_holds() -> None:
    (record,) = decode(pack(A, 0, 1e300, 1e300))
    assert record["clicks"] == record["expected"] == pytest.approx(3.4028235e38)


# --- sums ---


def test_records_of_several_ages_add_up() -> None:
    # 3 clicks now, 4 a half-life ago, 8 three half-lives ago: 3 + 2 + 1; expected 0.5 of a half-life ago
    data = pack(A, NOW, 3, 0) + pack(A, NOW - 10 * DAY, 4, 0.5) + pack(A, NOW - 30 * DAY, 8, 0)
    assert rows(merged([data], NOW, 10)) == {(0, A): (6.0, 0.25)}


def test_a_record_of_a_later_time_weighs_as_it_will_then() -> None:
    assert rows(merged([pack(A, NOW + 10 * DAY, 1, 0)], NOW, 10)) == {(0, A): (2.0, 0.0)}


def test_sums_of_no_time_are_as_of_each_strings_newest_record() -> None:
    """The first's newest is a half-life younger than its other record; the second has one, long ago."""
    strings = [pack(A, NOW, 4, 2) + pack(B, NOW + 10 * DAY, 0, 1), None, pack(A, NOW - 900 * DAY, 3, 0)]
    assert rows(merged(strings, None, 10)) == {(0, A): (2.0, 1.0), (0, B): (0.0, 1.0), (2, A): (3.0, 0.0)}


def test_each_query_has_its_own_sums() -> None:
    got = rows(merged([pack(A, NOW, 1, 0) + pack(B, NOW, 2, 0), None, b"", pack(A, NOW, 4, 0)], NOW, 90))
    assert got == {(0, A): (1.0, 0.0), (0, B): (2.0, 0.0), (3, A): (4.0, 0.0)}


def test_rows_are_by_document_and_then_by_query() -> None:
    one, two = sorted((A, B), key=lambda doc: int.from_bytes(doc, "little"))
    sums = merged([pack(two, NOW, 1, 0), pack(one, NOW, 2, 0) + pack(two, NOW, 4, 0)], NOW, 90)
    assert [int(doc).to_bytes(8, "little") for doc in sums.docs] == [one, two]
    assert sums.doc.tolist() == [0, 1, 1]
    assert sums.query.tolist() == [1, 0, 1]
    assert sums.clicks.tolist() == [2.0, 1.0, 4.0]


@pytest.mark.parametrize("strings", [[], [None], [b""], [None, b"odd"]])
def test_nothing_adds_up_to_nothing(strings: list[bytes | None]) -> None:
    sums = merged(strings, NOW, 90)
    assert [len(part) for part in sums] == [0] * 5


@pytest.mark.parametrize("damage", [b"x", b"x" * 19, b"x" * 21])
def test_of_a_string_that_is_no_whole_number_of_records_nothing_is_known(damage: bytes) -> None:
    good = pack(A, NOW, 1, 0)
    assert len(decode(good + damage)) == 0
    assert rows(merged([good + damage, good], NOW, 90)) == {(1, A): (1.0, 0.0)}
    assert compacted(good + damage, 90, 10) == b""


@pytest.mark.parametrize("clicks, expected", [(-1, 0), (0, -1), (math.nan, 0), (0, math.nan), (math.inf, 0)])
def test_what_is_no_count_is_left_out(clicks: float, expected: float) -> None:
    data = struct.pack("<8sIff", A, NOW, clicks, expected) + pack(B, NOW, 1, 0)
    assert rows(merged([data], NOW, 90)) == {(0, B): (1.0, 0.0)}
    assert compacted(data, 90, 10) == pack(B, NOW, 1, 0)


@given(st.lists(st.binary(max_size=100), max_size=4), half_lives)
def test_any_bytes_have_finite_sums(data: list[bytes], half_life: float) -> None:
    sums = merged(data, 0.0, half_life)
    for part in (sums.clicks, sums.expected):
        assert all(math.isfinite(value) and value >= 0 for value in part)
    for each in data:
        assert len(compacted(each, half_life, 3)) <= 3 * RECORD_BYTES


@given(st.lists(strings, max_size=5), half_lives)
def test_sums_are_those_of_every_record(data: list[bytes], half_life: float) -> None:
    assert close(rows(merged(data, NOW, half_life)), reference(data, NOW, half_life), 1e-12)


@given(
    st.lists(records, max_size=40).flatmap(lambda r: st.tuples(st.just(r), st.permutations(r))), half_lives
)
def test_the_order_of_records_changes_a_sum_by_less_than_1e_12(
    orders: tuple[list[bytes], list[bytes]], half_life: float
) -> None:
    one, other = (rows(merged([b"".join(order)], NOW, half_life)) for order in orders)
    assert close(one, other, 1e-12)


# --- compaction ---


def test_a_compacted_document_stands_as_of_its_latest_time() -> None:
    # as of now: 4 clicks a half-life ago are 2, with 1 now 3; expected 0.5 is 0.25, with 0.25 a half
    data = pack(A, NOW - 10 * DAY, 4, 0.5) + pack(B, NOW, 2, 0) + pack(A, NOW, 1, 0.25)
    assert compacted(data, 10, 10) == pack(A, NOW, 3, 0.5) + pack(B, NOW, 2, 0)


def test_the_best_are_kept_and_those_never_clicked_come_last() -> None:
    # 3 clicks of two half-lives ago are worth less than one of now
    shown = pack(doc_hash("shown"), NOW, 0, 9)
    little = pack(doc_hash("little"), NOW, 0, 1)
    data = little + pack(A, NOW - 20 * DAY, 3, 0) + shown + pack(B, NOW, 1, 0)
    best = [pack(B, NOW, 1, 0), pack(A, NOW - 20 * DAY, 3, 0), shown, little]
    for kept in range(5):
        assert compacted(data, 10, kept) == b"".join(best[:kept])


def test_equals_are_in_the_order_of_their_hashes() -> None:
    data = b"".join(pack(doc, NOW, 1, 0) for doc in (C, A, B))
    first = min((A, B, C), key=lambda doc: int.from_bytes(doc, "little"))
    assert compacted(data, 90, 1) == pack(first, NOW, 1, 0)


@given(strings, strings, half_lives)
def test_compaction_changes_a_sum_by_less_than_1e_7(one: bytes, more: bytes, half_life: float) -> None:
    made = compacted(one, half_life, 10)
    docs = {doc for doc, *_ in struct.iter_unpack("<8sIff", one)}
    assert len(made) == RECORD_BYTES * len(docs)
    later = NOW + 3 * DAY
    got = rows(merged([made + more], later, half_life))
    assert close(got, rows(merged([one + more], later, half_life)), 1e-7)


@given(st.lists(st.one_of(strings, st.binary(max_size=50)), max_size=5), half_lives)
def test_many_are_compacted_as_each_is_alone(data: list[bytes], half_life: float) -> None:
    assert compacted_all(data, half_life, 3) == [compacted(one, half_life, 3) for one in data]


@given(strings, half_lives)
def test_compacting_again_changes_nothing(data: bytes, half_life: float) -> None:
    once = compacted(data, half_life, 4)
    assert compacted(once, half_life, 4) == once
