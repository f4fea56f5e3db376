"""The record as a document."""

from __future__ import annotations

import msgspec

from trifuse.encoder.templates import build_text
from trifuse.indexer.trial import TRIAL_TEMPLATE, Arm, Intervention, Trial


def test_source_has_every_field_and_only_json() -> None:
    source = Trial(nct_id="NCT1", keywords=("a",), arms=(Arm(label="x"),)).source()
    assert list(source) == list(Trial.__struct_fields__)
    assert source["keywords"] == ["a"]
    assert source["arms"] == [{"label": "x", "type": None, "description": None}]
    assert source["conditions"] == []
    assert source["brief_title"] is None
    assert msgspec.json.decode(msgspec.json.encode(source)) == source


def test_the_template_embeds_what_a_trial_is_about() -> None:
    trial = Trial(
        nct_id="NCT1",
        brief_title="Title",
        conditions=("Asthma", "COPD"),
        interventions=(Intervention(type="DRUG", name="x"), Intervention(name="y")),
        brief_summary="Summary.",
        sponsor="Nobody",
    )
    assert build_text(trial.source(), TRIAL_TEMPLATE) == "Title\nAsthma; COPD\nx; y\nSummary."


def test_an_empty_trial_has_no_text() -> None:
    assert build_text(Trial(nct_id="NCT1").source(), TRIAL_TEMPLATE) == ""
