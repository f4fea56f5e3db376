"""T4: everything before and beside a fault is read, and the fault is named with file and line or member."""

from __future__ import annotations

import gzip
import io
import json
import os
import threading
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from trifuse.indexer.errors import PathNotFound
from trifuse.indexer.readers import Record, Rejection, read_trials, streams
from trifuse.indexer.readers.read import STDIN


def study(number: int, text: str = "A summary.") -> dict[str, Any]:
    return {
        "protocolSection": {
            "identificationModule": {"nctId": f"NCT{number:08}", "briefTitle": f"Trial {number}"},
            "descriptionModule": {"briefSummary": text},
        },
        "hasResults": False,
    }


def xml(number: int) -> bytes:
    nct_id = f"<nct_id>NCT{number:08}</nct_id>"
    return f"<clinical_study>\n<id_info>\n{nct_id}\n</id_info>\n</clinical_study>\n".encode()


def outcome(items: Iterator[Record | Rejection]) -> tuple[list[int], list[Rejection]]:
    """The numbers of the trials that came out, and what was rejected."""
    ids, rejections = [], []
    for item in items:
        if isinstance(item, Record):
            ids.append(int(item.trial.nct_id.removeprefix("NCT")))
        else:
            rejections.append(item)
    return ids, rejections


def read_bytes(data: bytes) -> tuple[list[int], list[Rejection]]:
    return outcome(read_trials([STDIN], stdin=io.BytesIO(data)))


ARRAY = json.dumps([study(n) for n in range(1, 6)], indent=2).encode()
NDJSON = b"".join(json.dumps(study(n)).encode() + b"\n" for n in range(1, 6))
CSV = b"NCT Number,Study Title,Conditions\n" + b"".join(b"NCT%08d,T %d,a|b\n" % (n, n) for n in range(1, 6))


@pytest.mark.parametrize(
    "data",
    [
        ARRAY,
        json.dumps([study(n) for n in range(1, 6)]).encode(),
        NDJSON,
        b"\xef\xbb\xbf" + NDJSON,
        NDJSON.replace(b"\n", b"\r\n\r\n"),
        b"".join(json.dumps(study(n), indent=1).encode() for n in range(1, 6)),
        json.dumps({"studies": [study(n) for n in range(1, 6)], "nextPageToken": "x"}).encode(),
        json.dumps({"totalCount": 5, "studies": [study(n) for n in range(1, 6)]}, indent=1).encode(),
        b"\n".join(json.dumps({"studies": [study(n)]}).encode() for n in range(1, 6)),
        b"\n".join(
            json.dumps({"studies": [study(n)], "nextPageToken": "x"}, indent=1).encode() for n in range(1, 6)
        ),
        CSV,
        CSV.replace(b",", b"\t"),
        CSV.decode().encode("utf-16"),
        b"<all>" + b"".join(xml(n) for n in range(1, 6)) + b"</all>",
        gzip.compress(NDJSON),
        gzip.compress(NDJSON[:100]) + gzip.compress(NDJSON[100:]),
        gzip.compress(gzip.compress(ARRAY)),
    ],
    ids=lambda data: repr(data[:20]),
)
def test_what_is_whole_is_read_whole(data: bytes) -> None:
    assert read_bytes(data) == ([1, 2, 3, 4, 5], [])


def test_t4_an_array_cut_in_an_element() -> None:
    cut = ARRAY.index(b'"Trial 4"')
    ids, (rejection,) = read_bytes(ARRAY[:cut])
    assert ids == [1, 2, 3]
    assert (rejection.source, rejection.line) == ("stdin", 4)
    assert "cut inside" in rejection.reason


def test_t4_an_array_cut_between_elements() -> None:
    data = json.dumps([study(1), study(2)]).encode()[:-1]
    ids, (rejection,) = read_bytes(data)
    assert (ids, rejection.line, rejection.reason) == ([1, 2], 3, "cut here: the array of trials has no end")


def test_t4_an_element_that_is_broken_in_the_middle() -> None:
    ids, (rejection,) = read_bytes(ARRAY.replace(b'"Trial 3"', b"Trial 3"))
    assert (ids, rejection.line) == ([1, 2, 4, 5], 3)


def test_t4_a_quote_that_is_missing_takes_no_other_element_with_it() -> None:
    ids, rejections = read_bytes(ARRAY.replace(b'"Trial 3"', b'"Trial 3'))
    assert ids == [1, 2, 4, 5]
    assert rejections[0].line == 3


