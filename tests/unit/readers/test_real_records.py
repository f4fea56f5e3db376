"""Odd records of the real data, each field against what a person reads in the file.

Short values are typed in. Long texts stay where they are: the test takes the words from the file itself, by a
path written down here, and the number of lines, criteria and sentences as counted by hand.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from trifuse.indexer.readers import Record, read_trials
from trifuse.indexer.trial import Arm, Intervention, Outcome, Reference, Trial

pytestmark = pytest.mark.data


@dataclass(frozen=True)
class In:
    """The text at a path in the file: its words, in so many lines."""

    path: str
    lines: int = 1


@dataclass(frozen=True)
class Items:
    """So many items, whose words are the last or first of a text that was split."""

    count: int


def words(text: str | None) -> list[str]:
    """The words of a text, with bullets as the record has them and Markdown's backslashes dropped."""
    text = (text or "").replace("\\", "").replace("\n* ", "\n- ").replace("\n  * ", "\n- ")
    return text.split()


def xml_text(file: Path, path: str) -> str | None:
    return ElementTree.parse(file).getroot().findtext(path)  # noqa: S314


def json_text(file: Path, path: str) -> Any:
    node = json.loads(file.read_text(encoding="utf-8"))
    for key in path.split("/"):
        node = node[int(key)] if isinstance(node, list) else node[key]
    return node


EMPTY: dict[str, Any] = {
    field: getattr(Trial(nct_id=""), field) for field in Trial.__struct_fields__ if field != "nct_id"
}

