"""Reading never raises, whatever the bytes; and what was whole stays readable beside what was not."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from trifuse.indexer.readers import Record, Rejection, read_trials
from trifuse.indexer.readers.values import nct_ids
from trifuse.indexer.sentences import sentences_of

DATA = Path(__file__).resolve().parents[2] / "data"
WHOLE = [(DATA / name).read_bytes() for name in ("NCT90000001.json", "NCT90000001.xml")]
STUDY = json.loads(WHOLE[0])


def zipped(data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("one.json", data)
        archive.writestr("two.json", data)
    return file.getvalue()


SEEDS = [
    *WHOLE,
    json.dumps([STUDY, STUDY]).encode(),
    (json.dumps(STUDY) + "\n").encode() * 2,
    b'NCT Number,Study Title\nNCT00000001,"a, b"\nNCT00000002,c\n',
    gzip.compress(WHOLE[0]),
    zipped(WHOLE[0]),
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def read(data: bytes) -> list[Record | Rejection]:
    items = list(read_trials(["-"], stdin=io.BytesIO(data)))
    for item in items:
        if isinstance(item, Record):
            assert nct_ids(item.trial.nct_id) == (item.trial.nct_id,)
            assert list(sentences_of(item.trial)) is not None
            json.dumps(item.trial.source(), allow_nan=False).encode("utf-8")
        else:
            assert item.reason
    return items


@given(st.binary(max_size=400))
def test_random_bytes(data: bytes) -> None:
    assert read(data)


@given(
    st.sampled_from([b"{", b"[{", b"<a>", b"PK\x03\x04", b"\x1f\x8b\x08", b"nct_id,a\n"]),
    st.binary(max_size=200),
)
def test_random_bytes_after_a_known_start(start: bytes, data: bytes) -> None:
    read(start + data)


@settings(max_examples=200)
@given(st.sampled_from(SEEDS), st.data())
def test_damaged_files(seed: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(seed)))
    cut = data.draw(st.integers(0, 40))
    read(seed[:at] + data.draw(st.binary(max_size=6)) + seed[at + cut :])


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys = node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    return [path, *(place for key in keys for place in places(node[key], (*path, key)))]


PLACES = [place for place in places(STUDY) if place]


@settings(max_examples=200)
@given(st.sampled_from(PLACES), VALUES)
def test_a_study_with_any_value_anywhere(place: tuple[Any, ...], value: Any) -> None:
    study = json.loads(WHOLE[0])
    node = study
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = value
    (item,) = read(json.dumps(study).encode("utf-8", "surrogatepass"))
    if "nctId" not in place and len(place) > 2:
        assert isinstance(item, Record)


@given(
    st.dictionaries(
        st.sampled_from(["title", "phase", "interventions", "arms", "references", "enrollment"]), VALUES
    )
)
def test_a_flat_record_with_any_values(row: dict[str, Any]) -> None:
    (item,) = read(json.dumps({"nct_id": "NCT00000001", **row}).encode("utf-8", "surrogatepass"))
    assert isinstance(item, Record)
