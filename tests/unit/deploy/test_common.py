"""What every command shares: JSON of anything that can be named on a command line, and places to write to."""

from __future__ import annotations

import json
import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest
import typer

from trifuse.deploy.cli.common import emit, require_place, terminable


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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_was_lost_ends_the_command_later(number: signal.Signals) -> None:
    """As one is that comes while an object is finalized: Python drops what is raised there."""
    before = signal.signal(number, signal.default_int_handler)  # it may be ignored here, and then stays so
    try:
        with terminable() as check:
            check()
            with suppress(KeyboardInterrupt):
                signal.raise_signal(number)
            with pytest.raises(KeyboardInterrupt):
                check()
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)
