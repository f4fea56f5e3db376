"""Writing slows down where OpenSearch has no room, or searches get slow, and recovers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.indexer.reading import search
from trifuse.worker.app import TrifuseCelery, create_app
from trifuse.worker.metrics import read_metrics, sums
from trifuse.worker.pressure import Pressure
from trifuse.worker.settings import Settings

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))

from fault_proxy import proxied

SLOW = "double s = 0; for (int i = 0; i < 250000; ++i) { s += Math.sin(i); } return 1 + Math.abs(s);"


def batch(app: TrifuseCelery, library: Any, number: int) -> float:
    """Embed two documents as a worker does; the seconds that it paused before."""
    before = sums(read_metrics(app.resources.metrics_dir))["paused_s"]
    ids = [f"{number}-{part}" for part in "ab"]
    for doc_id in ids:
        library.put(doc_id, f"The lighthouse {doc_id}")
    task = app.tasks["trifuse.embed"]
    task.run(index=library.name, field=VECTOR_FIELD, ids=[[doc_id, None] for doc_id in ids])
    assert all(VECTOR_FIELD in library.get(doc_id)["_source"] for doc_id in ids)
    return sums(read_metrics(app.resources.metrics_dir))["paused_s"] - before


def test_refusals_slow_writing_down_and_it_recovers(
    library: Any, hash_encoder: Any, services: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with proxied(services.opensearch_url) as proxy:
        settings = Settings(opensearch_url=proxy.url, broker_url="memory://", metrics_dir=str(tmp_path))
        app = create_app(settings)
        app.loader.import_default_modules()
        monkeypatch.setattr(app.resources, "encoder", lambda: hash_encoder)
        assert [batch(app, library, number) for number in range(3)] == [0, 0, 0]

        proxy.storm = "items"
        stormy = [batch(app, library, number) for number in range(3, 6)]
        proxy.storm = ""

        assert proxy.refused >= 3
        assert stormy[0] == 0
        assert 0 < stormy[1] < stormy[2]
        assert app.resources.pressure().pacing.share == 1 / 8
        after = [batch(app, library, number) for number in range(6, 22)]
        assert after[0] > 0  # what the last refused batch demands
        assert after[-1] == 0
        app.resources.client().close()


class Clock:
    """Six seconds pass from batch to batch, and one in each."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time

    def batch(self, pressure: Pressure, client: OpenSearch, index: str) -> float:
        self.time += 5.0
        began = pressure.now()
        self.time += 1.0
        pressure.note(client, index, began=began, crowded=False)
        return pressure.wait()


def test_searches_that_get_slow_slow_writing_down_and_our_own_dont(
    client: OpenSearch, make_library: Callable[..., Any], index_name: str
) -> None:
    library = make_library(index_name)
    for number in range(10):
        library.put(str(number), "The lighthouse")
    client.indices.refresh(index=index_name)
    quick = {"query": {"match_all": {}}, "size": 0}
    slow = {
        "query": {"script_score": {"query": {"match_all": {}}, "script": {"source": SLOW}}},
        "size": 1,
    }

    def users(body: dict[str, Any]) -> None:
        for _ in range(21):
            client.search(index=index_name, body=body)

    clock = Clock()
    pressure = Pressure(clock=clock, sleep=lambda seconds: None)
    pauses = [clock.batch(pressure, client, index_name)]
    users(quick)
    pauses.append(clock.batch(pressure, client, index_name))
    for _ in range(21):
        search(client, index_name, slow)  # as a scan for pending documents does
    pauses.append(clock.batch(pressure, client, index_name))
    assert pauses == [0, 0, 0]
    users(slow)
    assert clock.batch(pressure, client, index_name) > 0
    users(quick)
    for _ in range(10):
        last = clock.batch(pressure, client, index_name)
    assert last == 0
