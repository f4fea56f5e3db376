"""A study of the registry's API, version 2: camelCase modules under `protocolSection`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trifuse.indexer.readers.normal import Raw
from trifuse.indexer.readers.values import every


def dig(node: Any, *path: str) -> Any:
    """What stands at a path of mappings; None where it breaks off.

    >>> dig({"a": {"b": 1}}, "a", "b"), dig({"a": "text"}, "a", "b")
    (1, None)
    """
    for key in path:
        if not isinstance(node, Mapping):
            return None
        node = node.get(key)
    return node


def pick(items: Any, **names: str) -> list[dict[str, Any]]:
    """Of each mapping in a list the values that we keep, by our names."""
    return [
        {ours: item.get(theirs) for ours, theirs in names.items()}
        for item in every(items)
        if isinstance(item, Mapping)
    ]


def raw_of_study(study: Mapping[str, Any]) -> Raw:
    """Where a study has what the record keeps."""
    protocol = study.get("protocolSection")
    derived = study.get("derivedSection")
    identification = dig(protocol, "identificationModule")
    status = dig(protocol, "statusModule")
    description = dig(protocol, "descriptionModule")
    conditions = dig(protocol, "conditionsModule")
    design = dig(protocol, "designModule")
    arms = dig(protocol, "armsInterventionsModule")
    outcomes = dig(protocol, "outcomesModule")
    eligibility = dig(protocol, "eligibilityModule")
    sponsor = dig(protocol, "sponsorCollaboratorsModule", "leadSponsor")
    return Raw(
        nct_id=dig(identification, "nctId"),
        brief_title=dig(identification, "briefTitle"),
        official_title=dig(identification, "officialTitle"),
        acronym=dig(identification, "acronym"),
        brief_summary=dig(description, "briefSummary"),
        detailed_description=dig(description, "detailedDescription"),
        conditions=dig(conditions, "conditions"),
        keywords=dig(conditions, "keywords"),
        interventions=pick(dig(arms, "interventions"), type="type", name="name", description="description"),
        arms=pick(dig(arms, "armGroups"), label="label", type="type", description="description"),
        primary_outcomes=_outcomes(dig(outcomes, "primaryOutcomes")),
        secondary_outcomes=_outcomes(dig(outcomes, "secondaryOutcomes")),
        eligibility=dig(eligibility, "eligibilityCriteria"),
        sex=dig(eligibility, "sex"),
        minimum_age=dig(eligibility, "minimumAge"),
        maximum_age=dig(eligibility, "maximumAge"),
        healthy_volunteers=dig(eligibility, "healthyVolunteers"),
        condition_mesh=_terms(dig(derived, "conditionBrowseModule", "meshes")),
        intervention_mesh=_terms(dig(derived, "interventionBrowseModule", "meshes")),
        phases=dig(design, "phases"),
        study_type=dig(design, "studyType"),
        enrollment=dig(design, "enrollmentInfo", "count"),
        status=dig(status, "overallStatus"),
        why_stopped=dig(status, "whyStopped"),
        start_date=dig(status, "startDateStruct", "date"),
        completion_date=dig(status, "completionDateStruct", "date"),
        sponsor=dig(sponsor, "name"),
        sponsor_class=dig(sponsor, "class"),
        countries=[
            dig(place, "country") for place in every(dig(protocol, "contactsLocationsModule", "locations"))
        ],
        references=pick(
            dig(protocol, "referencesModule", "references"), pmid="pmid", type="type", citation="citation"
        ),
    )


def _outcomes(items: Any) -> list[dict[str, Any]]:
    return pick(items, measure="measure", time_frame="timeFrame", description="description")


def _terms(items: Any) -> list[Any]:
    return [dig(item, "term") for item in every(items)]
