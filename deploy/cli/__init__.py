"""The command line: `trifuse`.

One file a group of commands; `app` gathers them, `common` holds what all of them share.
"""

from __future__ import annotations

import sys

__all__ = ["main"]

INTERRUPTED = 130


def main() -> None:
    """Run the command line; Ctrl-C ends it with one sentence, also while its parts are still imported."""
    try:
        from trifuse.deploy.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("trifuse: interrupted\n")
        sys.exit(INTERRUPTED)
