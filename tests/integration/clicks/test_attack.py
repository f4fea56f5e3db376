"""One visitor can't move a ranking alone, however often he clicks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.clicks.store import ClickStore
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.intake import Intake

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))
from simulator import attack

HOT = "influenza vaccine"
CLICKS = 10_000


@pytest.fixture
def intake(client: OpenSearch, redis_client: Redis, index: str) -> Intake:
    """With the bounds that are the defaults: three visitors make a query public."""
    return Intake(client, redis_client, index)


@pytest.fixture
def hot(index: str, intake: Intake) -> str:
    """The index, with a query that 50 visitors asked: 30 clicked on d1, 20 on d2."""
    report = intake.take(
        ClickEvent(
            query=HOT,
            doc_id="d1" if n < 30 else "d2",
            user=f"v{n}",
            timestamp=time.time(),
            position=1 + (n >= 30),
        )
        for n in range(50)
    )
    assert report.counted == 50
    return index


@pytest.mark.parametrize(("weighting", "order"), [("share", "d1 d2 d9"), ("expected", "d2 d1")])
def test_ten_thousand_clicks_on_one_document_are_one(
    client: OpenSearch, redis_client: Redis, hot: str, intake: Intake, weighting: str, order: str
) -> None:
    report = intake.take(attack(HOT, "d9", CLICKS, at=time.time() - 700))
    assert report.read == report.counted + sum(report.rejected.values())
    assert report.counted <= 2  # the ten minutes may reach over midnight
    settings = ClickSettings(weighting=weighting)
    found = ClickStore(redis_client, client).lookup(hot, HOT, budget_s=5, settings=settings)
    assert list(found.scores) == order.split()
    assert found.frequency == 50 + report.counted


def test_clicks_over_many_spellings_stay_out_of_sight(
    client: OpenSearch,
    redis_client: Redis,
    hot: str,
    intake: Intake,
    past_queries: Callable[[], dict[str, dict[str, Any]]],
) -> None:
    """At most 100 count in a day, and a query of one visitor alone isn't looked up for others."""
    report = intake.take(attack(HOT, "d9", CLICKS, at=time.time() - 700, spellings=500))
    assert report.read == report.counted + sum(report.rejected.values())
    assert report.counted <= 200
    assert [query["normalized"] for query in past_queries().values()] == [HOT]
    certain = ClickSettings(weighting="share", doubt=-1e9)
    found = ClickStore(redis_client, client).lookup(hot, HOT, budget_s=5, settings=certain)
    assert found.scores == pytest.approx({"d1": 1.0, "d2": 2 / 3})
    assert found.frequency == 50
