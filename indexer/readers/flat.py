"""Flat records: one object or row a trial, each field by one name.

Two vocabularies are known, snake_case (`nct_id`, as in flat JSONL and Trial2Vec's CSV) and the headings of
the registry's own CSV export (`NCT Number`), the present and the one before it.

The export joins an outcome's measure, description and time frame with commas that they contain themselves:
such an outcome is kept whole, as the measure. Trial2Vec's CSV joins lists with commas and lines with `~`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from trifuse.indexer.readers.normal import Raw
from trifuse.indexer.readers.values import every

_SNAKE = {
    "nct_id": "nct_id",
    "brief_title": "brief_title",
    "title": "brief_title",
    "official_title": "official_title",
    "acronym": "acronym",
    "brief_summary": "brief_summary",
    "description": "brief_summary",
    "detailed_description": "detailed_description",
    "conditions": "conditions",
    "disease": "conditions",
    "interventions": "interventions",
    "intervention_name": "interventions",
    "arms": "arms",
    "primary_outcomes": "primary_outcomes",
    "outcome_measure": "primary_outcomes",
    "secondary_outcomes": "secondary_outcomes",
    "eligibility": "eligibility",
    "criteria": "eligibility",
    "sex": "sex",
    "gender": "sex",
    "minimum_age": "minimum_age",
    "maximum_age": "maximum_age",
    "healthy_volunteers": "healthy_volunteers",
    "keywords": "keywords",
    "keyword": "keywords",
    "condition_mesh": "condition_mesh",
    "intervention_mesh": "intervention_mesh",
    "phase": "phases",
    "phases": "phases",
    "status": "status",
    "overall_status": "status",
    "why_stopped": "why_stopped",
    "study_type": "study_type",
    "enrollment": "enrollment",
    "start_date": "start_date",
    "completion_date": "completion_date",
    "sponsor": "sponsor",
    "sponsor_class": "sponsor_class",
    "country": "countries",
    "countries": "countries",
    "references": "references",
    "reference": "references",
}
_EXPORT = {
    "NCT Number": "nct_id",
    "Study Title": "brief_title",
    "Title": "brief_title",
    "Acronym": "acronym",
    "Study Status": "status",
    "Status": "status",
    "Brief Summary": "brief_summary",
    "Conditions": "conditions",
    "Interventions": "interventions",
    "Primary Outcome Measures": "primary_outcomes",
    "Outcome Measures": "primary_outcomes",
    "Secondary Outcome Measures": "secondary_outcomes",
    "Sponsor": "sponsor",
    "Sponsor/Collaborators": "sponsor",
    "Sex": "sex",
    "Gender": "sex",
    "Phases": "phases",
    "Enrollment": "enrollment",
    "Funder Type": "sponsor_class",
    "Funded Bys": "sponsor_class",
    "Study Type": "study_type",
    "Start Date": "start_date",
    "Completion Date": "completion_date",
}
_FIELDS = {**_SNAKE, **_EXPORT}
# Known, and of no field of the record; `age` and `Locations` are taken apart below.
_UNUSED = frozenset(
    (
        *("age", "design", "download", "has_results", "other_outcomes", "source", "study_design", "Age", ""),
        *("Collaborators", "First Posted", "Last Update Posted", "Locations", "Other IDs", "Rank", "URL"),
        *("Other Outcome Measures", "Primary Completion Date", "Results First Posted", "Study Design"),
        *("Study Designs", "Study Documents", "Study Results", "Study URL"),
    )
)
_AGES = re.compile(
    r"(?:(?P<low>\d+\s+\w+)\s+(?:to|-)\s+|up to\s+)(?P<high>\d+\s+\w+)|(?P<only>\d+\s+\w+)\s+and older",
    re.IGNORECASE,
)
_OUTSIDE_BRACKETS = re.compile(r",\s+(?![^(\[]*[)\]])")
_NOTHING = frozenset(("", "none", "nan", "n/a", "null"))


def is_flat(names: Iterable[str]) -> bool:
    """Whether these are the names of a flat record: they have an id."""
    return not {"nct_id", "NCT Number"}.isdisjoint(names)


def unknown_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names that neither vocabulary has."""
    return tuple(name for name in names if name not in _FIELDS and name not in _UNUSED)


def raw_of_flat(row: Mapping[str, Any]) -> Raw:
    """Where a flat record has what we keep; of two names for one field the first that holds anything."""
    raw: dict[str, Any] = {}
    for name, value in row.items():
        field = _FIELDS.get(name)
        if field and field not in raw and value not in (None, "", []):
            raw[field] = value
    if "criteria" in row and "disease" in row:
        _part_trial2vec(raw)
    for sponsor in every(raw.get("sponsor"))[:1]:
        raw["sponsor"] = sponsor.split("|")[0] if isinstance(sponsor, str) else sponsor
    if "Sponsor" not in row and isinstance(funders := raw.get("sponsor_class"), str):
        raw["sponsor_class"] = funders.split("|")[0]
    ages = row.get("Age") or row.get("age")
    if isinstance(ages, str) and (match := _AGES.search(ages)):
        raw.setdefault("minimum_age", match["low"] or match["only"])
        raw.setdefault("maximum_age", match["high"])
    if isinstance(places := row.get("Locations"), str):
        raw["countries"] = [place.rpartition(", ")[2] for place in places.split("|") if ", " in place]
    return cast(Raw, raw)


def _part_trial2vec(raw: dict[str, Any]) -> None:
    """Lists and lines that Trial2Vec's CSV has joined; its `none` is nothing.

    A term that holds a comma of its own is parted as well: the file doesn't say which commas are which.
    """
    for field, value in list(raw.items()):
        if isinstance(value, str) and value.strip().lower() in _NOTHING:
            del raw[field]
    for field in ("conditions", "interventions", "keywords"):
        if isinstance(value := raw.get(field), str):
            raw[field] = _OUTSIDE_BRACKETS.split(value)
    if isinstance(value := raw.get("references"), str):
        raw["references"] = re.split(r",\s{2,}", value.strip())
    for field in ("eligibility", "brief_summary"):
        if isinstance(value := raw.get(field), str):
            raw[field] = value.replace("~", "\n\n")
