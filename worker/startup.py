"""What a worker does when it starts, and what makes it refuse to."""

from __future__ import annotations

import logging
import os
import shutil
import signal
from typing import TYPE_CHECKING, Any

import redis
from celery import bootsteps, current_app
from celery.exceptions import WorkerShutdown
from celery.signals import celeryd_init, worker_init, worker_process_init, worker_shutdown

from trifuse.encoder.devices import parse_device, require_one_runtime
from trifuse.encoder.errors import TrifuseError
from trifuse.encoder.registry import open_model
from trifuse.indexer.hints import queue_name
from trifuse.worker.broker import check_broker
from trifuse.worker.errors import BrokerUnsafe
from trifuse.worker.eviction import evicting_store

if TYPE_CHECKING:
    from trifuse.worker.app import TrifuseCelery

logger = logging.getLogger(__name__)

_STORE_S = 2.0


class BrokerCheck(bootsteps.StartStopStep):  # type: ignore[misc]
    """Ask the broker for its policy at every connection: it may have been changed or replaced meanwhile."""

    requires = ("celery.worker.consumer.connection:Connection",)

    def start(self, consumer: Any) -> None:
        """Stop the worker if the broker may evict what it was given."""
        try:
            check_broker(consumer.app.conf.broker_url)
        except BrokerUnsafe as error:
            logger.critical("%s", error)
            raise WorkerShutdown(1) from error


def _ours(app: Any) -> TrifuseCelery | None:
    """The app, if it is trifuse's: signals come for every app of the process."""
    return app if hasattr(app, "resources") else None


@celeryd_init.connect  # type: ignore[untyped-decorator]
def refuse_early(instance: Any, options: dict[str, Any], **_: Any) -> None:
    """Find out before any child starts whether they could: model, runtime, device; and choose the queues."""
    app = _ours(instance.app)
    if app is None:
        return
    settings = app.resources.settings
    try:
        require_one_runtime()
        parse_device(settings.device)
        space = open_model(settings.encoder).space
    except TrifuseError as error:
        raise SystemExit(f"trifuse worker: {error}") from error
    if not options.get("queues"):
        app.amqp.queues.select([app.conf.task_default_queue, queue_name(space)])


@worker_init.connect  # type: ignore[untyped-decorator]
def share_cores(sender: Any, **_: Any) -> None:
    """Tell the children, which are forked later, how many they are and where their counters go."""
    app = _ours(sender.app)
    if app is not None:
        app.resources.parent = os.getpid()
        app.resources.processes = max(1, int(sender.concurrency or 1))
        logger.info("counters are in %s", app.resources.metrics_dir)


@worker_init.connect  # type: ignore[untyped-decorator]
def warn_of_evicting_store(sender: Any, **_: Any) -> None:
    """Say once a worker that counted clicks may be thrown away: it takes clicks all the same."""
    app = _ours(sender.app)
    if app is None:
        return
    with redis.Redis.from_url(
        app.resources.settings.redis_url, socket_timeout=_STORE_S, socket_connect_timeout=_STORE_S
    ) as store:
        if warning := evicting_store(store):
            logger.warning("%s", warning)


@worker_process_init.connect  # type: ignore[untyped-decorator]
def start_encoder(**_: Any) -> None:
    """Make the session in the child, before its first task."""
    app = _ours(current_app._get_current_object())
    if app is None:
        return
    logging.getLogger("opensearch").setLevel(logging.WARNING)  # it logs every request
    try:
        app.resources.encoder()
    except Exception as error:  # Celery would log any of them, and go on
        # A worker that can't compute must not take tasks, and its pool must not start such children for ever.
        expected = isinstance(error, TrifuseError)
        logger.critical("the encoder can't be started: %s", error, exc_info=not expected)
        if os.getpid() == app.resources.parent:
            raise SystemExit(1) from error
        os.kill(app.resources.parent, signal.SIGTERM)


@worker_shutdown.connect  # type: ignore[untyped-decorator]
def remove_counters(sender: Any, **_: Any) -> None:
    """Remove the folder of counters that nobody asked to keep."""
    app = _ours(sender.app)
    if app is not None and app.resources.settings.metrics_dir is None:
        shutil.rmtree(app.resources.metrics_dir, ignore_errors=True)
