"""What every command shares: JSON of anything that can be named on a command line, and places to write to."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import typer

from trifuse.deploy.cli.common import emit, require_place


def test_an_argument_that_is_no_text_is_json_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """What the shell hands over beyond UTF-8 holds lone surrogates."""
    emit({"id": "a\udcff", "title": "ü", "counts": (1, 2)})
    said = capsys.readouterr().out
    assert json.loads(said) == {"id": "a?", "title": "ü", "counts": [1, 2]}


def test_a_file_that_couldnt_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_place(None, "--csv")
    require_place(tmp_path / "x.csv", "--csv")
    with pytest.raises(typer.BadParameter, match="there is no folder"):
        require_place(tmp_path / "none" / "x.csv", "--csv")
    monkeypatch.setattr(os, "access", lambda folder, how: False)  # the superuser may write everywhere
    with pytest.raises(typer.BadParameter, match="nothing may be written to the folder"):
        require_place(tmp_path / "x.csv", "--csv")
