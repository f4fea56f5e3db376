"""`trifuse` as it is, but for two things that the fault matrix needs: `python fault_cli.py load FILE ...`.

A document that isn't written is queued again after LEASE_S seconds without progress instead of a minute: the
matrix would wait for hours. With FAULTS_TWICE in the environment each message is sent two times.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from trifuse.deploy.cli.app import main
from trifuse.indexer.follow import Patience
from trifuse.worker.app import TrifuseCelery
from trifuse.worker.enqueue import EMBED_TASK

LEASE_S = 5.0
TWICE = "FAULTS_TWICE"


def shorten_leases() -> None:
    """Give every function of the package that waits a shorter lease."""
    patience = Patience(lease_s=LEASE_S)
    importlib.import_module("trifuse.worker.inspection")
    for name, module in list(sys.modules.items()):
        if name.startswith("trifuse."):
            for value in list(vars(module).values()):
                defaults = getattr(value, "__kwdefaults__", None)
                if isinstance(defaults, dict) and isinstance(defaults.get("patience"), Patience):
                    defaults["patience"] = patience


def send_twice() -> None:
    """Have every message of documents sent two times."""
    once = TrifuseCelery.send_task

    def send(self: TrifuseCelery, name: str, *args: Any, **options: Any) -> Any:
        if name == EMBED_TASK:
            once(self, name, *args, **options)
        return once(self, name, *args, **options)

    TrifuseCelery.send_task = send


if __name__ == "__main__":
    shorten_leases()
    if os.environ.get(TWICE):
        send_twice()
    main()
