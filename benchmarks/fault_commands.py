"""Commands of `trifuse` as a user runs them: processes of their own, with their output and their end."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CLI = Path(__file__).with_name("fault_cli.py")
FILE_LIMIT = 512
"""Bytes that a command may write into a file whose disk is full."""

TIMEOUT_S = 240.0


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Args:
        command: its name.
        result: what it wrote with `--json`; None where it wrote none.
        said: its last line on stderr.
        traceback: whether it ended as no command may: by an exception that nobody caught.
    """

    command: str
    status: int
    result: dict[str, Any] | None
    said: str
    traceback: bool


def trifuse(*arguments: str, environ: Mapping[str, str], folder: Path, full_disk: bool = False) -> Ended:
    """Run a command with `--json` and wait for its end.

    Args:
        environ: variables beside our own environment's.
        folder: where it runs.
        full_disk: any file that it writes ends after FILE_LIMIT bytes, as on a full disk.
    """

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, FILE_LIMIT))

    done = subprocess.run(
        [sys.executable, CLI, *arguments, "--json"],
        env=os.environ | dict(environ) | {"PYTHONDONTWRITEBYTECODE": "1"},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        preexec_fn=limit if full_disk else None,
        check=False,
    )
    try:
        result = json.loads(done.stdout)
    except json.JSONDecodeError:
        result = None
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return Ended(
        arguments[0], done.returncode, result, lines[-1] if lines else "", "Traceback" in done.stderr
    )