def test_t4_ndjson_with_a_bad_line_and_a_cut_one() -> None:
    lines = NDJSON.split(b"\n")
    lines[1] = lines[1].replace(b":", b";")
    ids, rejections = read_bytes(b"\n".join(lines)[:-20])
    assert ids == [1, 3, 4]
    assert [(row.line, row.reason.split(":")[0]) for row in rejections] == [
        (2, "the line is not JSON"),
        (5, "the line is not JSON"),
    ]


def test_t4_a_line_that_is_too_long_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "LARGEST_RECORD", 10_000)
    data = json.dumps(study(1)) + "\n" + json.dumps(study(2, "long " * 100_000)) + "\n" + json.dumps(study(3))
    ids, (rejection,) = read_bytes(data.encode())
    assert (ids, rejection.line) == ([1, 3], 2)
    assert "longer than" in rejection.reason


def test_t4_gzip_cut_and_corrupt() -> None:
    # Text that hardly packs, so that the cut falls between records.
    texts = [" ".join(str(n * k * 7919 % 99991) for k in range(2000)) for n in range(1, 6)]
    packed = gzip.compress(b"".join(json.dumps(study(n, texts[n - 1])).encode() + b"\n" for n in range(1, 6)))
    ids, (rejection,) = read_bytes(packed[: len(packed) * 3 // 4])
    assert ids == [1, 2, 3]
    assert (rejection.line, rejection.reason) == (3, "its gzip data is cut: the end is missing")
    broken = bytearray(packed)
    broken[len(packed) // 2 : len(packed) // 2 + 40] = bytes(40)
    ids, rejections = read_bytes(bytes(broken))
    assert ids[:2] == [1, 2]
    assert "its packed data is corrupt" in rejections[-1].reason


def test_t4_xml_cut() -> None:
    data = b"<all>\n" + xml(1) + xml(2) + xml(3)[:30]
    ids, (rejection,) = read_bytes(data)
    assert (ids, rejection.line) == ([1, 2], 14)
    assert "not well-formed XML, or cut" in rejection.reason


@pytest.mark.parametrize(
    "attack",
    [
        b'<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;">]><clinical_study>&d;</clinical_study>',
        b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><clinical_study>&b;</clinical_study>',
    ],
)
def test_entities_are_not_expanded(attack: bytes) -> None:
    ids, (rejection,) = read_bytes(attack)
    assert ids == []
    assert rejection.reason.startswith("XML that is not read: EntitiesForbidden")


def test_t4_csv_with_rows_of_the_wrong_shape() -> None:
    lines = CSV.split(b"\n")
    lines[2] = b"NCT00000002,too few"
    lines[3] = b'NCT00000003,"a quote that never ends,a|b'
    ids, rejections = read_bytes(b"\n".join(lines))
    assert ids == [1, 4, 5]
    assert [(row.line, row.id) for row in rejections] == [(3, "NCT00000002"), (4, None)]


def test_csv_cells_of_several_lines() -> None:
    data = b'NCT Number,Brief Summary,Conditions\nNCT00000001,"one\ntwo ""quoted""",a\nNCT00000002,three,b\n'
    records = list(read_trials([STDIN], stdin=io.BytesIO(data)))
    assert [(r.trial.brief_summary, r.line) for r in records if isinstance(r, Record)] == [
        ('one\ntwo "quoted"', 2),
        ("three", 4),
    ]


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


MEMBERS = {
    "NCT1.json": json.dumps(study(1)).encode(),
    "a/NCT2.xml": xml(2),
    "b/NCT3.json.gz": gzip.compress(json.dumps(study(3)).encode()),
    "__MACOSX/._NCT1.json": b"\0\1\2",
    "b/.DS_Store": b"\0\1\2",
}


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_a_zip_from_a_file_and_from_a_pipe(tmp_path: Path, method: int) -> None:
    data = zipped(MEMBERS, method)
    (tmp_path / "all.zip").write_bytes(data)
    assert outcome(read_trials([tmp_path / "all.zip"])) == ([1, 2, 3], [])
    assert read_bytes(data) == ([1, 2, 3], [])
    records = [item for item in read_trials([tmp_path / "all.zip"]) if isinstance(item, Record)]
    assert records[1].source == f"{tmp_path / 'all.zip'}!a/NCT2.xml"


def test_t4_a_zip_with_one_bad_member(tmp_path: Path) -> None:
    data = bytearray(zipped(MEMBERS, zipfile.ZIP_STORED))
    at = data.index(b"Trial 1")
    data[at : at + 7] = b"TRIAL 1"  # the checksum is wrong now
    (tmp_path / "bad.zip").write_bytes(data)
    ids, (rejection,) = outcome(read_trials([tmp_path / "bad.zip"]))
    # Where the JSON still parses the checksum is only known at the end, after its trial.
    assert ids in ([2, 3], [1, 2, 3])
    assert rejection.source == f"{tmp_path / 'bad.zip'}!NCT1.json"
    assert "can't be unpacked" in rejection.reason


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_t4_a_zip_cut_in_a_member(tmp_path: Path, method: int) -> None:
    texts = {n: " ".join(str(n * k * 7919 % 99991) for k in range(300)) for n in (1, 2, 3)}
    data = zipped({f"NCT{n}.json": json.dumps(study(n, texts[n])).encode() for n in (1, 2, 3)}, method)
    (tmp_path / "cut.zip").write_bytes(data[: data.index(b"NCT3.json") + 200])
    ids, rejections = outcome(read_trials([tmp_path / "cut.zip"]))
    assert ids == [1, 2]
    assert [(Path(row.source).name, row.reason) for row in rejections] == [
        ("cut.zip!NCT3.json", "the zip is cut inside this member"),
        ("cut.zip", "the zip is cut or corrupt: its directory is missing"),
    ]


def test_a_zip_written_to_a_pipe_and_cut(tmp_path: Path) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: object) -> int:
            raise io.UnsupportedOperation

        def tell(self) -> int:
            raise io.UnsupportedOperation

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:  # sizes follow the members
        for n in (1, 2):
            archive.writestr(f"NCT{n}.json", json.dumps(study(n)))
    data = pipe.getvalue()
    (tmp_path / "cut.zip").write_bytes(data[: data.rindex(b"PK\x01\x02") - 10])
    ids, rejections = outcome(read_trials([tmp_path / "cut.zip"]))
    assert ids == [1, 2]
    assert rejections[-1].reason == "the zip is cut or corrupt: its directory is missing"


def test_a_folder_in_order_with_what_is_no_trial(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "NCT2.json").write_bytes(json.dumps(study(2)).encode())
    (tmp_path / "a.json").write_bytes(json.dumps(study(1)).encode())
    (tmp_path / "c.csv").write_bytes(b"name,value\n1,2\n")
    (tmp_path / "empty.json").write_bytes(b" \n")
    (tmp_path / ".hidden.json").write_bytes(json.dumps(study(9)).encode())
    ids, rejections = outcome(read_trials([tmp_path]))
    assert ids == [1, 2]
    assert [(Path(row.source).name, row.reason.split(":")[0]) for row in rejections] == [
        ("c.csv", "no known format"),
        ("empty.json", "it is empty"),
    ]


def test_what_the_system_refuses_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.json").write_bytes(json.dumps(study(1)).encode())
    (tmp_path / "b.json").write_bytes(json.dumps(study(2)).encode())
    real = Path.open

    def refuse(path: Path, *mode: str) -> Any:
        if path.name == "a.json":
            raise PermissionError(13, "Permission denied")
        return real(path, *mode)

    monkeypatch.setattr(Path, "open", refuse)
    ids, (rejection,) = outcome(read_trials([tmp_path]))
    assert (ids, Path(rejection.source).name) == ([2], "a.json")
    assert rejection.reason == "can't be opened: Permission denied"


def test_a_named_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(zipped(MEMBERS),))
    writer.start()
    assert outcome(read_trials([tmp_path / "pipe"])) == ([1, 2, 3], [])
    writer.join()


def test_the_format_is_known_by_content_not_by_name(tmp_path: Path) -> None:
    (tmp_path / "trials.csv").write_bytes(xml(1))
    (tmp_path / "trials.xml").write_bytes(gzip.compress(CSV))
    assert outcome(read_trials([tmp_path / "trials.csv", str(tmp_path / "trials.xml")]))[0] == [
        1,
        1,
        2,
        3,
        4,
        5,
    ]


def test_t6_the_same_trial_twice_comes_twice() -> None:
    assert read_bytes(NDJSON + NDJSON)[0] == [1, 2, 3, 4, 5, 1, 2, 3, 4, 5]


def test_a_missing_path_is_an_error_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(PathNotFound, match=r"no file or folder '.*nowhere'"):
        read_trials([tmp_path, tmp_path / "nowhere"])
    with pytest.raises(PathNotFound, match="standard input"):
        read_trials([STDIN])


def test_an_office_document_is_rejected_once() -> None:
    ids, (rejection,) = read_bytes(
        zipped({"[Content_Types].xml": b"<Types/>", "xl/workbook.xml": b"<workbook/>"})
    )
    assert (ids, rejection.reason) == ([], "an Office document, no trials: save the sheet as CSV")


def test_packed_over_and_over_is_refused() -> None:
    data = NDJSON
    for _ in range(8):
        data = gzip.compress(data)
    ids, (rejection,) = read_bytes(data)
    assert (ids, rejection.reason) == ([], "packed more than 4 times over")


class Endless(io.RawIOBase):
    """A stream that is written while it is read, with a count of what was taken from it."""

    def __init__(self, first: bytes, item: bytes, repeat: int) -> None:
        self._item, self._left, self._rest = item, repeat, first

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while self._left and len(self._rest) < len(buffer):
            self._rest += self._item
            self._left -= 1
        part, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


@pytest.mark.parametrize(
    ("first", "between"),
    [(b"", b"\n"), (b"[", b",\n"), (b'{"studies": [', b",\n")],
    ids=["ndjson", "array", "page"],
)
def test_t4_memory_is_flat_over_a_long_stream(first: bytes, between: bytes) -> None:
    """24 MB of trials pass through 6 MB: only what is at hand is kept, so 2 GB do as well."""
    item = json.dumps(study(1, "x" * 10_000)).encode() + between
    repeat = (24 << 20) // len(item)
    tracemalloc.start()
    try:
        read = sum(
            isinstance(row, Record) for row in read_trials([STDIN], stdin=Endless(first, item, repeat))
        )  # type: ignore[arg-type]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert read == repeat
    assert peak < 6 << 20


@pytest.mark.parametrize("broken", [b"{bad line}", b'{"nct_id": NCT00000009}'])
def test_t4_ndjson_whose_first_line_is_short_and_bad(broken: bytes) -> None:
    ids, (rejection,) = read_bytes(broken + b"\n" + NDJSON)
    assert ids == [1, 2, 3, 4, 5]
    assert (rejection.line, rejection.reason.split(":")[0]) == (1, "the line is not JSON")


@pytest.mark.parametrize("opening", [b'{"a":', b"["], ids=["objects", "lists"])
def test_a_line_that_is_nested_too_deeply(opening: bytes) -> None:
    closing = b"0}" if opening.endswith(b":") else b"]"
    deep = b'{"nct_id": "NCT00000009", "x": ' + opening * 50_000 + closing * 50_000 + b"}\n"
    ids, (rejection,) = read_bytes(NDJSON + deep + NDJSON)
    assert ids == [1, 2, 3, 4, 5, 1, 2, 3, 4, 5]
    assert (rejection.line, rejection.reason) == (6, "the line is not JSON: it is nested too deeply")


def test_xml_that_is_nested_deeply_takes_no_longer_than_any_of_its_length() -> None:
    """Each element cost a walk through all those around it: 20,000 took 20 seconds."""
    ids, (rejection,) = read_bytes(b"<r>" + b"<a>" * 20_000 + b"</a>" * 20_000 + b"</r>")
    assert (ids, rejection.reason) == ([], "XML with the root <r>, no study; expected <clinical_study>")


def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(json.dumps(study(1)).encode())
    os.mkfifo(tmp_path / "b.json")
    (tmp_path / "c.json").symlink_to(tmp_path / "a.json")
    (tmp_path / "d.json").symlink_to("nowhere")
    ids, rejections = outcome(read_trials([tmp_path]))
    assert ids == [1, 1]
    assert [(Path(row.source).name, row.reason.split(":")[0]) for row in rejections] == [
        ("b.json", "no file but a pipe, socket or device"),
        ("d.json", "can't be opened"),
    ]


def test_names_that_are_no_text_can_be_reported(tmp_path: Path) -> None:
    """A file's name of other bytes than UTF-8, and keys that are half of a surrogate pair."""
    (tmp_path / os.fsdecode(b"caf\xe9.json")).write_bytes(b'{"nct_id": "NCT00000001", "\\udc00": 1}')
    (tmp_path / "fragment.json").write_bytes(b'{"protocolSection": {"\\ud800": {}}}')
    record, rejection = read_trials([tmp_path])
    assert isinstance(record, Record)
    assert Path(record.source).name == "caf\\xe9.json"
    assert record.unknown == ("\\udc00",)
    assert "it holds protocolSection.\\ud800" in rejection.reason  # type: ignore[union-attr]
    msgspec.json.encode([record.source, record.unknown, rejection])


@pytest.mark.parametrize("path", ["a" * 300, "a/" * 3000, "nul\0"])
def test_a_path_that_no_system_has(path: str) -> None:
    with pytest.raises(PathNotFound, match="check the path"):
        read_trials([path])
