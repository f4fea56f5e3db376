"""The table of `docs/reliability.md`, from what the fault matrix printed.

python benchmarks/faults.py --json > matrix.json
python benchmarks/fault_table.py matrix.json
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_COUNTS = re.compile(r"(\d+ vectors)|(\d+) texts encoded|(\d+ searches)(?:, (\d+) unavailable)?|(\d+ clicks)")
_AGAIN = re.compile(r"(`\w+`) again")


def short(cell: Mapping[str, Any]) -> str:
    """A cell in a few words.

    >>> short({"ok": True, "detail": "8 vectors, 9 texts encoded; 5 searches, 2 unavailable", "seconds": 1.6})
    'ok: 8 vectors, 9 texts, 5 searches (2 unavailable), 2 s'
    """
    if not cell["ok"]:
        return f"**broken**: {cell['detail']}"
    said = []
    for vectors, texts, searches, unavailable, clicks in _COUNTS.findall(cell["detail"]):
        away = f" ({unavailable} unavailable)" if unavailable else ""
        said.append(vectors or (f"{texts} texts" if texts else "") or searches + away or f"{clicks} once")
    said += [f"{command} again" for command in dict.fromkeys(_AGAIN.findall(cell["detail"]))]
    return f"ok: {', '.join(said)}, {cell['seconds']:.0f} s"


def table(cells: Sequence[Mapping[str, Any]]) -> str:
    """A row a fault, a column a job, in the order in which they ran; empty where there is no such cell."""
    jobs = list(dict.fromkeys(cell["job"] for cell in cells))
    rows = {fault: dict.fromkeys(jobs, "") for fault in dict.fromkeys(cell["fault"] for cell in cells)}
    for cell in cells:
        rows[cell["fault"]][cell["job"]] = short(cell)
    head = [["fault", *jobs], ["---"] * (len(jobs) + 1)]
    return "\n".join(
        f"| {' | '.join(row)} |"
        for row in [*head, *([fault, *by_job.values()] for fault, by_job in rows.items())]
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, help="what `faults.py --json` printed")
    print(table(json.loads(parser.parse_args().file.read_bytes())["cells"]))


if __name__ == "__main__":
    main()
