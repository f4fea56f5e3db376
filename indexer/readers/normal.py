"""The one place where a trial takes its normal form.

Each format's reader says where things stand: it fills a `Raw`, whose values are whatever the source has (a
text, a list, a number, nothing). Here they are cleaned, so that a trial reads the same from every source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypedDict, TypeVar

from trifuse.indexer.criteria import split_criteria
from trifuse.indexer.readers import values
from trifuse.indexer.readers.text import Wraps, clean, layout
from trifuse.indexer.trial import Arm, Intervention, Outcome, Reference, Trial

T = TypeVar("T")


class Raw(TypedDict, total=False):
    """A trial as its source has it, by the record's names.

    `interventions`, `arms`, outcomes and `references` are lists of mappings by their record's names;
    interventions and outcomes may be texts: `DRUG: x`.
    """

    nct_id: Any
    brief_title: Any
    official_title: Any
    acronym: Any
    brief_summary: Any
    detailed_description: Any
    conditions: Any
    interventions: Any
    arms: Any
    primary_outcomes: Any
    secondary_outcomes: Any
    eligibility: Any
    sex: Any
    minimum_age: Any
    maximum_age: Any
    healthy_volunteers: Any
    keywords: Any
    condition_mesh: Any
    intervention_mesh: Any
    phases: Any
    status: Any
    why_stopped: Any
    study_type: Any
    enrollment: Any
    start_date: Any
    completion_date: Any
    sponsor: Any
    sponsor_class: Any
    countries: Any
    references: Any


def trial_of(nct_id: str, raw: Raw, *, wraps: Wraps = "maybe") -> Trial:
    """The trial in its normal form.

    Args:
        nct_id: the id, one of `values.nct_ids(raw["nct_id"])`.
        wraps: whether the source wraps the lines of its three long texts (see `text.layout`).
    """

    def long(value: Any) -> str | None:
        return layout(value, wraps="never" if wraps == "never" else "maybe")

    get = raw.get
    eligibility = layout(get("eligibility"), wraps=wraps)
    inclusion, exclusion = split_criteria(eligibility)
    study_type = values.enumeration(get("study_type"))
    phases = values.phases(get("phases"))
    return Trial(
        nct_id=nct_id,
        brief_title=clean(values.first(get("brief_title"))),
        official_title=clean(values.first(get("official_title"))),
        acronym=clean(values.first(get("acronym"))),
        brief_summary=layout(get("brief_summary"), wraps=wraps),
        detailed_description=layout(get("detailed_description"), wraps=wraps),
        conditions=values.strings(get("conditions")),
        interventions=_items(get("interventions"), _intervention, long),
        arms=_items(get("arms"), _arm, long),
        primary_outcomes=_items(get("primary_outcomes"), _outcome, long),
        secondary_outcomes=_items(get("secondary_outcomes"), _outcome, long),
        eligibility=eligibility,
        inclusion_criteria=inclusion,
        exclusion_criteria=exclusion,
        sex=values.enumeration(get("sex")),
        minimum_age=values.age(get("minimum_age")),
        maximum_age=values.age(get("maximum_age")),
        healthy_volunteers=values.boolean(get("healthy_volunteers")),
        keywords=values.strings(get("keywords")),
        condition_mesh=values.strings(get("condition_mesh")),
        intervention_mesh=values.strings(get("intervention_mesh")),
        # Old sources write N/A also where a phase was never asked for; API v2 then has none.
        phases=() if phases == ("NA",) and study_type not in (None, "INTERVENTIONAL") else phases,
        status=values.enumeration(get("status")),
        why_stopped=clean(values.first(get("why_stopped"))),
        study_type=study_type,
        enrollment=values.count(get("enrollment")),
        start_date=values.date(get("start_date")),
        completion_date=values.date(get("completion_date")),
        sponsor=clean(values.first(get("sponsor"))),
        sponsor_class=values.enumeration(get("sponsor_class")),
        countries=values.countries(values.every(get("countries"))),
        references=_items(get("references"), _reference, long),
    )


Long = Callable[[Any], str | None]


def _items(value: Any, item: Callable[[Any, Long], T], long: Long) -> tuple[T, ...]:
    """The parts of a list, without those that hold nothing."""
    empty = item({}, long)
    return tuple(made for part in _parts(values.every(value)) if (made := item(part, long)) != empty)


def _parts(items: Iterable[Any]) -> Iterable[Any]:
    for item in items:
        if isinstance(item, str):
            yield from item.split("|")
        elif isinstance(item, Mapping):
            yield item


def _intervention(item: Any, long: Long) -> Intervention:
    if isinstance(item, str):
        kind, colon, name = item.partition(":")
        if colon and values.enumeration(kind) in _INTERVENTION_TYPES:
            return Intervention(type=values.enumeration(kind), name=clean(name))
        return Intervention(name=clean(item))
    return Intervention(
        values.enumeration(item.get("type")), clean(item.get("name")), long(item.get("description"))
    )


def _arm(item: Any, long: Long) -> Arm:
    if isinstance(item, str):
        return Arm(label=clean(item))
    return Arm(clean(item.get("label")), values.enumeration(item.get("type")), long(item.get("description")))


def _outcome(item: Any, long: Long) -> Outcome:
    if isinstance(item, str):
        return Outcome(measure=clean(item))
    return Outcome(clean(item.get("measure")), clean(item.get("time_frame")), long(item.get("description")))


def _reference(item: Any, long: Long) -> Reference:
    if isinstance(item, str):
        return Reference(citation=clean(item))
    pmid, citation = clean(item.get("pmid")), clean(item.get("citation"))
    kind = values.enumeration(item.get("type")) if pmid or citation else None
    return Reference(pmid=pmid, type=kind, citation=citation)


_INTERVENTION_TYPES = frozenset(
    (
        "BEHAVIORAL",
        "BIOLOGICAL",
        "COMBINATION_PRODUCT",
        "DEVICE",
        "DIAGNOSTIC_TEST",
        "DIETARY_SUPPLEMENT",
        "DRUG",
        "GENETIC",
        "OTHER",
        "PROCEDURE",
        "RADIATION",
    )
)
