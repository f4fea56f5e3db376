"""`trial2vec-small` by name: made of its patch, the same as what was trained, and served like any encoder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch

from trifuse.encoder import describe_encoder, load_encoder
from trifuse.encoder.fetch import sha256_of
from trifuse.encoder.models import SHIPPED
from trifuse.encoder.registry import open_model
from trifuse.encoder.trial import TrialEncoder

NAME = "trial2vec-small"
ENCODER = {"TRIFUSE_ENCODER": NAME}

ASTHMA, WHEEZE, BREAST, KNEE, BARE = (f"NCT0000000{number}" for number in range(1, 6))
TRIALS: dict[str, dict[str, Any]] = {
    ASTHMA: {
        "brief_title": "Inhaled steroid for children with asthma",
        "conditions": ["Asthma"],
        "brief_summary": "Children inhale budesonide twice a day, or a placebo.",
    },
    WHEEZE: {
        "brief_title": "A spacer for inhalers in bronchial asthma",
        "conditions": ["Bronchial asthma"],
        "eligibility": "Adults whose asthma is not controlled by an inhaler.",
    },
    BREAST: {
        "brief_title": "Letrozole after surgery",
        "conditions": ["Breast cancer"],
        "brief_summary": "Women with hormone receptor positive tumours take letrozole for five years.",
    },
    KNEE: {"brief_title": "Exercise before a new knee", "conditions": ["Osteoarthritis of the knee"]},
    BARE: {"conditions": ["Asthma"]},
}


@pytest.fixture(scope="module")
def encoder() -> TrialEncoder:
    """The model, started once."""
    found = load_encoder(NAME, threads=1)
    assert isinstance(found, TrialEncoder)
    return found


def test_it_is_what_was_trained(encoder: TrialEncoder) -> None:
    """The report of the training names the graph that the patch has made."""
    report = json.loads((SHIPPED / f"{NAME}.json").read_text())
    model = open_model(NAME)
    assert sha256_of(model.path / "model.onnx") == report["sha256"]
    assert encoder.space == describe_encoder(NAME) == model.space


def test_partial_trials_have_vectors(encoder: TrialEncoder) -> None:
    whole = {
        "title": "Inhaled steroid for children",
        "intervention": "Budesonide",
        "condition": "Asthma",
        "outcome": "Days without symptoms",
        "context": "Children inhale budesonide twice a day. " * 1000,
    }
    parts = [{name: whole[name]} for name in whole]
    found = encoder.encode_parts([whole, *parts, {"title": ""}])
    np.testing.assert_allclose(np.linalg.norm(found.global_[:6], axis=1), 1, rtol=1e-5)
    assert found.truncated[0].tolist() == [False, False, False, False, True]
    assert list(found.rejected) == [6]
    # What a trial has alone is where the same part of a whole trial is.
    np.testing.assert_allclose(found.local[0, 2], found.global_[3], atol=1e-4)
    near, far = encoder.encode_documents([{"condition": "Bronchial asthma"}, {"condition": "Breast cancer"}])
    assert found.global_[0] @ near > found.global_[0] @ far + 0.2


def test_from_a_file_to_similar_trials(
    client: OpenSearch,
    index_name: str,
    done: Callable[..., Any],
    tmp_path: Path,
    encoder: TrialEncoder,
    worker_factory: Callable[..., Any],
) -> None:
    file = tmp_path / "trials.jsonl"
    file.write_text("".join(json.dumps({"nct_id": key, **trial}) + "\n" for key, trial in TRIALS.items()))
    worker_factory(**ENCODER)
    assert done("load", str(file), "--index", index_name, **ENCODER)["indexed"] == 5
    synced = done("sync", index_name, "--wait", **ENCODER)
    assert (synced["pending"], synced["failed"]) == (0, 0)

    stored = client.get(index=index_name, id=BARE)["_source"]["trifuse_vector"]
    (vector,) = encoder.encode_documents([{"condition": "Asthma"}])
    np.testing.assert_allclose(stored, vector, atol=1e-5)

    def ids(response: Any) -> list[str]:
        return [hit["_id"] for hit in response["hits"]["hits"]]

    assert set(ids(done("similar", index_name, ASTHMA, **ENCODER))[:2]) == {WHEEZE, BARE}
    assert ids(done("similar", index_name, "--condition", "cancer of the breast", **ENCODER))[0] == BREAST
    found = done("search", index_name, "hormone receptor positive breast tumours", **ENCODER)
    assert ids(found)[0] == BREAST
    assert found["trifuse"]["legs"]["dense"]["state"] == "ok"