EXPANDED_ACCESS = {
    "nct_id": "NCT00493532",
    "brief_title": In("brief_title"),
    "official_title": In("official_title"),
    "brief_summary": In("brief_summary/textblock"),
    "conditions": ("Postmenopausal Osteoporosis",),
    "interventions": (Intervention("DRUG", "ibandronate [Bonviva/Boniva]", "3mg iv every 3 months"),),
    "eligibility": In("eligibility/criteria/textblock", 8),
    "inclusion_criteria": Items(3),
    "exclusion_criteria": Items(3),
    "sex": "FEMALE",
    "maximum_age": "80 Years",
    "healthy_volunteers": False,
    "condition_mesh": ("Osteoporosis", "Osteoporosis, Postmenopausal"),
    "intervention_mesh": ("Ibandronic Acid",),
    "status": "NO_LONGER_AVAILABLE",
    "study_type": "EXPANDED_ACCESS",
    "start_date": "2007-06",
    "completion_date": "2010-12",
    "sponsor": "Hoffmann-La Roche",
    "sponsor_class": "INDUSTRY",
    "countries": ("Taiwan",),
}
WITHDRAWN = {
    "nct_id": "NCT00006267",
    "brief_title": In("brief_title"),
    "official_title": In("official_title"),
    "brief_summary": In("brief_summary/textblock", 2),
    "detailed_description": In("detailed_description/textblock", 6),
    "conditions": ("Ovarian Cancer", "Primary Peritoneal Cavity Cancer"),
    "interventions": (Intervention("DRUG", "rubitecan"),),
    "eligibility": In("eligibility/criteria/textblock", 41),
    "inclusion_criteria": Items(41),
    "sex": "FEMALE",
    "healthy_volunteers": False,
    "keywords": (
        "stage IV ovarian epithelial cancer",
        "recurrent ovarian epithelial cancer",
        "primary peritoneal cavity cancer",
    ),
    "intervention_mesh": ("Rubitecan",),
    "phases": ("PHASE2",),
    "status": "WITHDRAWN",
    "why_stopped": "Never activated.",
    "study_type": "INTERVENTIONAL",
    "enrollment": 0,
    "sponsor": "Gynecologic Oncology Group",
    "sponsor_class": "OTHER",
}
REGISTRY_WITH_ODD_PHASE = {
    "nct_id": "NCT00513591",
    "brief_title": "Duke Autoimmunity in Pregnancy Registry",
    "official_title": "This Is An Updated Title",
    "acronym": "DAP Registry",
    "brief_summary": In("brief_summary/textblock", 2),
    "detailed_description": In("detailed_description/textblock", 4),
    "conditions": (
        *("Pregnancy", "Systemic Lupus Erythematosus", "Cutaneous Lupus", "Rheumatoid Arthritis"),
        *("Sjogren's Syndrome", "Scleroderma"),
    ),
    "arms": (
        Arm("1", None, In("arm_group[1]/description")),
        Arm("2", None, In("arm_group[2]/description")),
        Arm("3", None, In("arm_group[3]/description")),
    ),
    "eligibility": In("eligibility/criteria/textblock", 18),
    "inclusion_criteria": Items(13),
    "exclusion_criteria": Items(3),
    "sex": "FEMALE",
    "minimum_age": "18 Years",
    "healthy_volunteers": True,
    "keywords": (
        "Pregnancy",
        "Lupus (systemic lupus erythematosus or cutaneous lupus)",
        "Rheumatoid Arthritis",
        "Sjogren's Syndrome",
        "Scleroderma",
    ),
    "condition_mesh": (
        *("Arthritis, Rheumatoid", "Autoimmune Diseases", "Lupus Erythematosus, Systemic"),
        *("Scleroderma, Diffuse", "Scleroderma, Systemic", "Sjogren's Syndrome"),
    ),
    # The file says N/A: an observational study was never asked for a phase, and API v2 has none.
    "phases": (),
    "status": "RECRUITING",
    "study_type": "OBSERVATIONAL",
    "enrollment": 500,
    "start_date": "2007-08",
    "sponsor": "Duke University",
    "sponsor_class": "OTHER",
    "countries": ("United States",),
}
NUMBERED_INSIDE_BULLETS = {
    "nct_id": "NCT00482794",
    "brief_title": In("brief_title"),
    "official_title": "Genetics of Antiphospholipid Antibody Syndrome",
    "acronym": "APS",
    "brief_summary": In("brief_summary/textblock"),
    "detailed_description": In("detailed_description/textblock", 2),
    "conditions": ("Antiphospholipid Syndrome",),
    "arms": (
        Arm("1", None, In("arm_group[1]/description")),
        Arm("2", None, In("arm_group[2]/description")),
        Arm("3", None, In("arm_group[3]/description")),
    ),
    "primary_outcomes": (Outcome(In("primary_outcome/measure"), "duration of the study"),),
    "eligibility": In("eligibility/criteria/textblock", 11),
    "inclusion_criteria": Items(8),
    "exclusion_criteria": Items(1),
    "sex": "ALL",
    "healthy_volunteers": False,
    "keywords": ("Antiphospholipid Antibody Syndrome",),
    "condition_mesh": ("Syndrome", "Antiphospholipid Syndrome"),
    "intervention_mesh": ("Antibodies", "Immunoglobulins", "Antibodies, Antiphospholipid"),
    "status": "RECRUITING",
    "study_type": "OBSERVATIONAL",
    "enrollment": 2800,
    "start_date": "2006-06",
    "completion_date": "2018-12",
    "sponsor": "Duke University",
    "sponsor_class": "OTHER",
    "countries": ("United States",),
    "references": (
        Reference("11882732", "BACKGROUND", In("reference[1]/citation")),
        Reference("11953980", "BACKGROUND", In("reference[2]/citation")),
        Reference("12393658", "BACKGROUND", In("reference[3]/citation")),
        Reference("12192084", "BACKGROUND", In("reference[4]/citation")),
        Reference("16475047", "BACKGROUND", In("reference[5]/citation")),
    ),
}
REMOVED_COUNTRIES = {
    "nct_id": "NCT01642004",
    "brief_title": In("brief_title"),
    "official_title": In("official_title"),
    "brief_summary": In("brief_summary/textblock"),
    "conditions": ("Squamous Cell Non-small Cell Lung Cancer",),
    "interventions": (Intervention("BIOLOGICAL", "Nivolumab"), Intervention("DRUG", "Docetaxel")),
    "arms": (
        Arm("Arm A: Nivolumab", "EXPERIMENTAL", In("arm_group[1]/description")),
        Arm("Arm B: Docetaxel", "EXPERIMENTAL", In("arm_group[2]/description")),
    ),
    "primary_outcomes": tuple(
        Outcome(
            In(f"primary_outcome[{n}]/measure"),
            In(f"primary_outcome[{n}]/time_frame"),
            In(f"primary_outcome[{n}]/description", lines),
        )
        for n, lines in ((1, 1), (2, 1), (3, 1))
    ),
    "secondary_outcomes": tuple(
        Outcome(
            In(f"secondary_outcome[{n}]/measure"),
            In(f"secondary_outcome[{n}]/time_frame"),
            In(f"secondary_outcome[{n}]/description", 0),
        )
        for n in range(1, 10)
    ),
    "eligibility": In("eligibility/criteria/textblock", 18),
    "inclusion_criteria": Items(7),
    "exclusion_criteria": Items(9),
    "sex": "ALL",
    "minimum_age": "18 Years",
    "healthy_volunteers": False,
    "condition_mesh": ("Lung Neoplasms", "Carcinoma, Non-Small-Cell Lung"),
    "intervention_mesh": ("Docetaxel", "Nivolumab", "Antibodies, Monoclonal"),
    "phases": ("PHASE3",),
    "status": "ACTIVE_NOT_RECRUITING",
    "study_type": "INTERVENTIONAL",
    "enrollment": 352,
    "start_date": "2012-09-26",
    "completion_date": "2018-12-29",
    "sponsor": "Bristol-Myers Squibb",
    "sponsor_class": "INDUSTRY",
    "countries": (
        *("Argentina", "Australia", "Austria", "Canada", "Chile", "Czechia", "France", "Germany", "Hungary"),
        *("Ireland", "Italy", "Mexico", "Netherlands", "Peru", "Poland", "Romania", "Russia", "Spain"),
        *("United Kingdom", "United States"),
    ),
}
API_V2 = {
    "nct_id": "NCT04207047",
    "brief_title": In("protocolSection/identificationModule/briefTitle"),
    "official_title": In("protocolSection/identificationModule/officialTitle"),
    "brief_summary": In("protocolSection/descriptionModule/briefSummary"),
    "detailed_description": In("protocolSection/descriptionModule/detailedDescription", 7),
    "conditions": ("Abdominoplasty",),
    "interventions": tuple(
        Intervention(
            "DEVICE", name, In(f"protocolSection/armsInterventionsModule/interventions/{n}/description", 0)
        )
        for n, name in enumerate(("Genius", "eC02", "PicoPlus", "LaseMD", "LaseMD Flex"))
    ),
    "arms": tuple(
        Arm(label, "EXPERIMENTAL", In(f"protocolSection/armsInterventionsModule/armGroups/{n}/description"))
        for n, label in enumerate(("Group A", "Group B", "Group C", "Group D"))
    ),
    "primary_outcomes": (
        Outcome(
            "Primary Outcome",
            "14 days",
            In("protocolSection/outcomesModule/primaryOutcomes/0/description"),
        ),
    ),
    "secondary_outcomes": (
        Outcome(
            "Secondary Outcome",
            "2 hours",
            In("protocolSection/outcomesModule/secondaryOutcomes/0/description"),
        ),
    ),
    # 2 headings, 9 + 3 and 19 + 3 numbered items; the last line is a bullet without a text.
    "eligibility": In("protocolSection/eligibilityModule/eligibilityCriteria", 36),
    "inclusion_criteria": Items(12),
    "exclusion_criteria": Items(22),
    "sex": "ALL",
    "minimum_age": "18 Years",
    "healthy_volunteers": True,
    "phases": ("NA",),
    "status": "UNKNOWN",
    "study_type": "INTERVENTIONAL",
    "enrollment": 3,
    "start_date": "2018-10-02",
    "completion_date": "2020-03-31",
    "sponsor": "LUTRONIC Corporation",
    "sponsor_class": "INDUSTRY",
    "countries": ("United States",),
}
SIX_DIGITS = {
    "nct_id": "NCT000001",
    "brief_title": In("protocolSection/identificationModule/briefTitle"),
    "official_title": In("protocolSection/identificationModule/officialTitle"),
    "acronym": "STPDCF",
    "brief_summary": In("protocolSection/descriptionModule/briefSummary"),
    "detailed_description": In("protocolSection/descriptionModule/detailedDescription", 3),
    "conditions": ("Cystic Fibrosis Related Diabetes", "Pancreatic Insufficiency"),
    "keywords": (
        *("Cystic Fibrosis", "Diabetes", "Cystic Fibrosis Related Diabetes", "Pre-diabetes"),
        *("oral hypoglycemic agents", "Repaglinide", "treatment", "inflammatory markers", "Lung function"),
        "nutrition",
    ),
    "interventions": tuple(
        Intervention(
            "DRUG", name, In(f"protocolSection/armsInterventionsModule/interventions/{n}/description", 0)
        )
        for n, name in enumerate(("placebo", "repaglinide"))
    ),
    "arms": (
        Arm(
            "1 Placebo",
            "PLACEBO_COMPARATOR",
            In("protocolSection/armsInterventionsModule/armGroups/0/description"),
        ),
        Arm(
            "2. repaglinide",
            "EXPERIMENTAL",
            In("protocolSection/armsInterventionsModule/armGroups/1/description"),
        ),
    ),
    "primary_outcomes": (
        Outcome("BMI", "2 year/end of study"),
        Outcome(
            "Body Composition",
            "2 year/end of study",
            In("protocolSection/outcomesModule/primaryOutcomes/1/description"),
        ),
        Outcome("CRP", "2 year/end of study"),
    ),
    "secondary_outcomes": (
        Outcome(
            "Glucose Tolerance",
            "2-year",
            In("protocolSection/outcomesModule/secondaryOutcomes/0/description"),
        ),
        Outcome("Inflammatory Markers", "2 year/end of study"),
        Outcome("Wt Z Score", "2 year/end of study"),
        Outcome(
            "Tanner Stage",
            "2 year/end of study",
            In("protocolSection/outcomesModule/secondaryOutcomes/3/description"),
        ),
        Outcome("FEV 1", "2 year/end of study", "% of lung function"),
        Outcome("C-Peptide", "2 year"),
    ),
    "eligibility": In("protocolSection/eligibilityModule/eligibilityCriteria", 13),
    "inclusion_criteria": Items(5),
    "exclusion_criteria": Items(6),
    "sex": "ALL",
    "minimum_age": "12 Years",
    "maximum_age": "24 Years",
    "healthy_volunteers": False,
    "condition_mesh": (
        *("Cystic Fibrosis", "Exocrine Pancreatic Insufficiency", "Diabetes Mellitus", "Prediabetic State"),
        *("Glucose Intolerance", "Fibrosis"),
    ),
    "intervention_mesh": ("Repaglinide",),
    "status": "COMPLETED",
    "why_stopped": In("protocolSection/statusModule/whyStopped"),
    "enrollment": 31,
    "start_date": "2006-11",
    "completion_date": "2013-01",
    "sponsor": "Arbelaez, Ana Maria",
    "sponsor_class": "INDIV",
    "countries": ("United States",),
    "phases": ("PHASE4",),
    "study_type": "EXPANDED_ACCESS_INTERVENTIONAL",
    "references": (),
}
_OLD = "FullStudiesResponse/FullStudies/1/Study/ProtocolSection"
OLD_API = {
    "nct_id": "NCT04779450",
    "brief_title": In(f"{_OLD}/IdentificationModule/BriefTitle"),
    "official_title": In(f"{_OLD}/IdentificationModule/OfficialTitle"),
    "brief_summary": In(f"{_OLD}/DescriptionModule/BriefSummary", 0),
    "detailed_description": In(f"{_OLD}/DescriptionModule/DetailedDescription", 0),
    "conditions": ("Breast Cancer",),
    "interventions": tuple(
        Intervention(
            "OTHER",
            name,
            In(
                f"{_OLD}/ArmsInterventionsModule/InterventionList/Intervention/{n}/InterventionDescription", 0
            ),
        )
        for n, name in enumerate(("Kinesiotherapy protocol", "Usual orientations"))
    ),
    "arms": tuple(
        Arm(
            label,
            kind,
            In(f"{_OLD}/ArmsInterventionsModule/ArmGroupList/ArmGroup/{n}/ArmGroupDescription", 0),
        )
        for n, (label, kind) in enumerate(
            (
                ("Synchronous Telemonitoring", "EXPERIMENTAL"),
                ("Asynchronous Telemonitoring", "EXPERIMENTAL"),
                ("Control Group", "ACTIVE_COMPARATOR"),
            )
        )
    ),
    "primary_outcomes": tuple(
        Outcome(
            measure,
            In(f"{_OLD}/OutcomesModule/PrimaryOutcomeList/PrimaryOutcome/{n}/PrimaryOutcomeTimeFrame"),
            In(f"{_OLD}/OutcomesModule/PrimaryOutcomeList/PrimaryOutcome/{n}/PrimaryOutcomeDescription", 0),
        )
        for n, measure in enumerate(("Upper Limb Functionality", "Assessment of quality of life"))
    ),
    "secondary_outcomes": tuple(
        Outcome(
            measure,
            In(f"{_OLD}/OutcomesModule/SecondaryOutcomeList/SecondaryOutcome/{n}/SecondaryOutcomeTimeFrame"),
            In(
                f"{_OLD}/OutcomesModule/SecondaryOutcomeList/SecondaryOutcome/{n}/SecondaryOutcomeDescription",
                0,
            ),
        )
        for n, measure in enumerate(("Arm circumference", "Level of satisfaction"))
    ),
    # The old API has dropped the bullets: each item stands on a line of its own.
    "eligibility": In(f"{_OLD}/EligibilityModule/EligibilityCriteria", 14),
    "inclusion_criteria": Items(6),
    "exclusion_criteria": Items(6),
    "sex": "FEMALE",
    "minimum_age": "18 Years",
    "healthy_volunteers": False,
    "condition_mesh": ("Breast Neoplasms", "Lymphedema"),
    "phases": ("NA",),
    "status": "RECRUITING",
    "study_type": "INTERVENTIONAL",
    "enrollment": 30,
    "start_date": "2021-03",
    "completion_date": "2021-12",
    "sponsor": "University of the State of Santa Catarina",
    "sponsor_class": "OTHER",
    "countries": ("Brazil",),
}

