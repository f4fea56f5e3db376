"""What to try next."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from trifuse.deploy.demo.advice import next_commands, program


def test_the_sample_has_more_queries() -> None:
    assert next_commands(["demo", "demo-trifuse-sentences"], "kidney failure", sample=True) == [
        "trifuse search demo 'kidney failure' --explain",
        "trifuse search demo-trifuse-sentences 'kidney failure'",
        "trifuse search demo 'high blood sugar'",
        "trifuse status",
        "trifuse down",
    ]


def test_of_ones_own_files_only_the_query_is_known() -> None:
    assert next_commands(["mine"], "asthma", sample=False) == [
        "trifuse search mine asthma --explain",
        "trifuse status",
        "trifuse down",
    ]


def test_trifuse_is_called_as_it_was_where_the_path_lacks_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "argv", [".venv of mine/bin/trifuse", "demo"])
    called = program()
    assert shlex.split(called) == [".venv of mine/bin/trifuse"]
    assert next_commands(["mine"], "asthma", sample=False, program=called)[-1] == f"{called} down"

    monkeypatch.setattr(sys, "argv", ["-c", "demo"])
    assert program() == "trifuse"

    monkeypatch.setattr(sys, "argv", [".venv/bin/trifuse", "demo"])
    (tmp_path / "trifuse").touch(mode=0o755)
    assert program() == "trifuse"
