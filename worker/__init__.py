"""The worker: Celery tasks that embed documents and take in clicks.

`celery -A trifuse.worker.app worker` starts one. What its tasks do can be called without Celery.
"""

from __future__ import annotations

from trifuse.worker.embedding import EmbedReport, embed
from trifuse.worker.errors import BrokerUnsafe, WorkerError
from trifuse.worker.settings import Settings

__all__ = ["BrokerUnsafe", "EmbedReport", "Settings", "WorkerError", "embed"]
