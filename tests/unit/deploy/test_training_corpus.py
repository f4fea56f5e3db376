"""Collections to train on: their layouts, and texts by id from the disk."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from trifuse.deploy.cli.training_corpus import Corpus, CorpusDocument, read_corpus
from trifuse.deploy.errors import UnreadableCorpus


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            b"d1\tAsthma\tWe studied.\nd2\t\tNo title.\n",
            [("d1", "Asthma", "We studied."), ("d2", "", "No title.")],
        ),
        (b"d1\tWe studied.\r\n\nd2\tNo title.", [("d1", "", "We studied."), ("d2", "", "No title.")]),
        (
            b'{"_id": "d1", "title": "Asthma", "text": "We\\tstudied."}\n{"id": "d2", "text": "No title."}\n',
            [("d1", "Asthma", "We\tstudied."), ("d2", "", "No title.")],
        ),
        (gzip.compress(b"d1\tWe studied.\n"), [("d1", "", "We studied.")]),
    ],
)
def test_layouts(tmp_path: Path, content: bytes, expected: list[tuple[str, str, str]]) -> None:
    path = tmp_path / "corpus"
    path.write_bytes(content)
    assert list(read_corpus(path)) == expected


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"d1\tx\nd2 without a tab\n", "line 2: expected `id<tab>text`"),
        (b"\tno id\n", "line 1: expected"),
        (b'{"_id": 1, "text": "a number"}\n', "line 1: expected"),
        (b'{"_id": "d1", \n', "line 1: no JSON"),
        (b"", "there are no documents in it"),
        (gzip.compress(b"d1\tx\n" * 1000)[:-20], r"can't be read after line \d+"),
    ],
)
def test_what_is_no_collection(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "corpus"
    path.write_bytes(content)
    with pytest.raises(UnreadableCorpus, match=said):
        list(read_corpus(path))


def test_texts_are_found_by_id(tmp_path: Path) -> None:
    def documents() -> Iterator[CorpusDocument]:
        for number in range(25_000):
            yield CorpusDocument(f"d{number}", "", f"text {number}")
        yield CorpusDocument("d7", "again", "the later one stays")

    corpus = Corpus(tmp_path / "corpus.sqlite", documents())
    assert len(corpus) == 25_000
    assert corpus.get("d24999").text == "text 24999"
    assert corpus.get("d7") == ("d7", "again", "the later one stays")
    assert "d1" in corpus
    assert "D1" not in corpus
    assert next(iter(corpus)).id == "d0"
    with pytest.raises(UnreadableCorpus, match="no document 'elsewhere'"):
        corpus.get("elsewhere")
    corpus.close()
