"""Live clicks that can't be taken now are taken later."""

from __future__ import annotations

import pytest

from trifuse.indexer.errors import ServerUnavailable
from trifuse.worker.app import create_app
from trifuse.worker.clicks.produce import TASK
from trifuse.worker.settings import Settings


def test_clicks_are_tried_again_where_no_opensearch_answers() -> None:
    url = "redis://127.0.0.1:1/0"
    app = create_app(Settings(opensearch_url="http://127.0.0.1:1", redis_url=url, broker_url=url))
    app.loader.import_default_modules()
    task = app.tasks[TASK]
    assert ServerUnavailable in task.autoretry_for
    with pytest.raises(ServerUnavailable, match="weren't taken"):
        task("trials", [{"query": "asthma", "doc_id": "d1"}])
    app.close()
