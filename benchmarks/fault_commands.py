"""Commands of `trifuse` as a user runs them: processes of their own, with their output and their end."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
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


def trifuse(
    *arguments: str,
    environ: Mapping[str, str],
    folder: Path,
    started: Callable[[subprocess.Popen[str]], None],
    full_disk: bool = False,
) -> Ended:
    """Run a command with `--json` and wait for its end.

    Args:
        environ: variables beside our own environment's.
        folder: where it runs.
        started: is given the process, which may be killed.
        full_disk: any file that it writes ends after FILE_LIMIT bytes, as on a full disk.
    """

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, FILE_LIMIT))

    with subprocess.Popen(
        [sys.executable, CLI, *arguments, "--json"],
        env=os.environ | dict(environ) | {"PYTHONDONTWRITEBYTECODE": "1"},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit if full_disk else None,
    ) as process:
        started(process)
        try:
            output, errors = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    try:
        result = json.loads(output)
    except json.JSONDecodeError:
        result = None
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    return Ended(arguments[0], process.returncode, result, lines[-1] if lines else "", "Traceback" in errors)
