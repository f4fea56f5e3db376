"""What the commands that have documents embedded need of the broker."""

from __future__ import annotations

from collections.abc import Callable

from trifuse.deploy.config import Settings, celery_app
from trifuse.encoder.spaces import Space
from trifuse.indexer.hints import Enqueue


def queueing(settings: Settings) -> tuple[Enqueue, Callable[[Space], bool]]:
    """What queues documents for the workers, and what tells whether a worker takes a space's tasks.

    Raises:
        NotConfigured: the settings name no broker.
        BrokerUnsafe, HintsUndelivered: it may throw messages away, or can't be reached.
    """
    # Celery takes half a second to import.
    from trifuse.worker.broker import check_broker
    from trifuse.worker.enqueue import celery_enqueue
    from trifuse.worker.inspection import is_listening

    app = celery_app(settings)
    check_broker(app.conf.broker_url)
    return celery_enqueue(app), lambda space: is_listening(app, space.encoder)
