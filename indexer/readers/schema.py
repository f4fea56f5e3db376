"""What the registry's schemas are known to hold: anything else is counted as unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Sections = Mapping[str, frozenset[str] | None]

# fmt: off
STUDY: Sections = {
    "protocolSection": frozenset((
        "identificationModule", "statusModule", "sponsorCollaboratorsModule", "oversightModule",
        "descriptionModule", "conditionsModule", "designModule", "armsInterventionsModule",
        "outcomesModule", "eligibilityModule", "contactsLocationsModule", "referencesModule",
        "ipdSharingStatementModule",
    )),
    "derivedSection": frozenset(("miscInfoModule", "conditionBrowseModule", "interventionBrowseModule")),
    "resultsSection": None,
    "annotationSection": None,
    "documentSection": None,
    "hasResults": None,
}
"""The sections and modules of a study in API v2; None where we don't look inside."""

FULL_STUDY: Sections = {
    "ProtocolSection": frozenset((
        "IdentificationModule", "StatusModule", "SponsorCollaboratorsModule", "OversightModule",
        "DescriptionModule", "ConditionsModule", "DesignModule", "ArmsInterventionsModule",
        "OutcomesModule", "EligibilityModule", "ContactsLocationsModule", "ReferencesModule",
        "IPDSharingStatementModule",
    )),
    "DerivedSection": frozenset(("MiscInfoModule", "ConditionBrowseModule", "InterventionBrowseModule")),
    "ResultsSection": None,
    "AnnotationSection": None,
    "DocumentSection": None,
}
"""The same of a full study in the old API."""

CLINICAL_STUDY = frozenset((
    "acronym", "arm_group", "biospec_descr", "biospec_retention", "brief_summary", "brief_title",
    "clinical_results", "completion_date", "condition", "condition_browse", "delayed_posting",
    "detailed_description", "disposition_first_posted", "disposition_first_submitted",
    "disposition_first_submitted_qc", "eligibility", "enrollment", "expanded_access_info",
    "firstreceived_date", "firstreceived_results_date", "firstreceived_results_disposition_date",
    "has_expanded_access", "id_info", "intervention", "intervention_browse", "is_fda_regulated",
    "is_section_801", "keyword", "last_known_status", "last_update_posted", "last_update_submitted",
    "last_update_submitted_qc", "lastchanged_date", "link", "location", "location_countries",
    "number_of_arms", "number_of_groups", "official_title", "other_outcome", "overall_contact",
    "overall_contact_backup", "overall_official", "overall_status", "oversight_info", "patient_data",
    "pending_results", "phase", "primary_completion_date", "primary_outcome", "provided_document_section",
    "reference", "removed_countries", "required_header", "responsible_party", "results_first_posted",
    "results_first_submitted", "results_first_submitted_qc", "results_reference", "secondary_outcome",
    "source", "sponsors", "start_date", "study_design", "study_design_info", "study_docs",
    "study_first_posted", "study_first_submitted", "study_first_submitted_qc", "study_type",
    "target_duration", "verification_date", "why_stopped",
))
"""The children of `clinical_study` in all versions of the legacy XML."""
# fmt: on


def unknown_modules(study: Mapping[str, Any], known: Sections) -> Iterator[str]:
    """Sections and modules that the API didn't have when this was written."""
    for key, value in study.items():
        modules = known.get(key)
        if key not in known:
            yield key
        elif modules is not None and isinstance(value, Mapping):
            yield from (f"{key}.{name}" for name in value if name not in modules)
