"""The same ranking by the server's own `hybrid` query: one search, fused by OpenSearch."""

from __future__ import annotations

from trifuse.ranker.native.pipeline import require_native
from trifuse.ranker.native.query import check_native_request
from trifuse.ranker.native.search import NativeRanker

__all__ = ["NativeRanker", "check_native_request", "require_native"]
