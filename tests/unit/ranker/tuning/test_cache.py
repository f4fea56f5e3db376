"""A cache that can't be used says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from trifuse.ranker.errors import UnreadableInput
from trifuse.ranker.tuning.cache import LegCache


def test_a_file_that_is_no_cache(tmp_path: Path) -> None:
    LegCache(tmp_path).close()
    (file,) = tmp_path.iterdir()
    file.write_bytes(b"no database, but long enough to be looked at" * 100)
    with pytest.raises(UnreadableInput, match=r"can't be used as a cache \(.*\): delete it, or name another"):
        LegCache(tmp_path)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnreadableInput, match="name another folder"):
        LegCache(tmp_path / "file" / "below")
