from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from trifuse.encoder.spaces import EncoderSpace, Space, meta_with_space
from trifuse.encoder.templates import TextTemplate
from trifuse.ranker.body import read_body
from trifuse.ranker.moving import doubt_of, without_dense
from trifuse.ranker.params import read_params
from trifuse.ranker.plan import plan_filters
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.request import Request
from trifuse.ranker.signals import Encoded
from trifuse.ranker.target import read_target
from trifuse.ranker.types import LegReport

SPACE = EncoderSpace("tiny", "r1", "fp32", "cls", 2, True, "cosine")
META = meta_with_space(None, "v", Space(SPACE, TextTemplate(("title",))))


@pytest.fixture
def request_() -> Request:
    target = read_target("x", {"i": {"mappings": {"_meta": META, "properties": {"title": {"type": "text"}}}}})
    user = read_body({"query": {"match": {"title": "a"}}}, depth=100)
    vector = np.array([1.0, 0.0], dtype=np.float32)
    encoded = Encoded(vector, SPACE, LegReport("ok", took_ms=3))
    filters = plan_filters(user, target, {"term": {"t": 1}})
    return Request("a", user, read_params(None, text="a"), target, filters, encoded, Profile())


def test_a_hit_of_an_unknown_index_is_foreign(request_: Request) -> None:
    assert doubt_of(request_, [{"_index": "i"}, {"_index": "j"}], whole=True) == "foreign"
    assert doubt_of(request_, [{"_index": "i"}], whole=True) == "none"
    assert doubt_of(request_, [{"_index": "i"}], whole=False) == "some"
    assert doubt_of(request_, [], whole=False) == "some"


def test_the_last_try_compares_no_vectors(request_: Request) -> None:
    last = without_dense(replace(request_, exact="filters"))
    assert list(last.bodies()) == ["lexical"]
    assert (last.encoded.dense.state, last.encoded.dense.took_ms) == ("failed", 3)
    assert last.encoded.dense.reason == "what 'x' stands for changed during each of 4 tries"
    off = replace(request_, encoded=Encoded(None, None, LegReport("off", "no encoder")))
    assert without_dense(off).encoded.dense == LegReport("off", "no encoder")


def test_what_the_filters_match_is_scored_one_by_one(request_: Request) -> None:
    dense = replace(request_, exact="filters").bodies()["dense"]
    having = {"bool": {"filter": [{"exists": {"field": "v"}}, {"term": {"t": 1}}]}}
    params = {"field": "v", "query_value": [1.0, 0.0], "space_type": "cosinesimil"}
    script = {"lang": "knn", "source": "knn_score", "params": params}
    assert dense["query"] == {"script_score": {"query": having, "script": script}}
    assert "rescore" not in dense


def test_or_the_best_of_the_lexical_matches(request_: Request) -> None:
    request = replace(request_, exact="lexical")
    dense = request.bodies()["dense"]
    having = {"bool": {"filter": [{"exists": {"field": "v"}}, {"term": {"t": 1}}]}}
    assert dense["query"] == {"bool": {"must": [{"match": {"title": "a"}}], "filter": [having]}}
    assert dense["rescore"] == {
        "window_size": 10_000,
        "query": {
            "rescore_query": request.clauses()["dense"],
            "query_weight": 0,
            "rescore_query_weight": 1,
        },
    }
    assert dense["size"] == 100
