"""The adapter that comes with the package: whole, for the default space, and what its report says it is."""

from __future__ import annotations

import json

from trifuse.encoder.adapter_files import DEFAULT_ADAPTER, adapter_names, find_adapter
from trifuse.encoder.adapters import adapters_for
from trifuse.encoder.fetch import sha256_of
from trifuse.encoder.patches import read_patch
from trifuse.encoder.registry import DEFAULT_ENCODER, describe_encoder, find_model


def test_it_is_for_the_default_space() -> None:
    assert DEFAULT_ADAPTER in adapter_names()
    assert adapters_for(describe_encoder(DEFAULT_ENCODER)) == [DEFAULT_ADAPTER]
    assert adapters_for(describe_encoder("e5-small-v2")) == []
    described = find_adapter(DEFAULT_ADAPTER).description
    assert described.name == DEFAULT_ADAPTER
    assert set(described.aspects) >= {"population", "intervention", "outcome"}
    assert described.licence == "MIT"


def test_its_files_are_whole_and_made_for_the_pinned_models() -> None:
    adapter = find_adapter(DEFAULT_ADAPTER)
    for file, sha256 in adapter.description.files.items():
        assert sha256_of(adapter.path / file) == sha256
    assert set(adapter.description.graphs) == {"fp32", "int8"}
    for graph in adapter.description.graphs.values():
        patch = read_patch(adapter.path / graph.patch)
        source = find_model(graph.base)
        assert patch.base.sha256 == source.model.sha256  # type: ignore[union-attr]
        assert patch.target.sha256 == graph.sha256
        assert graph.base_space == describe_encoder(graph.base).id


def test_its_report_is_of_these_files() -> None:
    adapter = find_adapter(DEFAULT_ADAPTER)
    report = json.loads((adapter.path / "training.json").read_text())
    assert [each["sha256"] for each in report["trained"]] == list(adapter.description.files.values())
    assert report["revision"] == adapter.description.revision("int8")
    assert report["recipe"] == adapter.description.recipe
    assert report["parity"] >= 0.9999
