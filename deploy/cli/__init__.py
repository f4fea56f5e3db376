"""The command line: `trifuse`.

One file a group of commands; `app` gathers them, `common` holds what all of them share.
"""

from __future__ import annotations

from trifuse.deploy.cli.app import main

__all__ = ["main"]