RECORDS: list[tuple[str, int, dict[str, Any]]] = [
    ("legacy_xml/NCT00493532.xml", 0, EXPANDED_ACCESS),
    ("legacy_xml/NCT00006267.xml", 0, WITHDRAWN),
    ("aact_xml/NCT00513591_mod.xml", 0, REGISTRY_WITH_ODD_PHASE),
    ("aact_xml/NCT00482794.xml", 0, NUMBERED_INSIDE_BULLETS),
    ("aact_xml/NCT01642004.xml", 0, REMOVED_COUNTRIES),
    ("aact_json/NCT04207047.json", 0, API_V2),
    ("aact_json/study_data_interventional.json", 0, SIX_DIGITS),
    ("aact_json/results_2.json", 1, OLD_API),
]


def same(found: Any, expected: Any, file: Path) -> bool:
    """Whether a value is what was read by hand; struct by struct where it holds texts of the file."""
    if isinstance(expected, In):
        raw = xml_text(file, expected.path) if file.suffix == ".xml" else json_text(file, expected.path)
        raw_words = words(raw)
        if raw_words[-1:] == ["-"]:
            raw_words.pop()
        assert words(found) == raw_words
        # 0 lines: a text without structure that matters.
        return expected.lines in (0, (found or "").count("\n") + 1)
    if isinstance(expected, tuple):
        return len(found) == len(expected) and all(
            same(one, other, file) for one, other in zip(found, expected, strict=True)
        )
    if isinstance(expected, Arm | Intervention | Outcome | Reference):
        return all(
            same(getattr(found, name), getattr(expected, name), file) for name in expected.__struct_fields__
        )
    return bool(found == expected)


@pytest.mark.parametrize("field", Trial.__struct_fields__)
@pytest.mark.parametrize(("name", "position", "expected"), RECORDS, ids=[row[0] for row in RECORDS])
def test_each_field_is_what_the_file_says(
    data_dir: Path, name: str, position: int, expected: dict[str, Any], field: str
) -> None:
    file = data_dir / "ctgov_raw" / name
    record = list(read_trials([file]))[position]
    assert isinstance(record, Record)
    found, wanted = getattr(record.trial, field), {**EMPTY, **expected}[field]
    if isinstance(wanted, Items):
        assert len(found) == wanted.count
        assert all(item in (record.trial.eligibility or "") for item in found)
    else:
        assert same(found, wanted, file), f"{found!r} is not {wanted!r}"
