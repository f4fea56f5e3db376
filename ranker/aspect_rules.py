"""Which aspect of a study a free question asks for: by its wording, and none where that is unsure. Pure.

The rules are tried in order, and the first that fits decides: "how many patients died" asks for an outcome,
though "how many patients" would ask for the population. They read English.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_READ = 300
"""So many characters of a text are read: a longer one is no question, or asks at its beginning."""


class Asked(NamedTuple):
    """What a question asks for.

    Args:
        aspect: the aspect.
        words: the words of the question that say so.
    """

    aspect: str
    words: str


_PEOPLE = (
    r"(?:patients?|participants?|people|persons?|subjects?|individuals?|volunteers?|children|infants?|newborns?"
    r"|neonates?|adolescents?|adults?|men|women|males?|females?|population|cohort|sample)"
)
_HAPPENED = (
    r"(?:died|die|survived?|recover(?:ed)?|relapsed?|respond(?:ed)?|improved?|developed?|had an?|experienced?"
    r"|dropped out|withdrew|achieved|reached|remained|suffered|reported)"
)
_OUTCOMES = (
    r"(?:outcomes?|end ?points?|effects?|results?|findings?|benefits?|harms?|risks?|side.effects?|adverse"
    r"|mortality|survival|complications?|difference|impact|efficacy|effectiveness|safety|response)"
)
_CHANGES = (
    r"(?:reduc|improv|increas|decreas|lower|rais|prevent|work|help|affect|chang|cur|caus|shorten|prolong|delay"
    r"|slow|reliev|worsen|protect|benefit|differ|die|surviv|live|recover|respond|relapse|effective|efficacious"
    r"|saf|toler|better|worse|superior|inferior|as good|harmful|associated)\w*"
)
_TREATMENT = (
    r"(?:dos(?:e|es|age|ages|ing)|drugs?|treatments?|interventions?|therap(?:y|ies)|medications?|medicines?"
    r"|regimens?|exercises?|surger(?:y|ies)|procedures?|vaccines?|programmes?|programs?|schedules?|devices?)"
)
_GIVEN = (
    r"(?:given|used|administered|delivered|injected|infused|applied|taken|prescribed|performed|tested|tried"
    r"|treated|received?|get|got|take|took|do|undergo)"
)
_CONTROL = r"(?:controls?|comparators?|comparisons?|placebo|sham)"

_FIRST = r"(?<![a-z] )"
"""Where a question or a clause begins: "who was", and no "children who were"."""

_RULES = tuple(
    (aspect, re.compile(rf"\b{pattern}\b"))
    for aspect, pattern in (
        ("intervention", r"(?:what|which)(?: \w+)? (?:was|were|is|are) compared (?:with|to|against)(?= \w)"),
        ("outcome", rf"what (?:was|were|is|are) the(?: \w+)? {_OUTCOMES}"),
        ("comparator", r"(?:compared|versus|vs\.?)(?: with| to| against)? (?:what|whom|which)"),
        (
            "comparator",
            r"(?:what|which|whom?) .*?\bcompared(?: (?:with|to|against))?(?=[ ?.!]*$| (?:for|in|on) )",
        ),
        ("comparator", rf"(?:what|which)(?: \w+){{0,2}} {_CONTROL}"),
        ("comparator", rf"(?:what|which|how) .*?\b{_CONTROL} (?:group|arm|patients|condition)"),
        ("comparator", rf"{_FIRST}(?:was|were|is) (?:there )?(?:an? |any )?{_CONTROL}"),
        ("outcome", rf"how many(?: \w+){{1,3}} {_HAPPENED}"),
        ("outcome", rf"{_FIRST}(?:who|which {_PEOPLE}) {_HAPPENED}"),
        ("intervention", rf"what (?:was|were|is|are|did|do|does)(?: the)? {_PEOPLE}(?: \w+){{0,3}} {_GIVEN}"),
        ("population", rf"(?:which|how many|what|what (?:kind|type|sort)s? of)(?: \w+)? {_PEOPLE}"),
        (
            "population",
            rf"{_FIRST}whom? (?:was|were|is|are|can|could|may|took part|participated|entered|joined)",
        ),
        ("population", r"(?:inclusion|exclusion|eligibility|enroll?ment) criteri\w+|eligible"),
        ("population", rf"how old|(?:age|sex|characteristics|demographics) of (?:the )?{_PEOPLE}"),
        ("intervention", rf"(?:what|which)(?: \w+)? {_TREATMENT} (?:was|were|did|do|does|is|are|of|for|to)"),
        ("intervention", rf"how (?:much|often|long|many times|was|were|is|are)\b.*?\b{_GIVEN}"),
        ("intervention", rf"what (?:was|were|is|are|did|do|does)\b.*?\b{_GIVEN}"),
        ("outcome", rf"(?:what|which|how large|how big|how strong)\b.*?\b{_OUTCOMES}"),
        ("outcome", rf"(?:did|does|whether|how well)\b.*?\b{_CHANGES}"),
        ("outcome", rf"{_FIRST}(?:do|is|are|was|were|can|could|will|would|has|have)\b.*?\b{_CHANGES}"),
        ("outcome", r"how (?:effective|efficacious|safe|well tolerated|good|successful)"),
        ("outcome", r"(?:effects?|impact|efficacy|effectiveness|safety) of"),
        ("outcome", r"side.effects|adverse events|what happened"),
        ("intervention", rf"(?:what|which) {_TREATMENT}"),
    )
)


def asked_for(question: str) -> Asked | None:
    """The aspect that a question asks for; None where its wording doesn't tell.

    >>> asked_for("Did aspirin reduce mortality after stroke?")
    Asked(aspect='outcome', words='did aspirin reduce')
    >>> asked_for("aspirin for stroke") is None
    True
    """
    text = " ".join(question[:_READ].lower().split())
    for aspect, pattern in _RULES:
        if found := pattern.search(text):
            return Asked(aspect, found[0])
    return None
