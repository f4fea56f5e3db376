"""Sizes on disk and in responses."""

from __future__ import annotations

import pytest

from trifuse.indexer.attach.disk import bytes_per_document, bytes_per_hit, human, reserve


@pytest.mark.parametrize(
    ("watermark", "kept"), [("85%", 150), ("0.85", 150), ("0.95", 50), ("100b", 100), ("1kb", 1024)]
)
def test_reserve_of_a_disk_of_1000_bytes(watermark: str, kept: int) -> None:
    assert reserve(watermark, 1000) == kept


def test_a_vector_of_384_numbers() -> None:
    """Numbers: 384 x 4. Links: 32 x 4 x 1.1. In JSON: 384 x 12.5."""
    assert bytes_per_hit(384) == 4800
    assert bytes_per_document(384, graph=False, derived_source=True) == 1536
    assert bytes_per_document(384, graph=True, derived_source=True) == 1536 + 141
    assert bytes_per_document(384, graph=False, derived_source=False) == 1536 + 4800


@pytest.mark.parametrize(
    ("size", "said"), [(0, "0 B"), (1023, "1023 B"), (2**20, "1.0 MB"), (2**50, "1024.0 TB")]
)
def test_human(size: int, said: str) -> None:
    assert human(size) == said
