"""Which documents are pending: by their marks, without a server."""

from __future__ import annotations

import pytest

from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.templates import TextTemplate, text_hash
from trifuse.indexer.pending import Mark, mark_of, state_of, wanted_mark
from trifuse.indexer.scan import Pending
from trifuse.indexer.verdicts import is_written

SPACE = Space(EncoderSpace("test", "1", "fp32", "cls", 4, True, "cosine"), TextTemplate(("title", "name")))
WANTED = Mark(SPACE.id, text_hash("A\nB"))
OTHER_TEXT = Mark(SPACE.id, text_hash("A"))
OTHER_SPACE = Mark("other", WANTED.hash)
EMPTY = Mark(SPACE.id, "empty")


@pytest.mark.parametrize(
    ("mark", "wanted", "has_vector", "state"),
    [
        (None, WANTED, False, "missing"),
        (None, WANTED, True, "missing"),
        (WANTED, WANTED, True, "current"),
        (WANTED, WANTED, False, "missing"),
        (OTHER_TEXT, WANTED, True, "stale"),
        (OTHER_SPACE, WANTED, True, "missing"),
        (EMPTY, EMPTY, False, "empty"),
        (EMPTY, EMPTY, True, "missing"),
        (EMPTY, WANTED, False, "stale"),
        (WANTED, EMPTY, True, "stale"),
        (None, EMPTY, False, "missing"),
    ],
)
def test_state_of(mark: Mark | None, wanted: Mark, has_vector: bool, state: str) -> None:
    assert state_of(mark, wanted, has_vector=has_vector) == state


def test_wanted_mark_is_of_the_text_or_of_emptiness() -> None:
    assert wanted_mark({"title": " A ", "name": "B"}, SPACE) == ("A\nB", WANTED)
    assert wanted_mark({"title": "  "}, SPACE) == ("", EMPTY)


@pytest.mark.parametrize(
    "source",
    [
        {},
        {"trifuse": None},
        {"trifuse": {"record": "x"}},
        {"trifuse": {"fields": {"other": {"space": "s", "hash": "h"}}}},
        {"trifuse": {"fields": {"v": {"space": "s"}}}},
        {"trifuse": {"fields": {"v": None}}},
    ],
)
def test_a_document_without_a_whole_mark_has_none(source: dict[str, object]) -> None:
    assert mark_of(source, "v") is None


def test_mark_of_a_document() -> None:
    assert mark_of({"trifuse": {"fields": {"v": {"space": "s", "hash": "h"}}}}, "v") == Mark("s", "h")


@pytest.mark.parametrize(
    ("state", "before", "now", "seq_no", "written"),
    [
        ("missing", None, WANTED, 8, True),
        ("missing", None, OTHER_SPACE, 8, False),
        ("missing", WANTED, WANTED, 8, True),  # it had the mark, and no vector
        ("missing", WANTED, WANTED, 7, False),
        ("stale", OTHER_TEXT, WANTED, 8, True),
        ("stale", OTHER_TEXT, OTHER_TEXT, 8, False),  # its owner wrote another field
    ],
)
def test_is_written(state, before, now, seq_no, written) -> None:
    item = Pending("1", None, seq_no=7, mark=before, state=state, failed=None)
    assert is_written(item, now, seq_no, SPACE) is written
