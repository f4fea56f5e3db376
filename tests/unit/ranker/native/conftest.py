from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace, Space, meta_with_space
from trifuse.encoder.templates import TextTemplate
from trifuse.ranker import Profile
from trifuse.ranker.body import read_body
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.params import read_params
from trifuse.ranker.plan import plan_filters
from trifuse.ranker.request import Request
from trifuse.ranker.signals import Encoded
from trifuse.ranker.target import read_target
from trifuse.ranker.types import LegReport

SPACE = EncoderSpace("tiny", "r1", "fp32", "cls", 2, True, "cosine")
MAPPING = {
    "properties": {"title": {"type": "text"}, "tenant": {"type": "keyword"}},
    "_meta": meta_with_space(None, VECTOR_FIELD, Space(SPACE, TextTemplate(("title",)))),
}


@pytest.fixture
def request_of() -> Callable[..., Request]:
    """A request of three legs, to an index with vectors, by a vector of (1, 0)."""

    def make(
        *,
        profile: Profile | None = None,
        filter: dict[str, Any] | None = None,
        params: dict[str, Any] | None = None,
        encoded: bool = True,
        **body: Any,
    ) -> Request:
        profile = profile or Profile(
            name="mine",
            weights={"lexical": 1, "dense": 2, "clicks": 1},
            normalization="min_max",
            clicks=ClickSettings(support=0),
            k=7,
            execution="native",
        )
        target = read_target("i", {"i": {"mappings": MAPPING}})
        user = read_body({"query": {"match": {"title": "stroke"}}, **body}, depth=profile.depth)
        vector = np.array([1.0, 0.0], dtype=np.float32)
        return Request(
            "stroke",
            user,
            read_params(params, text="stroke"),
            target,
            plan_filters(user, target, filter),
            Encoded(vector, SPACE, LegReport("ok", took_ms=3))
            if encoded
            else Encoded(None, None, LegReport("off", "no encoder")),
            profile,
        )

    return make
