"""The services that every other integration test stands on."""

from __future__ import annotations

import uuid
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.deploy.errors import ServiceDied
from trifuse.deploy.local.redis import start_redis

pytestmark = pytest.mark.integration


def test_opensearch_has_the_parts_that_bodies_need(client: OpenSearch) -> None:
    info = client.nodes.info(metric="plugins")
    node = next(iter(info["nodes"].values()))

    # A full distribution, if the tests run on one, has more.
    assert {plugin["name"] for plugin in node["plugins"]} >= {"opensearch-knn", "opensearch-neural-search"}
    assert {module["name"] for module in node["modules"]} >= {
        "lang-painless",
        "analysis-common",
        "transport-netty4",
        "transport-grpc",
        "reindex",
        "mapper-extras",
        "lang-mustache",
        "parent-join",
        "search-pipeline-common",
        "ingest-common",
    }


def test_knn_filters_inside(client: OpenSearch, index_name: str) -> None:
    vector = {
        "type": "knn_vector",
        "dimension": 2,
        "method": {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"},
    }
    client.indices.create(
        index=index_name,
        body={
            "settings": {"index.knn": True},
            "mappings": {"properties": {"v": vector, "group": {"type": "keyword"}}},
        },
    )
    client.index(index=index_name, id="near", body={"v": [1, 0], "group": "a"})
    client.index(index=index_name, id="far", body={"v": [0, 1], "group": "b"}, params={"refresh": "true"})

    only_b = {"vector": [1, 0.1], "k": 1, "filter": {"term": {"group": "b"}}}
    found = client.search(index=index_name, body={"query": {"knn": {"v": only_b}}})

    assert [hit["_id"] for hit in found["hits"]["hits"]] == ["far"]


def test_redis_never_evicts(redis_client: Redis) -> None:
    assert redis_client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}


def test_a_nearly_full_disk_blocks_nothing_before_its_last_bytes(own_services) -> None:
    with OpenSearch(own_services.opensearch_url) as client:
        settings = client.cluster.get_settings(params={"include_defaults": "true"})

    marks = settings["defaults"]["cluster"]["routing"]["allocation"]["disk"]["watermark"]
    assert (marks["low"], marks["high"], marks["flood_stage"]) == ("1073741824b", "805306368b", "536870912b")


def test_restarted_services_keep_their_address_and_data(own_services) -> None:
    local = own_services.local
    key = f"test-{uuid.uuid4().hex}"
    with Redis.from_url(local.redis_url) as redis:
        redis.set(key, "kept")
        local.stop_redis()
        local.start_redis()
        assert redis.get(key) == b"kept"
        local.stop_redis()
        local.start_redis(empty=True)
        assert redis.get(key) is None

    document = f"{local.opensearch_url}/{key}/_doc/1"
    assert httpx.put(document, json={"kept": True}).status_code == 201
    local.stop_opensearch(force=True)
    local.start_opensearch()
    assert httpx.get(document).json()["_source"] == {"kept": True}
    httpx.delete(f"{local.opensearch_url}/{key}")


def test_a_port_that_another_took_meanwhile_is_no_service_of_ours(own_services, tmp_path: Path) -> None:
    """What answers there is another's: ours has ended, and must not be taken for started."""
    port = urlsplit(own_services.local.redis_url).port
    assert port is not None
    with pytest.raises(ServiceDied, match="Redis ended while starting"):
        start_redis(tmp_path, port=port)
