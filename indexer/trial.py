"""The one record that every source of trials is read into."""

from __future__ import annotations

from typing import Any

import msgspec

from trifuse.encoder.templates import TextTemplate

TRIAL_TEMPLATE = TextTemplate(
    ("brief_title", "conditions", "interventions.name", "brief_summary"), max_chars=2000
)
"""The text of a trial that is embedded unless another template is asked for."""


def trial_template(pair_separator: str = "") -> TextTemplate:
    """The text of a trial for a model: its title and its summary, where the model was trained on such pairs.

    Args:
        pair_separator: the model's token between the two; "" where it knows no pairs.
    """
    if not pair_separator:
        return TRIAL_TEMPLATE
    return TextTemplate(("brief_title", "brief_summary"), separator=f" {pair_separator} ")


class Intervention(msgspec.Struct, frozen=True):
    """What is given or done: `type` in API v2 spelling (`DRUG`, `DIETARY_SUPPLEMENT`)."""

    type: str | None = None
    name: str | None = None
    description: str | None = None


class Arm(msgspec.Struct, frozen=True):
    """A group of participants: `type` in API v2 spelling (`PLACEBO_COMPARATOR`)."""

    label: str | None = None
    type: str | None = None
    description: str | None = None


class Outcome(msgspec.Struct, frozen=True):
    """What is measured, and when."""

    measure: str | None = None
    time_frame: str | None = None
    description: str | None = None


class Reference(msgspec.Struct, frozen=True):
    """A publication: `type` is `BACKGROUND`, `RESULT` or `DERIVED`."""

    pmid: str | None = None
    type: str | None = None
    citation: str | None = None


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """A trial in its one normal form, whichever source it was read from.

    What a source doesn't say is None, or an empty tuple for a list: never "" or "N/A".

    Args:
        nct_id: `NCT` and digits.
        brief_summary, detailed_description, eligibility: one paragraph or list item a line; list items start
            with `- ` or their own number, indented by two spaces for each level.
        inclusion_criteria, exclusion_criteria: the items of `eligibility`, without headings and bullets.
        minimum_age, maximum_age: as the registry writes them, `18 Years`; None where there is no limit.
        sex, phases, status, study_type, sponsor_class: API v2's spelling: `ALL`, `PHASE1`, `COMPLETED`,
            `INTERVENTIONAL`, `INDUSTRY`. `phases` holds `NA` for an interventional trial without a phase.
        start_date, completion_date: `2005-01-31`, `2005-01` or `2005`, as exact as the source has them.
        countries: sorted, each once.
    """

    nct_id: str
    brief_title: str | None = None
    official_title: str | None = None
    acronym: str | None = None
    brief_summary: str | None = None
    detailed_description: str | None = None
    conditions: tuple[str, ...] = ()
    interventions: tuple[Intervention, ...] = ()
    arms: tuple[Arm, ...] = ()
    primary_outcomes: tuple[Outcome, ...] = ()
    secondary_outcomes: tuple[Outcome, ...] = ()
    eligibility: str | None = None
    inclusion_criteria: tuple[str, ...] = ()
    exclusion_criteria: tuple[str, ...] = ()
    sex: str | None = None
    minimum_age: str | None = None
    maximum_age: str | None = None
    healthy_volunteers: bool | None = None
    keywords: tuple[str, ...] = ()
    condition_mesh: tuple[str, ...] = ()
    intervention_mesh: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    status: str | None = None
    why_stopped: str | None = None
    study_type: str | None = None
    enrollment: int | None = None
    start_date: str | None = None
    completion_date: str | None = None
    sponsor: str | None = None
    sponsor_class: str | None = None
    countries: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()

    def source(self) -> dict[str, Any]:
        """The trial as a document's `_source`: every field, lists as lists, None where there is nothing.

        >>> Trial(nct_id="NCT1", interventions=(Intervention(name="x"),)).source()["interventions"]
        [{'type': None, 'name': 'x', 'description': None}]
        """
        source: dict[str, Any] = msgspec.to_builtins(self)
        return {key: list(value) if isinstance(value, tuple) else value for key, value in source.items()}
