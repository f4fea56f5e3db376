"""`benchmarks/copying.py` on a small index: both ways copy all, and memory is seen."""

from __future__ import annotations

from copying import INDEX, measure
from opensearchpy import OpenSearch


def test_both_ways_copy_all_documents(client: OpenSearch) -> None:
    found = measure(client, 300, rounds=1)
    assert found.documents == 300
    assert found.speed.ours > 0 < found.speed.peer
    assert found.speed.ratio == found.speed.ours / found.speed.peer
    (curve,) = found.memory
    assert curve.documents[-1] == 300
    assert curve.peak_mib > 0
    assert client.indices.get(index=f"{INDEX}*") == {}
