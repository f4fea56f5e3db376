"""A study of the registry's old API: PascalCase modules, lists inside `...List` objects.

It is the shape of `FullStudiesResponse`: `ProtocolSection.IdentificationModule.NCTId`. Its texts have no
wrapped lines: a line feed is the end of a paragraph or of a list item, whose bullet the API has dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trifuse.indexer.readers.normal import Raw
from trifuse.indexer.readers.study import dig, pick
from trifuse.indexer.readers.values import every


def raw_of_full_study(study: Mapping[str, Any]) -> Raw:
    """Where a study has what the record keeps."""
    protocol = study.get("ProtocolSection")
    derived = study.get("DerivedSection")
    identification = dig(protocol, "IdentificationModule")
    status = dig(protocol, "StatusModule")
    description = dig(protocol, "DescriptionModule")
    conditions = dig(protocol, "ConditionsModule")
    design = dig(protocol, "DesignModule")
    arms = dig(protocol, "ArmsInterventionsModule")
    outcomes = dig(protocol, "OutcomesModule")
    eligibility = dig(protocol, "EligibilityModule")
    sponsor = dig(protocol, "SponsorCollaboratorsModule", "LeadSponsor")
    places = dig(protocol, "ContactsLocationsModule", "LocationList", "Location")
    return Raw(
        nct_id=dig(identification, "NCTId"),
        brief_title=dig(identification, "BriefTitle"),
        official_title=dig(identification, "OfficialTitle"),
        acronym=dig(identification, "Acronym"),
        brief_summary=dig(description, "BriefSummary"),
        detailed_description=dig(description, "DetailedDescription"),
        conditions=dig(conditions, "ConditionList", "Condition"),
        keywords=dig(conditions, "KeywordList", "Keyword"),
        interventions=pick(
            dig(arms, "InterventionList", "Intervention"),
            type="InterventionType",
            name="InterventionName",
            description="InterventionDescription",
        ),
        arms=pick(
            dig(arms, "ArmGroupList", "ArmGroup"),
            label="ArmGroupLabel",
            type="ArmGroupType",
            description="ArmGroupDescription",
        ),
        primary_outcomes=_outcomes(outcomes, "Primary"),
        secondary_outcomes=_outcomes(outcomes, "Secondary"),
        eligibility=dig(eligibility, "EligibilityCriteria"),
        sex=dig(eligibility, "Gender"),
        minimum_age=dig(eligibility, "MinimumAge"),
        maximum_age=dig(eligibility, "MaximumAge"),
        healthy_volunteers=dig(eligibility, "HealthyVolunteers"),
        condition_mesh=_terms(derived, "Condition"),
        intervention_mesh=_terms(derived, "Intervention"),
        phases=dig(design, "PhaseList", "Phase"),
        study_type=dig(design, "StudyType"),
        enrollment=dig(design, "EnrollmentInfo", "EnrollmentCount"),
        status=dig(status, "OverallStatus"),
        why_stopped=dig(status, "WhyStopped"),
        start_date=dig(status, "StartDateStruct", "StartDate"),
        completion_date=dig(status, "CompletionDateStruct", "CompletionDate"),
        sponsor=dig(sponsor, "LeadSponsorName"),
        sponsor_class=dig(sponsor, "LeadSponsorClass"),
        countries=[dig(place, "LocationCountry") for place in every(places)],
        references=pick(
            dig(protocol, "ReferencesModule", "ReferenceList", "Reference"),
            pmid="ReferencePMID",
            type="ReferenceType",
            citation="ReferenceCitation",
        ),
    )


def _outcomes(module: Any, kind: str) -> list[dict[str, Any]]:
    return pick(
        dig(module, f"{kind}OutcomeList", f"{kind}Outcome"),
        measure=f"{kind}OutcomeMeasure",
        time_frame=f"{kind}OutcomeTimeFrame",
        description=f"{kind}OutcomeDescription",
    )


def _terms(derived: Any, kind: str) -> list[Any]:
    meshes = dig(derived, f"{kind}BrowseModule", f"{kind}MeshList", f"{kind}Mesh")
    return [dig(mesh, f"{kind}MeshTerm") for mesh in every(meshes)]
