"""All of the real data is read: what loads, and what is rejected by name with its reason."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from trifuse.indexer.readers import Record, Rejection, read_trials

pytestmark = pytest.mark.data

# What the files of aact_json are, by opening each: 7 studies in 5 files, and parts of studies.
LOADED_JSON = {
    "NCT04207047.json": ["NCT04207047"],
    "results_2.json": ["NCT04779463", "NCT04779450", "NCT04779437"],
    "study_data_initialize.json": ["NCT000001"],
    "study_data_interventional.json": ["NCT000001"],
    "study_data_patient_registry.json": ["NCT000001"],
}
FRAGMENTS = {
    "baseline_measurements_5.json": "resultsSection.baselineCharacteristicsModule",
    "brief_summary.json": "protocolSection.descriptionModule",
    "central_contact.json": "protocolSection.contactsLocationsModule",
    "design.json": "protocolSection.designModule",
    "design_group.json": "protocolSection.armsInterventionsModule",
    "drop_withdrawl.json": "resultsSection.participantFlowModule",
    "eligibility.json": "protocolSection.eligibilityModule",
    "facility_contact.json": "protocolSection.contactsLocationsModule",
    "outcome.json": "resultsSection.outcomeMeasuresModule",
    "outcome_analysis_group.json": "resultsSection.outcomeMeasuresModule",
    "participant_flow.json": "resultsSection.participantFlowModule",
    "pending_result.json": "annotationSection.annotationModule",
    "provided_document.json": "documentSection.largeDocumentModule",
    "reported_event.json": "resultsSection.adverseEventsModule",
    "result_agreement.json": "resultsSection.moreInfoModule",
    "result_contact.json": "resultsSection.moreInfoModule",
    "result_group.json": "resultsSection.participantFlowModule",
    "study_reference.json": "protocolSection.referencesModule",
}


def read(path: Path) -> tuple[list[Record], list[Rejection]]:
    items = list(read_trials([path]))
    return [item for item in items if isinstance(item, Record)], [
        item for item in items if isinstance(item, Rejection)
    ]


def test_the_whole_folder_is_accounted_for(data_dir: Path) -> None:
    records, rejections = read(data_dir / "ctgov_raw")
    by_folder = Counter(Path(record.source).parent.name for record in records)
    # 24 of the 25 XML files of AACT are studies; the exports have 100 and 172 rows.
    assert by_folder == {"aact_json": 7, "aact_xml": 24, "legacy_xml": 40, "exports": 272}
    assert Counter(Path(rejection.source).name for rejection in rejections) == {
        **dict.fromkeys(FRAGMENTS, 1),
        "ctg_api_all.json": 2,
        "study_statistics.json": 1,
        "empty_search.xml": 1,
    }
    assert {name for record in records for name in record.unknown} == set()


@pytest.mark.parametrize(("name", "ids"), LOADED_JSON.items())
def test_studies_load_from_both_apis(data_dir: Path, name: str, ids: list[str]) -> None:
    records, rejections = read(data_dir / "ctgov_raw" / "aact_json" / name)
    assert ([record.trial.nct_id for record in records], rejections) == (ids, [])


@pytest.mark.parametrize(("name", "module"), FRAGMENTS.items())
def test_a_fragment_is_rejected_by_what_it_holds(data_dir: Path, name: str, module: str) -> None:
    file = data_dir / "ctgov_raw" / "aact_json" / name
    records, (rejection,) = read(file)
    assert records == []
    assert rejection.source == str(file)
    assert rejection.reason.startswith("a fragment of a study without an NCT id: it holds ")
    assert module in rejection.reason


def test_what_is_no_study_is_rejected_by_name(data_dir: Path) -> None:
    folder = data_dir / "ctgov_raw"
    _, fields = read(folder / "aact_json" / "ctg_api_all.json")
    assert [(row.id, row.line) for row in fields] == [("NCT02028676", 1), ("NCT00023673", 2)]
    assert all("only the fields NCTId, StudyFirstPostDate" in row.reason for row in fields)
    _, (statistics,) = read(folder / "aact_json" / "study_statistics.json")
    assert statistics.reason == "StudyStatistics: statistics about the registry's fields, no study"
    _, (feed,) = read(folder / "aact_xml" / "empty_search.xml")
    assert feed.reason == "an RSS feed of search results, no study; expected <clinical_study>"


def test_the_csv_export(data_dir: Path) -> None:
    records, _ = read(data_dir / "ctgov_raw" / "exports" / "ctg-studies.csv.gz")
    first, second = records[0].trial, records[1].trial
    assert (first.nct_id, first.status, first.conditions) == (
        "NCT03555344",
        "COMPLETED",
        ("High Blood Pressure",),
    )
    assert (first.phases, first.enrollment, first.countries, first.sex) == (("NA",), 96, ("India",), "ALL")
    assert [(each.type, each.name) for each in first.interventions] == [("OTHER", "Mantra Chikitsa")]
    assert (first.start_date, first.completion_date) == ("2017-10-28", "2018-05-30")
    assert (first.sponsor, first.sponsor_class) == ("NMP Medical Research Institute", "OTHER")
    assert len(first.primary_outcomes) == 2
    assert (first.minimum_age, first.maximum_age, records[0].line) == (None, None, 2)
    assert (second.phases, second.enrollment, len(second.primary_outcomes)) == (("PHASE3",), 709, 3)


def test_trial2vec_csv(data_dir: Path) -> None:
    records, rejections = read(data_dir / "trial2vec" / "clinical_trial_mini.csv")
    assert (len(records), rejections) == (99, [])
    first, second = records[0].trial, records[1].trial
    assert (first.nct_id, first.status) == ("NCT03760770", "UNKNOWN")
    assert first.conditions == ("Crosslinking", "Keratoconus")
    assert first.keywords == ("Cold", "Crosslinking", "Keratoconus", "Pain")
    assert (len(first.inclusion_criteria), len(first.exclusion_criteria)) == (3, 3)
    assert len(first.references) == 17
    assert [each.name for each in second.interventions] == ["ESPO-572®", "PCSO-524®"]
    # Row 7 has `none` where it has no keyword.
    assert records[6].trial.keywords == ()


def test_flat_records(data_dir: Path) -> None:
    for name, total in (("ctgov_full", 7746), ("ctgov_csv", 12786)):
        records, rejections = read(data_dir / name / "trials.jsonl.gz")
        assert (len(records), rejections) == (total, [])
        assert records[-1].line == total
        if name == "ctgov_full":
            assert sum(record.trial.eligibility is not None for record in records) == 7730
            assert sum(bool(record.trial.interventions) for record in records) == 6424
            assert sum(bool(record.trial.primary_outcomes) for record in records) == 3120
            assert sum(bool(record.trial.references) for record in records) == 3564
        else:
            assert sum(record.trial.brief_summary is not None for record in records) == 4125
            assert sum(bool(record.trial.primary_outcomes) for record in records) == 4735


def test_the_first_flat_record(data_dir: Path) -> None:
    record = next(iter(read_trials([data_dir / "ctgov_full" / "trials.jsonl.gz"])))
    assert isinstance(record, Record)
    trial = record.trial
    assert (trial.nct_id, trial.phases, trial.status) == ("NCT00000102", ("PHASE1", "PHASE2"), "COMPLETED")
    assert [(each.type, each.name) for each in trial.interventions] == [("DRUG", "Nifedipine")]
    assert (trial.minimum_age, trial.maximum_age, trial.healthy_volunteers) == ("14 Years", "35 Years", False)
    assert (trial.sponsor_class, trial.countries, trial.enrollment) == ("NIH", ("United States",), None)
    assert (len(trial.inclusion_criteria), len(trial.exclusion_criteria)) == (2, 2)
