"""The Celery application: `celery -A trifuse.worker.app worker --concurrency 2`.

A worker that is started without `-Q` listens to the queue of its encoder's space and to the default queue. It
refuses to start where its device or model can't be had, or where the broker may throw messages away.
"""

from __future__ import annotations

import importlib.util
import os
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from celery import Celery

from trifuse.worker.resources import Resources
from trifuse.worker.settings import Settings
from trifuse.worker.startup import BrokerCheck
from trifuse.worker.sweep import SWEEP_TASK

DEFAULT_QUEUE = "trifuse"
"""For tasks that belong to no space."""

VISIBILITY_TIMEOUT_S = 600
"""A message that isn't acknowledged within it is delivered again; longer than any batch and any pause."""

_TASK_MODULES = ("trifuse.worker.tasks", "trifuse.worker.clicks.tasks", "trifuse.worker.control")


class TrifuseCelery(Celery):  # type: ignore[misc]
    """A Celery app that knows its settings and holds what its process works with."""

    def __init__(self, settings: Settings | None = None) -> None:
        self._given = settings
        super().__init__("trifuse", include=list(_existing(_TASK_MODULES)))
        self.add_defaults(self._configuration)
        self.steps["consumer"].add(BrokerCheck)

    @cached_property
    def resources(self) -> Resources:
        """This process's client and encoder, with the settings that were given, else the environment's."""
        return Resources(self._given or Settings.from_env(os.environ))

    def _configuration(self) -> dict[str, Any]:
        return configuration(self.resources.settings)


def configuration(settings: Settings) -> dict[str, Any]:
    """Celery's configuration: messages are JSON, small, acknowledged after the work, and leave no result."""
    return {
        "broker_url": settings.broker_url,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "broker_transport_options": {
            "visibility_timeout": VISIBILITY_TIMEOUT_S,
            "socket_keepalive": True,
            # A host that swallows packets, or speaks no TLS, must not hold a load for minutes.
            "socket_connect_timeout": 5.0,
            "socket_timeout": 30.0,
            "health_check_interval": 30,
            # Who sends a hint doesn't wait long for a broker that is away; a worker waits for ever.
            "max_retries": 2,
            "interval_start": 0.0,
            "interval_step": 0.2,
            "interval_max": 0.5,
        },
        "task_default_queue": DEFAULT_QUEUE,
        "task_serializer": "json",
        "accept_content": ["json"],
        "task_ignore_result": True,
        "result_backend": None,
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "worker_prefetch_multiplier": 1,
        # A task whose broker went away ends its work; the message comes again, and finds it done.
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        # Starting a model takes longer than the 4 s that Celery gives a child.
        "worker_proc_alive_timeout": 120.0,
        "worker_hijack_root_logger": False,
        "worker_send_task_events": False,
        "beat_schedule": beat_schedule(settings.sweep_s),
        # In memory: what would be found in a file after a restart is of no use.
        "beat_scheduler": "celery.beat:Scheduler",
    }


def beat_schedule(sweep_s: int) -> dict[str, Any]:
    """What `celery beat` sends: the sweep, at its start and every `sweep_s` seconds; nothing for 0.

    A message that no worker took before the next one comes is thrown away by who takes it then.
    """
    if not sweep_s:
        return {}
    return {
        "sweep": {
            "task": SWEEP_TASK,
            "schedule": float(sweep_s),
            "options": {"expires": float(sweep_s)},
            # Long ago: else beat waits for an interval after each of its starts.
            "last_run_at": datetime.fromtimestamp(0, UTC),
        }
    }


def create_app(settings: Settings | None = None) -> TrifuseCelery:
    """An app on these settings; without any, on the environment's, read when first needed."""
    return TrifuseCelery(settings)


def _existing(modules: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in modules if importlib.util.find_spec(name) is not None)


app = create_app()
