"""What a watch says of errors that it waits out."""

from __future__ import annotations

import pytest
from opensearchpy.exceptions import ConnectionError as OpenSearchConnectionError
from opensearchpy.exceptions import RequestError

from trifuse.indexer.errors import IndexMissing, ServerUnavailable
from trifuse.indexer.watch_beside import said


@pytest.mark.parametrize("attempt", ["0x1", "0x2"])
def test_an_outage_is_said_alike_however_it_shows(attempt: str) -> None:
    away = OpenSearchConnectionError("N/A", f"<connection at {attempt}> refused", Exception(attempt))
    assert said(away) == "OpenSearch doesn't answer; waiting for it"
    assert said(ServerUnavailable(f"at last with {attempt}")) == said(away)


def test_what_opensearch_refuses_is_named() -> None:
    closed = RequestError(400, "index_closed_exception", {})
    assert "(400, index_closed_exception)" in said(closed)
    assert said(IndexMissing("there is no index 'x'")) == (
        "there is no index 'x'; waiting for that to change"
    )
