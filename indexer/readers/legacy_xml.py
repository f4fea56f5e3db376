"""The registry's legacy XML: `clinical_study`, one a file, or several under any root."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from trifuse.indexer.readers.normal import Raw
from trifuse.indexer.readers.records import Place, Record, Rejection
from trifuse.indexer.readers.schema import CLINICAL_STUDY
from trifuse.indexer.readers.streams import ChunkFile

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_STUDY = "clinical_study"
_OTHER_ROOTS = {
    "rss": "an RSS feed of search results, no study",
    "search_results": "a list of search results, no study",
}


def read_xml(chunks: Iterator[bytes], place: Place) -> Iterator[Record | Rejection]:
    """The trials of an XML file; each is dropped from memory when it has been read."""
    open_tags: list[Element] = []
    studies, open_studies, root = 0, 0, ""
    try:
        for event, element in iterparse(io.BufferedReader(ChunkFile(chunks)), events=("start", "end")):
            if event == "start":
                root = root or element.tag
                open_tags.append(element)
                open_studies += element.tag == _STUDY
                continue
            open_tags.pop()
            if element.tag == _STUDY:
                studies += 1
                open_studies -= 1
                place.line = studies if open_tags else None
                yield from place.records(_raw(element), unknown=_unknown(element), wraps="always")
            if open_tags and not open_studies:
                open_tags[-1].remove(element)
    except ParseError as error:
        place.line = error.position[0]
        yield place.reject(f"not well-formed XML, or cut: {error}")
    except (DefusedXmlException, ValueError, LookupError) as error:
        yield place.reject(f"XML that is not read: {error or type(error).__name__}")
    else:
        if not studies:
            what = _OTHER_ROOTS.get(root, f"XML with the root <{root}>, no study")
            yield place.reject(f"{what}; expected <{_STUDY}>")


def _unknown(study: Element) -> Iterator[str]:
    """Elements that the schema never had."""
    return iter(sorted({child.tag for child in study} - CLINICAL_STUDY))


def _raw(study: Element) -> Raw:
    """Where a study has what the record keeps. The schema can't tell derived references from results."""
    text, texts = study.findtext, _texts
    return Raw(
        nct_id=text("id_info/nct_id"),
        brief_title=text("brief_title"),
        official_title=text("official_title"),
        acronym=text("acronym"),
        brief_summary=text("brief_summary/textblock"),
        detailed_description=text("detailed_description/textblock"),
        conditions=texts(study, "condition"),
        keywords=texts(study, "keyword"),
        interventions=_parts(
            study,
            "intervention",
            type="intervention_type",
            name="intervention_name",
            description="description",
        ),
        arms=_parts(
            study, "arm_group", label="arm_group_label", type="arm_group_type", description="description"
        ),
        primary_outcomes=_outcomes(study, "primary_outcome"),
        secondary_outcomes=_outcomes(study, "secondary_outcome"),
        eligibility=text("eligibility/criteria/textblock"),
        sex=text("eligibility/gender"),
        minimum_age=text("eligibility/minimum_age"),
        maximum_age=text("eligibility/maximum_age"),
        healthy_volunteers=text("eligibility/healthy_volunteers"),
        condition_mesh=texts(study, "condition_browse/mesh_term"),
        intervention_mesh=texts(study, "intervention_browse/mesh_term"),
        phases=text("phase"),
        study_type=text("study_type"),
        enrollment=text("enrollment"),
        status=text("overall_status"),
        why_stopped=text("why_stopped"),
        start_date=text("start_date"),
        completion_date=text("completion_date"),
        sponsor=text("sponsors/lead_sponsor/agency"),
        sponsor_class=text("sponsors/lead_sponsor/agency_class"),
        countries=texts(study, "location_countries/country")
        + texts(study, "location/facility/address/country"),
        references=_references(study, "reference", "BACKGROUND")
        + _references(study, "results_reference", "RESULT"),
    )


def _texts(node: Element, path: str) -> list[str]:
    return [child.text or "" for child in node.iterfind(path)]


def _parts(study: Element, tag: str, **names: str) -> list[dict[str, Any]]:
    return [{ours: child.findtext(theirs) for ours, theirs in names.items()} for child in study.iterfind(tag)]


def _outcomes(study: Element, tag: str) -> list[dict[str, Any]]:
    return _parts(study, tag, measure="measure", time_frame="time_frame", description="description")


def _references(study: Element, tag: str, kind: str) -> list[dict[str, Any]]:
    return [{**part, "type": kind} for part in _parts(study, tag, pmid="PMID", citation="citation")]
