"""`--report FILE` of `load` and `clicks load`: what became of it all, as JSON; rejected records beside it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

ReportOption = Annotated[
    Path | None,
    typer.Option(
        "--report",
        dir_okay=False,
        help="Write the report, as JSON, to this file; rejected records go beside it (.rejected.ndjson).",
    ),
]


def rejected_beside(report: Path) -> Path:
    """The file of the rejected records that belong to a report.

    >>> rejected_beside(Path("report.json")).name
    'report.rejected.ndjson'
    """
    return report.with_suffix(".rejected.ndjson")


def require_writable(path: Path) -> None:
    """Wrong usage where a file can't be written: said before anything is read."""
    if not os.access(path.parent, os.W_OK):
        raise typer.BadParameter(
            f"can't write into {str(path.parent)!r}, where rejected records would go: name a file in a "
            "folder that can be written to",
            param_hint="--report",
        )


def require_apart(report: Path, files: Iterable[str]) -> None:
    """Wrong usage where a report would be written over what is to be read."""
    names = [file for file in files if file != "-"]
    for written in (report, rejected_beside(report)):
        require_not_read(written, "--report", names)


def require_not_read(written: Path | None, option: str, files: Iterable[str | Path]) -> None:
    """Wrong usage where an output would be written over what is to be read."""
    for file in files:
        if written is not None and written.exists() and written.samefile(file):
            raise typer.BadParameter(
                f"it would be written over {str(file)!r}, which is to be read: name another file",
                param_hint=option,
            )


def write_report(report: Path, value: Any) -> None:
    """Write a report, as `--json` shows it."""
    report.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")
