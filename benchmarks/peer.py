"""A peer in an environment of its own: a process that answers a line of JSON with another.

Peers bring packages that trifuse has no use for, so they live apart from it, in an environment made once:

    uv venv .cache/bench && uv pip install -p .cache/bench/bin/python -r requirements/bench.txt
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "peers"
PYTHON = Path(__file__).parent.parent / ".cache/bench/bin/python"


@contextmanager
def asking(python: Path, script: str, *arguments: str) -> Iterator[Callable[..., Any]]:
    """Start a peer; what is given asks it: keywords become the request, and its answer is returned."""
    if not python.is_file():
        sys.exit(f"no peer at {python}: make its environment first ({Path(__file__).name} says how)")
    command = [str(python), str(FOLDER / script), *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def ask(**request: Any) -> Any:
            assert process.stdin is not None and process.stdout is not None  # noqa: S101
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
            if not answer:
                sys.exit("the peer ended without an answer; its error is above")
            return json.loads(answer)

        try:
            yield ask
        finally:
            process.terminate()
