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
from trifuse.worker.sweep import SweepReport

IDS = [["1", None], ["2", "shelf"]]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TrifuseCelery:
    app = create_app(Settings(broker_url="memory://", metrics_dir=str(tmp_path)))
    monkeypatch.setattr(app.resources, "encoder", lambda: None)
    return app


def run(
    app: TrifuseCelery, monkeypatch: pytest.MonkeyPatch, answer: Any, *, ids: list[Any] = IDS, again: int = 0
) -> list[Any]:
    """Run the task once, its message having come `again` so often; what `embed` was called with."""
    asked: list[Any] = []

    def embed(client: object, encoder: object, *arguments: Any) -> EmbedReport:
        asked.append(arguments)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(tasks, "embed", embed)
    monkeypatch.setattr(tasks, "redelivery", lambda request, url: again)
    task = app.tasks["trifuse.embed"]
    arguments = {"index": "trials", "field": "v", "ids": ids}
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


def test_a_message_that_came_again_is_tried_once_more(app, monkeypatch) -> None:
    assert len(run(app, monkeypatch, EmbedReport(embedded=2), again=1)) == 1
    assert len(run(app, monkeypatch, EmbedReport(embedded=1), again=2, ids=IDS[:1])) == 1


def test_the_second_time_each_of_its_documents_gets_a_message_of_its_own(app, monkeypatch) -> None:
    assert run(app, monkeypatch, EmbedReport(), again=2) == []
    with app.connection_for_read() as connection:
        messages = connection.SimpleQueue("q")
        sent = [messages.get(block=False).payload[1]["ids"] for _ in range(2)]
    assert sent == [[["1", None]], [["2", "shelf"]]]


def test_the_third_time_a_single_document_is_given_up(app, monkeypatch, tmp_path) -> None:
    given_up: list[Any] = []

    def give_up(client: object, *arguments: Any) -> int:
        given_up.append(arguments)
        return 1

    monkeypatch.setattr(tasks, "give_up", give_up)
    assert run(app, monkeypatch, EmbedReport(), again=3, ids=IDS[1:]) == []
    reason = "the process that embedded it was killed 3 times: too little memory for it?"
    assert given_up == [("trials", "v", [("2", "shelf")], reason)]
    assert sums(read_metrics(tmp_path))["failed"] == 1


def test_no_room_is_kept_in_mind_and_a_model_that_fails_is_not(app, monkeypatch) -> None:
    for error, share in ((EncodingFailed("memory"), 1.0), (TransportError(429, "full", {}), 0.5)):
        with pytest.raises(Retry):
            run(app, monkeypatch, error)
        assert app.resources.pressure().pacing.share == share


def sweep_once(
    app: TrifuseCelery, monkeypatch: pytest.MonkeyPatch, todo: tuple[str, ...], **arguments: Any
) -> dict[str, Any]:
    """Run the sweep once, in its turn, leaving `todo`; what became of it."""
    done: dict[str, Any] = {}

    def sweep(*_: object, names: list[str] | None) -> SweepReport:
        done["names"] = names
        return SweepReport({}, (), {}, todo, took_s=5.0)

    def take_turn(url: str, sweep: str, *, begins: bool) -> bool:
        done["turn"] = (sweep, begins)
        return True

    monkeypatch.setattr(tasks, "sweep", sweep)
    monkeypatch.setattr(
        tasks, "take_turn", lambda url, sweep, begins: done.update(turn=(sweep, begins)) or True
    )
    monkeypatch.setattr(tasks, "end_turns", lambda url, sweep: done.update(ended=sweep))
    task = app.tasks["trifuse.sweep"]
    monkeypatch.setattr(task, "apply_async", lambda **how: done.update(sent=how))
    task.push_request(called_directly=False, id="message")
    try:
        task.run(**arguments)
    finally:
        task.pop_request()
    return done


def test_a_sweep_sends_itself_what_is_left_with_a_rest_for_embedding(app, monkeypatch) -> None:
    assert sweep_once(app, monkeypatch, ("b", "a")) == {
        "turn": ("message", True),
        "names": None,
        "sent": {"kwargs": {"names": ["b", "a"], "sweep_id": "message"}, "countdown": 15.0},
    }


def test_a_sweep_that_comes_to_its_end_lets_another_begin(app, monkeypatch) -> None:
    assert sweep_once(app, monkeypatch, (), names=["a"], sweep_id="first") == {
        "turn": ("first", False),
        "names": ["a"],
        "ended": "first",
    }
