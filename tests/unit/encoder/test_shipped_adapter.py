"""The adapters that come with the package: whole, each for its space, and what its report says it is."""

from __future__ import annotations

import json

import pytest

from trifuse.encoder.adapter_files import DEFAULT_ADAPTER, adapter_names, find_adapter
from trifuse.encoder.adapters import adapters_for
from trifuse.encoder.fetch import sha256_of
from trifuse.encoder.patches import read_patch
from trifuse.encoder.registry import DEFAULT_ENCODER, describe_encoder, find_model

SHIPPED = {DEFAULT_ENCODER: DEFAULT_ADAPTER, "e5-small-v2": "pio-e5-small"}
"""Encoder of the documents to the adapter for them."""

of_each = pytest.mark.parametrize("name", SHIPPED.values())


def test_each_is_for_the_space_of_its_encoder() -> None:
    assert set(SHIPPED.values()) <= set(adapter_names())
    for encoder, name in SHIPPED.items():
        assert adapters_for(describe_encoder(encoder)) == [name]
        described = find_adapter(name).description
        assert described.name == name
        assert set(described.aspects) >= {"population", "intervention", "outcome"}
        assert described.licence == "MIT"
    assert adapters_for(describe_encoder("trial2vec-small")) == []


@of_each
def test_its_files_are_whole_and_made_for_the_pinned_models(name: str) -> None:
    adapter = find_adapter(name)
    for file, sha256 in adapter.description.files.items():
        assert sha256_of(adapter.path / file) == sha256
    assert set(adapter.description.graphs) == {"fp32", adapter.description.usual}
    for graph in adapter.description.graphs.values():
        patch = read_patch(adapter.path / graph.patch)
        source = find_model(graph.base)
        assert patch.base.sha256 == source.model.sha256  # type: ignore[union-attr]
        assert patch.target.sha256 == graph.sha256
        assert graph.base_space == describe_encoder(graph.base).id


@of_each
def test_its_report_is_of_these_files(name: str) -> None:
    adapter = find_adapter(name)
    report = json.loads((adapter.path / "training.json").read_text())
    assert [each["sha256"] for each in report["trained"]] == list(adapter.description.files.values())
    assert report["revision"] == adapter.description.revision(adapter.description.usual)
    assert report["recipe"] == adapter.description.recipe
    assert report["parity"] >= 0.9999
