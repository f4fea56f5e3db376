"""From paths to a stream of records: folders, archives and files, each by what it holds."""

from __future__ import annotations

import codecs
import os
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, BinaryIO

from trifuse.indexer.errors import PathNotFound
from trifuse.indexer.readers.archives import members_of
from trifuse.indexer.readers.json_stream import read_json
from trifuse.indexer.readers.legacy_xml import read_xml
from trifuse.indexer.readers.records import Place, Record, Rejection
from trifuse.indexer.readers.streams import Damaged, chunks_of, peek
from trifuse.indexer.readers.tables import header_of, read_csv
from trifuse.indexer.readers.unpack import gunzip

STDIN = "-"
_ZIP = b"PK\x03\x04"
_HEAD = 1 << 16
_DEEPEST = 4  # a zip of gzips of ... : more is a mistake, or meant to harm
_IN_MEMORY = 1 << 24


def read_trials(
    paths: Sequence[str | Path], *, stdin: BinaryIO | None = None
) -> Iterator[Record | Rejection]:
    """Stream the trials of files, folders (with all that is below, sorted) and archives, in the order given.

    A file's format is known by its content: API v2 JSON (a study, an array, NDJSON, pages), the old API's
    envelopes, legacy XML, the site's CSV export, flat JSONL, Trial2Vec's CSV; each as it is, in gzip or zip.
    Nothing is held in memory but the record at hand. What can't be read comes as a `Rejection`; what stands
    before and beside it comes too. The same trial twice comes twice.

    Args:
        paths: files and folders; `-` is `stdin`.
        stdin: the stream that `-` stands for.

    Raises:
        PathNotFound: before anything is read.
    """
    for path in paths:
        if str(path) == STDIN:
            if stdin is None:
                raise PathNotFound("'-' stands for standard input, but none was given")
        else:
            require_path(path)
    return _read_all(paths, stdin)


def require_path(path: str | Path) -> None:
    """Raises PathNotFound where there is no file or folder, or none that may be looked at."""
    try:
        Path(path).stat()
    except (OSError, ValueError) as error:  # ValueError: a NUL in it
        why = error.strerror if isinstance(error, OSError) else error
        raise PathNotFound(f"no file or folder {shown(path)[:200]!r} ({why}): check the path") from error


def _read_all(paths: Sequence[str | Path], stdin: BinaryIO | None) -> Iterator[Record | Rejection]:
    for path in paths:
        if str(path) == STDIN and stdin is not None:
            yield from _guarded(Place("stdin"), chunks_of(stdin))
            continue
        unlisted: list[OSError] = []
        for file in _files(Path(path), unlisted):
            place = Place(shown(file))
            if file != Path(path) and _is_special(file):
                yield place.reject("no file but a pipe, socket or device: name it itself to have it read")
                continue
            try:
                stream = file.open("rb")
            except OSError as error:
                yield place.reject(f"can't be opened: {error.strerror or error}")
                continue
            with stream:
                yield from _file(place, stream)
        for hidden in unlisted:
            yield Place(shown(hidden.filename)).reject(f"can't be listed: {hidden.strerror or hidden}")


def _file(place: Place, stream: BinaryIO) -> Iterator[Record | Rejection]:
    """The trials of an open file; a zip is read where it stands."""
    is_zip = False
    if stream.seekable():  # a pipe is not
        try:
            is_zip = stream.read(len(_ZIP)) == _ZIP
            stream.seek(0)
        except OSError as error:
            yield place.reject(f"can't be read: {error.strerror or error}")
            return
    yield from _guarded(place, chunks_of(stream), file=stream if is_zip else None)


def _files(path: Path, unlisted: list[OSError]) -> Iterator[Path]:
    """The file itself, or those below a folder in the order of their names; hidden ones are left out."""
    if not path.is_dir():
        yield path
        return
    for folder, folders, names in os.walk(path, onerror=unlisted.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(folder, name) for name in sorted(names) if not name.startswith("."))


def _is_special(file: Path) -> bool:
    """Whether it is there and holds no bytes of its own: to open a pipe in a folder may wait for ever."""
    return file.exists() and not file.is_file()


def shown(path: str | Path) -> str:
    """A path as text that JSON can hold: bytes of a name that aren't UTF-8 are escaped.

    >>> shown("caf\\udce9.json")
    'caf\\\\xe9.json'
    """
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _guarded(
    place: Place, chunks: Iterator[bytes], depth: int = 0, *, file: IO[bytes] | None = None
) -> Iterator[Record | Rejection]:
    """The trials of a stream, or of a zip that can seek; damage is named where it shows."""
    try:
        yield from _members(place, file, depth) if file else _stream(place, chunks, depth)
    except Damaged as damage:
        yield place.reject(str(damage))


def _stream(place: Place, chunks: Iterator[bytes], depth: int) -> Iterator[Record | Rejection]:
    head, chunks = peek(chunks, _HEAD)
    if depth > _DEEPEST:
        yield place.reject(f"packed more than {_DEEPEST} times over")
    elif head.startswith(_ZIP):
        yield from _zip(place, chunks, depth)
    elif head.startswith(b"\x1f\x8b"):
        yield from _stream(place, gunzip(chunks), depth + 1)
    elif head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        yield from _stream(place, _utf8(chunks), depth + 1)
    else:
        yield from _text(place, head, chunks)


def _text(place: Place, head: bytes, chunks: Iterator[bytes]) -> Iterator[Record | Rejection]:
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if not start:
        deque(chunks, maxlen=0)  # what is damaged is not empty
        yield place.reject("it is empty")
    elif start.startswith((b"{", b"[")):
        yield from read_json(chunks, place)
    elif start.startswith(b"<"):
        yield from read_xml(chunks, place)
    elif header := header_of(head):
        yield from read_csv(chunks, place, header)
    else:
        yield place.reject(
            "no known format: expected JSON, NDJSON, XML or CSV (with a column nct_id or NCT Number), "
            f"as it is or in gzip or zip; it starts with {start[:40]!r}"
        )


def _zip(place: Place, chunks: Iterator[bytes], depth: int) -> Iterator[Record | Rejection]:
    """The members of a zip; it is spooled, because its directory stands at its end."""
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
        cut = _spool(chunks, file)
        yield from _members(place, file, depth)
        if cut:
            raise cut


def _members(place: Place, file: IO[bytes], depth: int) -> Iterator[Record | Rejection]:
    for name, member in members_of(file):
        if not _is_hidden(name):
            yield from _guarded(Place(f"{place.source}!{name}"), member, depth + 1)


def _spool(chunks: Iterator[bytes], file: IO[bytes]) -> Damaged | None:
    """Copy what there is; the damage that ended it, to be named after the members."""
    try:
        for chunk in chunks:
            file.write(chunk)
    except Damaged as damage:
        return damage
    finally:
        file.seek(0)
    return None


def _is_hidden(name: str) -> bool:
    """Whether a member is what systems leave in archives: `.DS_Store`, `__MACOSX/`."""
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))


def _utf8(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """UTF-16 as UTF-8: Windows programs save CSV so."""
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    for chunk in chunks:
        yield decoder.decode(chunk).encode("utf-8", "replace")
