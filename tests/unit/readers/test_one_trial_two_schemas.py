"""T1: a fictional trial, written by hand once as legacy XML and once as API v2 JSON, is one record."""

from __future__ import annotations

from pathlib import Path

import pytest

from trifuse.indexer.readers import Record, read_trials
from trifuse.indexer.trial import Arm, Intervention, Outcome, Reference, Trial

DATA = Path(__file__).resolve().parents[2] / "data"

EXPECTED = Trial(
    nct_id="NCT90000001",
    brief_title="Moonwort Extract & Rest for Lunar Migraine",
    official_title="A Randomised Trial of Moonwort Extract With Rest Versus Rest Alone in Lunar Migraine",
    acronym="MOONREST",
    brief_summary=(
        "Lunar migraine is a headache that comes with the full moon. This trial asks whether an extract of "
        "moonwort, taken for 28 days, shortens the attacks of adults who have had >= 3 of them.\n"
        "Everyone is told to rest."
    ),
    detailed_description=(
        "Attacks are counted by:\n"
        "1. A diary, kept every evening.\n"
        "2. A telephone call each week, in which a nurse who doesn't know the arm asks about pain, sleep and "
        "light:\n"
        "  - pain from 0 to 10\n"
        "  - hours slept\n"
        "Results are compared after 28 days."
    ),
    conditions=("Lunar Migraine", "Headache"),
    interventions=(
        Intervention(type="DIETARY_SUPPLEMENT", name="Moonwort extract", description="300 mg twice a day"),
        Intervention(type="BEHAVIORAL", name="Rest", description=None),
    ),
    arms=(
        Arm(label="Moonwort", type="EXPERIMENTAL", description="Extract and rest"),
        Arm(label="Rest", type="NO_INTERVENTION", description=None),
    ),
    primary_outcomes=(
        Outcome(
            measure="Length of attacks",
            time_frame="28 days",
            description="Hours from the first to the last pain.",
        ),
    ),
    secondary_outcomes=(Outcome(measure="Sleep", time_frame="Days 7, 14 and 28", description=None),),
    eligibility=(
        "Inclusion Criteria:\n"
        "- Age <60 years, with three attacks or more in the six months before the first visit to the clinic\n"
        "- Able to keep a diary\n"
        "Exclusion Criteria:\n"
        "- Allergy to ferns:\n"
        "  - moonwort\n"
        "  - bracken\n"
        "- Creatinine >= 2 mg/dL"
    ),
    inclusion_criteria=(
        "Age <60 years, with three attacks or more in the six months before the first visit to the clinic",
        "Able to keep a diary",
    ),
    exclusion_criteria=("Allergy to ferns:", "moonwort", "bracken", "Creatinine >= 2 mg/dL"),
    sex="ALL",
    minimum_age="18 Years",
    maximum_age=None,
    healthy_volunteers=False,
    keywords=("moon", "fern"),
    condition_mesh=("Migraine Disorders", "Headache"),
    intervention_mesh=("Plant Extracts",),
    phases=("PHASE1", "PHASE2"),
    status="ACTIVE_NOT_RECRUITING",
    why_stopped="The moon was late.",
    study_type="INTERVENTIONAL",
    enrollment=120,
    start_date="2005-01",
    completion_date="2006-02-05",
    sponsor="University of Tranquillity",
    sponsor_class="FED",
    countries=("Austria", "South Korea"),
    references=(
        Reference(
            pmid="90000002",
            type="BACKGROUND",
            citation="Fern A, Moss B. On the moonwort. J Imaginary Bot. 2001;1:1-2.",
        ),
        Reference(pmid=None, type="RESULT", citation="Moss B. Rest and the moon. Acta Lunae. 2007;3:14."),
    ),
)


@pytest.mark.parametrize("name", ["NCT90000001.xml", "NCT90000001.json"])
@pytest.mark.parametrize("field", Trial.__struct_fields__)
def test_t1_each_field_of_both_schemas_is_the_same(name: str, field: str) -> None:
    (record,) = read_trials([DATA / name])
    assert isinstance(record, Record)
    assert getattr(record.trial, field) == getattr(EXPECTED, field)


def test_t1_nothing_in_either_schema_is_unknown() -> None:
    records = list(read_trials([DATA / "NCT90000001.xml", DATA / "NCT90000001.json"]))
    assert [(record.unknown, record.line) for record in records if isinstance(record, Record)] == [
        ((), None)
    ] * 2
