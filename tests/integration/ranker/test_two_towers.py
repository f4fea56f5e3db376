"""A model of two towers, served: documents by one, queries and past queries by the other."""

from __future__ import annotations

import runpy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.encoder import Space, TextTemplate, load_encoder
from trifuse.encoder.encode import OnnxEncoder
from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import spaces_in_meta
from trifuse.indexer.ensure import ensure_index
from trifuse.indexer.mapping import index_body
from trifuse.ranker import ClickStore, HybridRanker, Profile
from trifuse.ranker.clicks.past_queries import queries_index
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.intake import Intake
from trifuse.worker.clicks.rebuild import rebuild
from trifuse.worker.embedding import embed

BUILDER = Path(__file__).parents[3] / "benchmarks" / "tiny_model.py"
DOCUMENTS = {"1": "heart", "2": "lung", "3": "skin"}
ROWS = {"heart": (3.0, 0.0), "lung": (0.0, 6.0), "skin": (3.0, 3.0)}
ASKING = {"heart": (0.0, 3.0), "lung": (3.0, 0.0), "skin": (6.0, 3.0)}
OTHERWISE = {"heart": (3.0, 0.0), "lung": (0.0, 3.0), "skin": (3.0, 6.0)}
TEMPLATE = TextTemplate(("title",))


@pytest.fixture
def model(tmp_path: Path) -> Callable[[str, Any], OnnxEncoder]:
    """`model(name, query_rows)`: the same document tower with another query tower. Means over 3 tokens."""
    make_model = runpy.run_path(str(BUILDER))["make_model"]

    def build(folder: str, rows: Any) -> OnnxEncoder:
        path = make_model(tmp_path / folder, ROWS, query_model="query.onnx")
        shutil.copy(make_model(tmp_path / "query", rows) / "model.onnx", path / "query.onnx")
        return load_encoder(str(path))

    return build


def _body(encoder: OnnxEncoder) -> dict[str, Any]:
    properties = {"title": {"type": "text"}}
    return index_body(properties, spaces={VECTOR_FIELD: Space(encoder.space, TEMPLATE)})


def _embed(client: OpenSearch, encoder: OnnxEncoder, index: str) -> int:
    client.indices.refresh(index=index)
    found = client.search(index=index, body={"_source": False, "size": 100})["hits"]["hits"]
    report = embed(client, encoder, index, VECTOR_FIELD, [(hit["_id"], None) for hit in found])
    client.indices.refresh(index=index)
    return report.embedded


def _ranked(client: OpenSearch, encoder: OnnxEncoder, index: str, text: str) -> list[str]:
    ranker = HybridRanker(client, encoder, profile=Profile(weights={"dense": 1}))
    return [hit["_id"] for hit in ranker.search(index, None, text=text)["hits"]["hits"]]


def test_another_query_tower_costs_no_stored_vector(
    client: OpenSearch, redis_client: Redis, index_name: str, model: Callable[..., OnnxEncoder]
) -> None:
    one, two = model("one", ASKING), model("two", OTHERWISE)
    assert ensure_index(client, index_name, _body(one))
    for document, title in DOCUMENTS.items():
        client.index(index=index_name, id=document, body={"title": title})
    assert _embed(client, one, index_name) == 3
    # documents (1, 0), (0, 2), (1, 1); heart asks with (0, 1): 0, 2, 1; lung with (1, 0): 1, 0, 1; ties by id
    assert _ranked(client, one, index_name, "heart") == ["2", "3", "1"]
    assert _ranked(client, one, index_name, "lung") == ["1", "3", "2"]

    clicks = [ClickEvent(query="heart", doc_id="3", session="s1", timestamp=1.7e9)]
    Intake(client, redis_client, index_name, min_visitors=1).take(clicks)
    past = queries_index(index_name)
    assert _embed(client, one, past) == 1
    store = ClickStore(redis_client, client)

    def looked_up(encoder: OnnxEncoder) -> list[str]:
        vector = encoder.encode_queries(["skin"])[0]
        return list(store.lookup(index_name, "skin", vector, space=encoder.space, budget_s=10).scores)

    assert looked_up(one) == ["3"]

    # the other query tower: its rankings come from the same stored vectors, without a write
    assert _ranked(client, two, index_name, "heart") == ["1", "3", "2"]
    assert _embed(client, two, index_name) == 0
    # but its queries are never compared with what the first tower made of the past ones
    assert looked_up(two) == []
    with pytest.raises(SpaceMismatch, match="with another query tower"):
        _embed(client, two, past)

    # loading with it names it in the index; a rebuild then makes the past queries anew
    assert not ensure_index(client, index_name, _body(two))
    meta = client.indices.get_mapping(index=index_name)[index_name]["mappings"]["_meta"]
    assert spaces_in_meta(meta)[VECTOR_FIELD] == Space(two.space, TEMPLATE)
    rebuild(client, redis_client, index_name, min_visitors=1)
    assert _embed(client, two, past) == 1
    assert looked_up(two) == ["3"]
    assert looked_up(one) == []
