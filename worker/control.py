"""What a running worker tells about itself, to `trifuse.worker.inspection` and so to `trifuse status`."""

from __future__ import annotations

import os
import time
from typing import Any

from celery.worker.control import inspect_command

from trifuse.worker.inspection import STATUS_COMMAND
from trifuse.worker.metrics import read_metrics, sums
from trifuse.worker.rates import rates


@inspect_command(name=STATUS_COMMAND)  # type: ignore[untyped-decorator]
def trifuse_status(state: Any, **_: Any) -> dict[str, Any]:
    """The encoder and device in use, the counters of this worker's processes, and how fast they are."""
    resources = state.app.resources
    processes = read_metrics(resources.metrics_dir)
    started = next((process for process in processes if process.provider), None)
    return {
        "pid": os.getpid(),
        "processes": resources.processes,
        "encoder": resources.settings.encoder,
        "device": resources.settings.device,
        "space": started.space if started else "",
        "provider": started.provider if started else "",
        "counters": sums(processes),
        "rates": rates((process.lately for process in processes), time.time()),
    }
