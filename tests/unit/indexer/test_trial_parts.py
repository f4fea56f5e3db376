"""A trial by parts, whole and one by one; what another encoder is given; what `--text` names."""

from __future__ import annotations

from dataclasses import replace

import pytest
import typer

from trifuse.deploy.cli.text_option import fields_and_parts
from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.marks import EMPTY_HASH
from trifuse.encoder.parts import split_parts
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.templates import TextTemplate, build_text, text_hash
from trifuse.indexer.behind import Index
from trifuse.indexer.errors import ReembedRefused
from trifuse.indexer.mapping import sentence_mapping, trial_mapping
from trifuse.indexer.prepare import embedded_hash
from trifuse.indexer.reembed.texts import wanted_template
from trifuse.indexer.sentences.origin import Origin, meta_with_origin
from trifuse.indexer.trial import TRIAL_TEMPLATE, Intervention, Outcome, Trial
from trifuse.indexer.trial_parts import TRIAL_PARTS, parts_template, template_for, trial_parts

PLAIN = EncoderSpace("m", "r1", "fp32", "mean", 4, True, "cosine")
PARTED = replace(PLAIN, parts=("title", "intervention", "condition", "outcome", "context"))

TRIAL = Trial(
    nct_id="NCT00000001",
    brief_title="Aspirin for headache",
    official_title="A Trial of Aspirin",
    conditions=("Headache", "Migraine"),
    interventions=(
        Intervention(type="DRUG", name="Aspirin", description="500 mg"),
        Intervention(name="None"),
    ),
    primary_outcomes=(Outcome(measure="Pain", time_frame="2 hours", description="by a scale"),),
    secondary_outcomes=(Outcome(measure="Sleep"),),
    brief_summary="Summary.",
    detailed_description="Description.",
    eligibility="- Adults",
    keywords=("pain",),
    condition_mesh=("Headache Disorders",),
    intervention_mesh=("Salicylates",),
)


def test_the_parts_of_a_trial() -> None:
    assert trial_parts(TRIAL.source()) == {
        "title": "Aspirin for headache\nA Trial of Aspirin",
        "intervention": "Aspirin; None",
        "condition": "Headache; Migraine",
        "outcome": "Pain",
        "context": "pain\nSummary.\nDescription.\n- Adults",
    }


def test_no_part_is_made_of_mesh_terms() -> None:
    assert not any("mesh" in field for fields in TRIAL_PARTS.values() for field in fields)
    assert "Salicylates" not in build_text(TRIAL.source(), parts_template())


def test_a_trial_without_any_text_has_no_parts() -> None:
    source = Trial(nct_id="NCT1").source()
    assert trial_parts(source) == {}
    assert embedded_hash(source, parts_template()) == (EMPTY_HASH, False)


def test_the_hash_is_that_of_the_text_of_parts() -> None:
    text = build_text(TRIAL.source(), parts_template())
    assert embedded_hash(TRIAL.source(), parts_template()) == (text_hash(text), False)
    assert split_parts(text) == trial_parts(TRIAL.source())


def test_the_template_that_an_encoder_goes_by() -> None:
    assert template_for(PLAIN) == TRIAL_TEMPLATE
    assert template_for(PARTED) == parts_template()
    some = template_for(replace(PARTED, parts=("condition", "sponsor", "title")))
    assert (some.fields, some.parts) == (
        ("conditions", "brief_title", "official_title"),
        ("condition", "title", "title"),
    )
    with pytest.raises(SpaceMismatch, match="none of the parts sponsor, but title, intervention"):
        template_for(replace(PARTED, parts=("sponsor",)))


def _index(mappings) -> Index:
    return Index(name="i", settings={"uuid": "u", "number_of_shards": "1"}, mappings=mappings)


TRIALS = _index(trial_mapping(Space(PLAIN, TRIAL_TEMPLATE))["mappings"])
OTHERS = _index({"properties": {"name": {"type": "text"}, "body": {"type": "text"}}})
SENTENCES = sentence_mapping(Space(PLAIN, TextTemplate(("text",))))["mappings"]


def test_trials_change_between_whole_texts_and_parts_by_themselves() -> None:
    assert wanted_template(TRIALS, TRIAL_TEMPLATE, PARTED) == parts_template()
    assert wanted_template(TRIALS, parts_template(), PLAIN) == TRIAL_TEMPLATE
    assert wanted_template(TRIALS, parts_template(), replace(PARTED, revision="r2")) == parts_template()


def test_other_indexes_must_say_which_field_is_which_part() -> None:
    present = TextTemplate(("name", "body"))
    with pytest.raises(ReembedRefused, match=r"'i' has texts of name, body, .* such as --text title=name"):
        wanted_template(OTHERS, present, PARTED)
    found = wanted_template(
        OTHERS, replace(present, max_chars=9), PARTED, text=("name", "body"), parts=("title", "context")
    )
    assert found == TextTemplate(("name", "body"), parts=("title", "context"))
    assert wanted_template(OTHERS, found, PLAIN) == present
    assert wanted_template(OTHERS, found, PLAIN, text=("body",)) == TextTemplate(("body",))


def test_sentences_stay_whole() -> None:
    meta = meta_with_origin(SENTENCES["_meta"], Origin("i", "u", trials=True))
    present = TextTemplate(("text",))
    assert wanted_template(_index({**SENTENCES, "_meta": meta}), present, PARTED) == present


@pytest.mark.parametrize(
    ("listed", "encoder", "expected"),
    [
        ("title, abstract", PLAIN, (("title", "abstract"), ())),
        ("a=b,c", PLAIN, (("a=b", "c"), ())),
        (None, PARTED, ((), ())),
        (
            "title=name, title = other,context=body",
            PARTED,
            (("name", "other", "body"), ("title", "title", "context")),
        ),
    ],
)
def test_what_text_names(listed, encoder, expected) -> None:
    assert fields_and_parts(listed, encoder) == expected


@pytest.mark.parametrize(
    ("listed", "encoder", "message"),
    [
        ("title=name", PLAIN, "the encoder m takes plain texts, without parts"),
        ("name", PARTED, "name: the encoder m takes the parts title, .* such as title=name"),
        ("titel=name,title=b", PARTED, "titel=name: the encoder m takes the parts .* such as title=name"),
        ("title=", PARTED, "title=: the encoder m"),
    ],
)
def test_what_text_cant_name(listed, encoder, message) -> None:
    with pytest.raises(typer.BadParameter, match=message):
        fields_and_parts(listed, encoder)
