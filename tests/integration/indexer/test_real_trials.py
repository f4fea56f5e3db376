"""Real trials into a real OpenSearch."""

from __future__ import annotations

from pathlib import Path

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.spaces import Space
from trifuse.indexer.load import load
from trifuse.indexer.readers import read_trials


@pytest.mark.data
def test_a_thousand_trials_twice(client: OpenSearch, index_name: str, space: Space, data_dir: Path) -> None:
    """in = indexed + unchanged + rejected; the second time nothing is written."""
    file = data_dir / "ctgov_full" / "trials.jsonl.gz"
    first = load(client, read_trials([file]), index_name, space=space, limit=1000)
    assert (first.read, first.rejected) == (1000, [])
    assert first.indexed + first.unchanged == 1000
    client.indices.refresh(index=index_name)
    assert client.count(index=index_name)["count"] == 1000 - first.duplicates
    second = load(client, read_trials([file]), index_name, space=space, limit=1000)
    assert (second.read, second.indexed, second.unchanged, second.rejected) == (1000, 0, 1000, [])


@pytest.mark.data
@pytest.mark.parametrize("folder", ["ctgov_csv", "ctgov_raw", "trial2vec"])
def test_the_mapping_takes_what_readers_read(
    client: OpenSearch, index_name: str, space: Space, data_dir: Path, folder: str
) -> None:
    """No record that was read is refused by OpenSearch: what is rejected, a reader rejected."""
    report = load(client, read_trials([data_dir / folder]), index_name, space=space, limit=2000)
    assert report.indexed > 0
    assert report.read == report.indexed + report.unchanged + len(report.rejected)
    assert [found for found in report.rejected if "exception" in found.reason] == []
