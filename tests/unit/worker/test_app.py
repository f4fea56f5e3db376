"""The Celery app: its configuration, and that importing it does nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest
from celery.beat import Scheduler

from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer.errors import HintsUndelivered
from trifuse.indexer.hints import queue_name
from trifuse.worker.app import VISIBILITY_TIMEOUT_S, create_app
from trifuse.worker.enqueue import EMBED_TASK, celery_enqueue
from trifuse.worker.settings import Settings
from trifuse.worker.tasks import pause_s

SPACE = Space(EncoderSpace("test", "1", "fp32", "cls", 4, True, "cosine"), TextTemplate(("title",)))


def test_settings_come_from_the_environment_and_empty_counts_as_missing() -> None:
    assert Settings.from_env({}) == Settings()
    assert Settings.from_env(
        {
            "OPENSEARCH_URL": "http://search:9200",
            "REDIS_URL": "redis://clicks:6379/0",
            "TRIFUSE_BROKER_URL": "",
            "TRIFUSE_ENCODER": "/models/mine",
            "TRIFUSE_DEVICE": "cuda:1",
        }
    ) == Settings(
        opensearch_url="http://search:9200",
        redis_url="redis://clicks:6379/0",
        broker_url="redis://clicks:6379/0",
        encoder="/models/mine",
        device="cuda:1",
    )


def test_messages_are_small_json_acknowledged_late_and_leave_no_result() -> None:
    conf = create_app(Settings(broker_url="memory://")).conf
    assert (conf.task_serializer, conf.accept_content) == ("json", ["json"])
    assert conf.task_acks_late
    assert conf.task_reject_on_worker_lost
    assert conf.worker_prefetch_multiplier == 1
    assert conf.task_ignore_result
    assert conf.result_backend is None
    assert conf.broker_transport_options["visibility_timeout"] == VISIBILITY_TIMEOUT_S


def test_a_pause_is_shorter_than_the_visibility_timeout() -> None:
    """Else a message that waits for its next try would be delivered a second time."""
    assert all(pause_s(retries) < VISIBILITY_TIMEOUT_S for retries in range(50))


def test_the_sweep_is_scheduled_and_its_message_is_worth_nothing_once_the_next_is_due() -> None:
    conf = create_app(Settings(broker_url="memory://", sweep_s=30)).conf
    scheduled = conf.beat_schedule["sweep"]
    assert (scheduled["task"], scheduled["schedule"]) == ("trifuse.sweep", 30.0)
    assert scheduled["options"] == {"expires": 30.0}
    assert create_app(Settings(broker_url="memory://", sweep_s=0)).conf.beat_schedule == {}


def test_a_beat_that_is_started_sends_the_sweep_at_once() -> None:
    app = create_app(Settings(broker_url="memory://", sweep_s=86_400))
    beat = Scheduler(app=app)
    assert beat.schedule["sweep"].is_due().is_due
    sent: list[str] = []
    app.send_task = lambda name, *_, **__: sent.append(name)  # type: ignore[method-assign]
    assert beat.tick() == 0  # sent
    assert sent == ["trifuse.sweep"]
    assert beat.tick() > 0
    assert sent == ["trifuse.sweep"]


def test_importing_the_app_makes_no_connection_and_reads_no_environment() -> None:
    code = (
        "import socket, os\n"
        "def refuse(*_, **__): raise SystemExit('connected')\n"
        "socket.socket.connect = refuse\n"
        "import trifuse.worker.app as module\n"
        "os.environ['REDIS_URL'] = 'redis://later:6379/0'\n"
        "assert module.app.conf.broker_url == 'redis://later:6379/0'\n"
        "import sys\n"
        "assert 'onnxruntime' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_hints_go_to_the_queue_of_their_space_in_batches() -> None:
    app = create_app(Settings(broker_url="memory://"))
    queue = queue_name(SPACE.encoder)
    celery_enqueue(app, batch=2)("trials", "v", SPACE, [("1", None), ("2", "r"), ("3", None)])
    with app.connection_for_read() as connection:
        messages = connection.SimpleQueue(queue)
        bodies = [messages.get(block=False) for _ in range(2)]
        assert messages.qsize() == 0
    assert [body.headers["task"] for body in bodies] == [EMBED_TASK, EMBED_TASK]
    assert [body.payload[1] for body in bodies] == [
        {"index": "trials", "field": "v", "ids": [["1", None], ["2", "r"]]},
        {"index": "trials", "field": "v", "ids": [["3", None]]},
    ]


def test_a_full_queue_takes_no_more() -> None:
    app = create_app(Settings(broker_url="memory://"))
    space = Space(EncoderSpace("full", "1", "fp32", "cls", 4, True, "cosine"), TextTemplate(("title",)))
    enqueue = celery_enqueue(app, batch=1, max_messages=3)
    enqueue("trials", "v", space, [(str(number), None) for number in range(2)])
    enqueue("trials", "v", space, [(str(number), None) for number in range(5)])
    with app.connection_for_read() as connection:
        assert connection.SimpleQueue(queue_name(space.encoder)).qsize() == 3


def test_a_broker_that_cannot_be_reached_is_told_soon_and_without_its_password() -> None:
    app = create_app(Settings(broker_url="redis://user:secret@127.0.0.1:1/0"))
    with pytest.raises(HintsUndelivered, match="trifuse sync") as caught:
        celery_enqueue(app)("trials", "v", SPACE, [("1", None)])
    assert "secret" not in str(caught.value)
