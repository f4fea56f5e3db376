"""Where things are kept, and whether there is room."""

from __future__ import annotations

import os
import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from trifuse.deploy.errors import FolderUnreachable, TooLittleDisk
from trifuse.deploy.local.places import LEAST_FREE, MIB, WATERMARKS, home_dir, make_folder, require_disk

Usage = namedtuple("Usage", "total used free")


def test_the_variable_names_the_home() -> None:
    assert home_dir({"TRIFUSE_HOME": "/somewhere"}) == Path("/somewhere")


def test_roots_home_is_one_that_others_can_enter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)

    assert home_dir({}) == Path("/var/lib/trifuse")


def test_anothers_home_is_his_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    assert home_dir({"TRIFUSE_HOME": ""}).name == "trifuse"
    assert home_dir({"TRIFUSE_HOME": ""}) != Path("/var/lib/trifuse")


def test_too_little_disk_says_how_much_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10 * LEAST_FREE, 0, 100 * MIB))

    with pytest.raises(TooLittleDisk) as caught:
        require_disk(tmp_path / "not" / "there" / "yet")

    message = str(caught.value)
    assert message.startswith(f"{tmp_path} has 100 MiB")
    assert "2,048 MiB" in message
    assert "TRIFUSE_HOME" in message


def test_enough_disk_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10 * LEAST_FREE, 0, LEAST_FREE))

    require_disk(tmp_path)


def test_what_is_asked_for_is_above_every_watermark() -> None:
    assert LEAST_FREE > WATERMARKS["low"] > WATERMARKS["high"] > WATERMARKS["flood_stage"]


def test_a_folder_that_cant_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(FolderUnreachable, match=r"file/data can't be made.*TRIFUSE_HOME"):
        make_folder(tmp_path / "file" / "data")
    assert make_folder(tmp_path / "a" / "b").is_dir()


def test_a_folder_that_cant_be_written_to_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)

    with pytest.raises(FolderUnreachable, match="can't be written to"):
        make_folder(tmp_path)
