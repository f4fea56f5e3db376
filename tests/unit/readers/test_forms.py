"""T2: one normal form, whatever a source leaves out, wraps in a list or joins in a text."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from trifuse.indexer.readers import Record, Rejection, read_trials
from trifuse.indexer.readers.values import nct_ids
from trifuse.indexer.trial import Intervention, Outcome, Trial


def read(value: Any) -> list[Record | Rejection]:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return list(read_trials(["-"], stdin=io.BytesIO(data)))


def trial(value: Any) -> Trial:
    (record,) = read(value)
    assert isinstance(record, Record)
    return record.trial


def study(**modules: Any) -> dict[str, Any]:
    return {"protocolSection": {"identificationModule": {"nctId": "NCT00000001"}, **modules}}


def test_t2_an_id_alone_is_a_trial() -> None:
    assert trial(study()) == Trial(nct_id="NCT00000001")
    assert trial({"nct_id": "nct00000001 "}) == Trial(nct_id="NCT00000001")


@pytest.mark.parametrize("odd", [None, [], "", {}, 7, "text", [None], [[]], {"a": {"b": []}}, True])
@pytest.mark.parametrize(
    "module",
    [
        *("statusModule", "descriptionModule", "conditionsModule", "designModule", "eligibilityModule"),
        *("armsInterventionsModule", "outcomesModule", "contactsLocationsModule", "referencesModule"),
        "sponsorCollaboratorsModule",
    ],
)
def test_t2_a_module_of_any_shape_leaves_its_fields_empty(module: str, odd: Any) -> None:
    assert trial(study(**{module: odd})) == Trial(nct_id="NCT00000001")


def test_t2_several_ids_in_one_text_are_several_trials() -> None:
    records = read({"nct_id": "NCT00000001,NCT00000002", "title": "One row"})
    assert [record.trial for record in records if isinstance(record, Record)] == [
        Trial(nct_id="NCT00000001", brief_title="One row"),
        Trial(nct_id="NCT00000002", brief_title="One row"),
    ]


@pytest.mark.parametrize(
    "conditions", ["Asthma|COPD", ["Asthma", "COPD"], ["Asthma|COPD"], ["Asthma ", "COPD", ""]]
)
def test_t2_lists_and_joined_texts(conditions: Any) -> None:
    assert trial({"nct_id": "NCT1", "conditions": conditions}).conditions == ("Asthma", "COPD")
    assert trial(study(conditionsModule={"conditions": conditions})).conditions == ("Asthma", "COPD")


def test_t2_single_values_wrapped_in_lists() -> None:
    wrapped = trial(
        {"nct_id": ["NCT1"], "brief_title": ["A"], "enrollment": ["12"], "start_date": ["May 2004"]}
    )
    assert wrapped == Trial(nct_id="NCT1", brief_title="A", enrollment=12, start_date="2004-05")


@pytest.mark.parametrize(
    "interventions",
    [
        "DRUG: aspirin|OTHER: rest: in bed",
        ["Drug: aspirin", "Other: rest: in bed"],
        [{"type": "Drug", "name": "aspirin"}, {"type": "OTHER", "name": "rest: in bed"}],
    ],
)
def test_t2_interventions_as_texts_and_as_objects(interventions: Any) -> None:
    assert trial({"nct_id": "NCT1", "interventions": interventions}).interventions == (
        Intervention(type="DRUG", name="aspirin"),
        Intervention(type="OTHER", name="rest: in bed"),
    )


def test_t2_a_colon_that_names_no_type_belongs_to_the_name() -> None:
    assert trial({"nct_id": "NCT1", "interventions": ["Cohort A: aspirin"]}).interventions == (
        Intervention(name="Cohort A: aspirin"),
    )


def test_t2_an_outcome_as_a_text_is_its_measure() -> None:
    assert trial({"nct_id": "NCT1", "primary_outcomes": ["Pain, 12 weeks", ""]}).primary_outcomes == (
        Outcome(measure="Pain, 12 weeks"),
    )


@pytest.mark.parametrize(
    ("field", "value", "name", "expected"),
    [
        ("phase", "Phase 1/Phase 2", "phases", ("PHASE1", "PHASE2")),
        ("phase", "PHASE2|PHASE3", "phases", ("PHASE2", "PHASE3")),
        ("phase", "Phase I/II", "phases", ("PHASE1", "PHASE2")),
        ("phase", "Early Phase 1", "phases", ("EARLY_PHASE1",)),
        ("phase", "Phase 0", "phases", ("EARLY_PHASE1",)),
        ("phase", "Phase 2b", "phases", ("PHASE2",)),
        ("phase", "N/A", "phases", ("NA",)),
        ("phase", "Not Applicable", "phases", ("NA",)),
        ("phase", ["PHASE1", "PHASE2"], "phases", ("PHASE1", "PHASE2")),
        ("phase", "soon", "phases", ()),
        ("overall_status", "Active, not recruiting", "status", "ACTIVE_NOT_RECRUITING"),
        ("overall_status", "Unknown status", "status", "UNKNOWN"),
        ("overall_status", "Enrolling by invitation", "status", "ENROLLING_BY_INVITATION"),
        ("overall_status", "COMPLETED", "status", "COMPLETED"),
        ("sponsor_class", "U.S. Fed", "sponsor_class", "FED"),
        ("sponsor_class", "Other", "sponsor_class", "OTHER"),
        ("gender", "Both", "sex", "ALL"),
        ("study_type", "Observational [Patient Registry]", "study_type", "OBSERVATIONAL"),
        ("study_type", "N/A", "study_type", None),
        ("start_date", "January 2005", "start_date", "2005-01"),
        ("start_date", "January 5, 2005", "start_date", "2005-01-05"),
        ("start_date", "2005-01-05T00:00", "start_date", "2005-01-05"),
        ("start_date", "2005", "start_date", "2005"),
        ("start_date", "February 30, 2005", "start_date", None),
        ("start_date", "Smarch 2005", "start_date", None),
        ("start_date", "soon", "start_date", None),
        ("minimum_age", "18 years", "minimum_age", "18 Years"),
        ("minimum_age", "1 Month", "minimum_age", "1 Month"),
        ("minimum_age", "N/A", "minimum_age", None),
        ("minimum_age", 18, "minimum_age", None),
        ("healthy_volunteers", "Accepts Healthy Volunteers", "healthy_volunteers", True),
        ("healthy_volunteers", "No", "healthy_volunteers", False),
        ("healthy_volunteers", False, "healthy_volunteers", False),
        ("healthy_volunteers", "perhaps", "healthy_volunteers", None),
        ("enrollment", 0, "enrollment", 0),
        ("enrollment", "1,200", "enrollment", 1200),
        ("enrollment", 31.0, "enrollment", 31),
        ("enrollment", -1, "enrollment", None),
        ("enrollment", 10**12, "enrollment", None),
        ("enrollment", float("inf"), "enrollment", None),
        ("country", ["Korea, Republic of", "Austria", "Austria"], "countries", ("Austria", "South Korea")),
        ("references", ["A paper.", {"pmid": 7, "type": "derived"}], "references", "two"),
    ],
)
def test_t2_values_in_the_spelling_of_api_v2(field: str, value: Any, name: str, expected: Any) -> None:
    found = getattr(trial({"nct_id": "NCT1", field: value}), name)
    if expected == "two":
        assert [(each.pmid, each.type, each.citation) for each in found] == [
            (None, None, "A paper."),
            ("7", "DERIVED", None),
        ]
    else:
        assert found == expected


def test_t2_na_is_a_phase_of_interventional_trials_only() -> None:
    flat = {"nct_id": "NCT1", "phase": "N/A"}
    assert trial({**flat, "study_type": "Interventional"}).phases == ("NA",)
    assert trial({**flat, "study_type": "Observational"}).phases == ()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (
            {"nct_id": "ISRCTN1"},
            "no trial: its id 'ISRCTN1' is not an NCT id; a study needs one, like NCT01234567",
        ),
        (
            {"nct_id": "", "title": "T"},
            "no trial: it has no NCT id (titled 'T'); a study needs one, like NCT01234567",
        ),
        ({"a": 1}, "no trial: an object with the keys 'a'; expected a study or a record with nct_id"),
        ({}, "no trial: an object with the keys none; expected a study or a record with nct_id"),
        ([7], "no trial: a JSON number stands where a study was expected"),
        ({"protocolSection": {}}, "a fragment of a study without an NCT id: it holds protocolSection"),
        ({"StudyFieldsResponse": {}}, "StudyFieldsResponse: it holds no study"),
    ],
)
def test_what_is_no_trial_is_rejected_by_name(value: Any, reason: str) -> None:
    (rejection,) = read(value)
    assert isinstance(rejection, Rejection)
    assert rejection.reason == reason


def test_t5_unknown_modules_are_named_and_the_trial_loads() -> None:
    value = study(quantumModule={"spin": "up"})
    value["aiSection"] = {"guess": 1}
    value["derivedSection"] = {"newBrowseModule": {}}
    (record,) = read(value)
    assert isinstance(record, Record)
    assert record.trial.nct_id == "NCT00000001"
    assert sorted(record.unknown) == [
        "aiSection",
        "derivedSection.newBrowseModule",
        "protocolSection.quantumModule",
    ]


def test_t5_unknown_names_of_the_other_schemas() -> None:
    old = {"ProtocolSection": {"IdentificationModule": {"NCTId": "NCT1"}, "NewModule": {}}, "NewSection": {}}
    xml = b"<clinical_study><id_info><nct_id>NCT1</nct_id></id_info><mood>good</mood></clinical_study>"
    found = [
        read({"nct_id": "NCT1", "mood": "good"}),
        read(old),
        read(xml),
        read(b"nct_id,title,mood\nNCT1,t,good\n"),
    ]
    assert [record.unknown for (record,) in found if isinstance(record, Record)] == [
        ("mood",),
        ("ProtocolSection.NewModule", "NewSection"),
        ("mood",),
        ("mood",),
    ]


def test_the_export_before_the_present_one() -> None:
    row = {
        "Rank": "1",
        "NCT Number": "NCT00000001",
        "Title": "Fern tea",
        "Acronym": "",
        "Status": "Active, not recruiting",
        "Study Results": "No Results Available",
        "Conditions": "Cough|Cold",
        "Interventions": "Drug: Fern|Other: Tea",
        "Outcome Measures": "Cough, 2 weeks",
        "Sponsor/Collaborators": "Moon Inc|Sun Inc",
        "Gender": "All",
        "Age": "18 Years to 65 Years   (Adult, Older Adult)",
        "Phases": "Phase 2|Phase 3",
        "Enrollment": "40",
        "Funded Bys": "Industry|Other",
        "Study Type": "Interventional",
        "Study Designs": "Allocation: Randomized",
        "Other IDs": "X1",
        "Start Date": "June 1, 2001",
        "Primary Completion Date": "",
        "Completion Date": "July 2002",
        "First Posted": "",
        "Results First Posted": "",
        "Last Update Posted": "",
        "Locations": "Moon Clinic, Vienna, Austria|Site",
        "Study Documents": "",
        "URL": "https://example.org",
    }
    file = io.StringIO()
    writer = csv.DictWriter(file, row)
    writer.writeheader()
    writer.writerow(row)
    (record,) = read(file.getvalue().encode())
    assert isinstance(record, Record)
    assert record.unknown == ()
    assert record.trial == Trial(
        nct_id="NCT00000001",
        brief_title="Fern tea",
        status="ACTIVE_NOT_RECRUITING",
        conditions=("Cough", "Cold"),
        interventions=(Intervention(type="DRUG", name="Fern"), Intervention(type="OTHER", name="Tea")),
        primary_outcomes=(Outcome(measure="Cough, 2 weeks"),),
        sponsor="Moon Inc",
        sponsor_class="INDUSTRY",
        sex="ALL",
        minimum_age="18 Years",
        maximum_age="65 Years",
        phases=("PHASE2", "PHASE3"),
        enrollment=40,
        study_type="INTERVENTIONAL",
        start_date="2001-06-01",
        completion_date="2002-07",
        countries=("Austria",),
    )


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        (["NCT00000001", "NCT00000002"], ("NCT00000001", "NCT00000002")),
        (["NCT00000001, NCT00000002"], ("NCT00000001", "NCT00000002")),
        (["NCT00000001", None], ("NCT00000001",)),
        (["ISRCTN12345", "NCT00000001"], ("NCT00000001",)),
        (["NCT00000001, ISRCTN12345"], ()),
        ("NCT\u0660\u0660\u0660\u0660\u0660\u0660\u0660\u0661", ()),  # Arabic digits are digits, and no id's
        ([], ()),
    ],
)
def test_t2_ids_in_a_list_and_in_other_digits(value: object, ids: tuple[str, ...]) -> None:
    assert nct_ids(value) == ids
