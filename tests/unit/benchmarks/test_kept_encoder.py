"""Vectors that are kept over runs."""

from __future__ import annotations

from pathlib import Path

import kept_encoder
import numpy as np
import pytest
from tiny_model import make_model


def test_a_text_is_encoded_once_a_role(tmp_path: Path) -> None:
    """Known vectors are not made again; a query and a document of the same text are two."""
    words = {"gout": [1.0, 0.0], "pain": [0.0, 2.0]}
    model = make_model(tmp_path / "model", words)
    with kept_encoder.kept_encoder(str(model), tmp_path / "kept") as encoder:
        assert encoder.encode_queries(["gout", "pain", "gout"]).tolist() == [
            pytest.approx(encoder.encode_documents(["gout"])[0]),
            pytest.approx(encoder.encode_documents(["pain"])[0]),
            pytest.approx(encoder.encode_documents(["gout"])[0]),
        ]
        assert len(encoder.vectors) == 4
        first = encoder.encode_queries(["pain"])
    with kept_encoder.kept_encoder(str(model), tmp_path / "kept") as encoder:
        assert len(encoder.vectors) == 4
        encoder.vectors = {digest: row + 1 for digest, row in encoder.vectors.items()}
        assert np.array_equal(encoder.encode_queries(["pain"]), first + 1)  # not made again
        encoder.encode_queries(["pain gout"])
        assert len(encoder.vectors) == 5
