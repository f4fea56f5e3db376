"""What the task does with what `embed` says: try again, drop, or be content."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from celery.exceptions import Retry
from opensearchpy.exceptions import ConnectionError as OpenSearchConnectionError
from opensearchpy.exceptions import RequestError, SSLError, TransportError

from trifuse.encoder.errors import EncodingFailed, SpaceMismatch
from trifuse.indexer.errors import IndexMissing, ServerUnavailable
from trifuse.worker import tasks
from trifuse.worker.app import TrifuseCelery, create_app
from trifuse.worker.embedding import EmbedReport
from trifuse.worker.metrics import read_metrics, sums
from trifuse.worker.settings import Settings

IDS = [["1", None], ["2", "shelf"]]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TrifuseCelery:
    app = create_app(Settings(broker_url="memory://", metrics_dir=str(tmp_path)))
    monkeypatch.setattr(app.resources, "encoder", lambda: None)
    return app


def run(app: TrifuseCelery, monkeypatch: pytest.MonkeyPatch, answer: Any) -> list[Any]:
    """Run the task once; what `embed` was called with."""
    asked: list[Any] = []

    def embed(client: object, encoder: object, *arguments: Any) -> EmbedReport:
        asked.append(arguments)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(tasks, "embed", embed)
    task = app.tasks["trifuse.embed"]
    arguments = {"index": "trials", "field": "v", "ids": IDS}
    task.push_request(called_directly=False, id="1", kwargs=arguments, delivery_info={"routing_key": "q"})
    try:
        task.run(**arguments)
    finally:
        task.pop_request()
    return asked


def test_ids_arrive_with_their_routing(app, monkeypatch, tmp_path) -> None:
    asked = run(app, monkeypatch, EmbedReport(embedded=1, failed=1))
    assert asked == [("trials", "v", [("1", None), ("2", "shelf")])]
    counters = sums(read_metrics(tmp_path))
    assert (counters["tasks"], counters["embedded"], counters["failed"]) == (1, 1, 1)


@pytest.mark.parametrize("error", [SpaceMismatch("other"), IndexMissing("gone")])
def test_what_no_repetition_helps_is_dropped_and_logged(app, monkeypatch, caplog, error) -> None:
    run(app, monkeypatch, error)
    assert f"dropped 2 hints: {error}" in caplog.text


@pytest.mark.parametrize(
    "error",
    [
        ServerUnavailable("away"),
        EncodingFailed("out of memory"),
        OpenSearchConnectionError("N/A", "refused", OSError("refused")),
        TransportError(429, "too_many_requests", {}),
        TransportError(503, "unavailable", {}),
    ],
)
def test_what_may_go_well_later_is_tried_again(app, monkeypatch, tmp_path, error) -> None:
    with pytest.raises(Retry) as caught:
        run(app, monkeypatch, error)
    assert caught.value.sig.kwargs["ids"] == IDS
    assert caught.value.sig.options["routing_key"] == "q"
    assert sums(read_metrics(tmp_path))["retried"] == 1


@pytest.mark.parametrize(
    "error", [RequestError(400, "parse", {}), SSLError("N/A", "certificate", OSError("x"))]
)
def test_what_is_wrong_stays_an_error(app, monkeypatch, error) -> None:
    with pytest.raises(type(error)):
        run(app, monkeypatch, error)


def test_only_what_is_unfinished_is_tried_again(app, monkeypatch) -> None:
    with pytest.raises(Retry) as caught:
        run(app, monkeypatch, EmbedReport(embedded=1, unfinished=(("2", "shelf"),)))
    assert caught.value.sig.kwargs == {"index": "trials", "field": "v", "ids": [("2", "shelf")]}
