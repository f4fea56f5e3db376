"""Single values as sources spell them to values as the record spells them: API v2's way."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from trifuse.indexer.readers.text import clean

_ID = re.compile(r"NCT[0-9]{1,11}")
_NOT_GIVEN = frozenset({"", "N_A", "NA", "NONE", "NULL", "NAN", "NOT_APPLICABLE", "NOT_PROVIDED"})
_RENAMED = {
    "UNKNOWN_STATUS": "UNKNOWN",
    "U_S_FED": "FED",
    "BOTH": "ALL",
    "BEHAVIOURAL": "BEHAVIORAL",
}
_PHASE = re.compile(r"(?:PHASE)?_?(?:([0-4])|(I{1,3}|IV))[AB]?")
_ROMAN = {"I": "1", "II": "2", "III": "3", "IV": "4"}
_MONTHS = {
    **{"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6},
    **{"jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12},
}
_ISO_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?(?:[T ].*)?")
_WORDED_DATE = re.compile(r"([A-Za-z]{3,9})\.?\s+(?:(\d{1,2}),?\s+)?(\d{4})")
_AGE = re.compile(r"(\d{1,4})\s*(year|month|week|day|hour|minute)s?\b.*", re.IGNORECASE)
_LARGEST_COUNT = 2**31 - 1
_COUNTRIES = {
    "Congo, The Democratic Republic of the": "Democratic Republic of the Congo",
    "Czech Republic": "Czechia",
    "Iran, Islamic Republic of": "Iran",
    "Korea, Democratic People's Republic of": "North Korea",
    "Korea, Republic of": "South Korea",
    "Lao People's Democratic Republic": "Laos",
    "Libyan Arab Jamahiriya": "Libya",
    "Macedonia, The Former Yugoslav Republic of": "North Macedonia",
    "Moldova, Republic of": "Moldova",
    "Palestinian Territories, Occupied": "Palestinian Territories",
    "Palestinian Territory, occupied": "Palestinian Territories",
    "Russian Federation": "Russia",
    "Swaziland": "Eswatini",
    "Syrian Arab Republic": "Syria",
    "Tanzania, United Republic of": "Tanzania",
    "Turkey": "Turkey (Türkiye)",
    "Viet Nam": "Vietnam",
}
"""Names that the registry has given up, and those that it writes now."""


def nct_ids(value: Any) -> tuple[str, ...]:
    """The ids in a value: one, or several in a list or a text; none of a text that holds anything else.

    `NCT` and up to eleven digits: the registry's have eight, its own test records fewer.

    >>> nct_ids("nct00000102, NCT00000104"), nct_ids(["NCT00000102", "NCT00000104"]), nct_ids("ISRCTN12345")
    (('NCT00000102', 'NCT00000104'), ('NCT00000102', 'NCT00000104'), ())
    """
    return tuple(dict.fromkeys(found for item in every(value) for found in _ids_in(clean(item) or "")))


def _ids_in(text: str) -> list[str]:
    words = re.split(r"[\s,;|]+", text.upper().strip(" ,;|"))
    return words if all(_ID.fullmatch(word) for word in words) else []


def first(value: Any) -> Any:
    """The value itself, or the first of a list: some sources wrap single values."""
    return (value[0] if value else None) if isinstance(value, list | tuple) else value


def every(value: Any) -> list[Any]:
    """A list of values, whether the source has a list, one value or none."""
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def strings(value: Any) -> tuple[str, ...]:
    """Texts in order, each once; `a|b` is two.

    >>> strings(["Asthma|COPD", " Asthma ", None])
    ('Asthma', 'COPD')
    """
    parts = (part for item in every(value) for part in (item.split("|") if isinstance(item, str) else [item]))
    return tuple(dict.fromkeys(text for part in parts if (text := clean(part))))


def enumeration(value: Any) -> str | None:
    """A value of a closed list.

    >>> enumeration("Active, not recruiting"), enumeration("Observational [Patient Registry]")
    ('ACTIVE_NOT_RECRUITING', 'OBSERVATIONAL')
    """
    value = first(value)
    return _enumeration(value) if isinstance(value, str) else None


@lru_cache(maxsize=1024)
def _enumeration(text: str) -> str | None:
    name = re.sub(r"[^A-Za-z0-9]+", "_", re.sub(r"\[.*?\]", "", text)).strip("_").upper()
    name = _RENAMED.get(name, name)
    return None if name in _NOT_GIVEN else name


def phases(value: Any) -> tuple[str, ...]:
    """Phases in their order; `NA` where the source says that none applies.

    >>> phases("Phase 1/Phase 2"), phases("N/A"), phases("Early Phase 1"), phases("PHASE2|PHASE3"), phases("")
    (('PHASE1', 'PHASE2'), ('NA',), ('EARLY_PHASE1',), ('PHASE2', 'PHASE3'), ())
    """
    texts = [item for item in every(value) if isinstance(item, str)]
    return tuple(dict.fromkeys(phase for text in texts for phase in _phases(text)))


@lru_cache(maxsize=256)
def _phases(text: str) -> tuple[str, ...]:
    names = (
        re.sub(r"[^A-Z0-9]+", "_", part).strip("_")
        for part in re.split(r"[|/,;&]|\bAND\b", re.sub(r"\bN/A\b", "NA", text.upper()))
    )
    return tuple(filter(None, map(_phase, names)))


def _phase(name: str) -> str | None:
    if name in ("NA", "NOT_APPLICABLE"):
        return "NA"
    if "EARLY" in name or name in ("PHASE0", "PHASE_0", "0"):
        return "EARLY_PHASE1"
    number = _PHASE.fullmatch(name)
    return f"PHASE{number[1] or _ROMAN[number[2]]}" if number else None


def date(value: Any) -> str | None:
    """A date as exact as the source has it; None where it is none.

    >>> [date(text) for text in ("January 2005", "January 5, 2005", "2005-01-05T11:54", "2005", "2005-02-30")]
    ['2005-01', '2005-01-05', '2005-01-05', '2005', None]
    """
    value = first(value)
    return _date(value.strip()) if isinstance(value, str) else None


@lru_cache(maxsize=4096)
def _date(text: str) -> str | None:
    if iso := _ISO_DATE.fullmatch(text):
        year, month, day = iso.groups()
    elif worded := _WORDED_DATE.fullmatch(text):
        name, day, year = worded.groups()
        month = _MONTHS.get(name[:3].lower())
        if month is None:
            return None
    else:
        return None
    try:
        exact = datetime.date(int(year), int(month or 1), int(day or 1)).isoformat()
    except ValueError:
        return None
    return exact if day else exact[:7] if month else exact[:4]


def age(value: Any) -> str | None:
    """An age as the registry writes it; None where there is no limit.

    >>> age("18 years"), age("1 Year"), age("N/A")
    ('18 Years', '1 Year', None)
    """
    value = first(value)
    match = _AGE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        return None
    number = int(match[1])
    return f"{number} {match[2].capitalize()}{'' if number == 1 else 's'}"


def boolean(value: Any) -> bool | None:
    """Yes or no, however it is said.

    >>> boolean("Accepts Healthy Volunteers"), boolean("No"), boolean("False"), boolean("")
    (True, False, False, None)
    """
    value = first(value)
    if isinstance(value, bool) or value is None:
        return value
    said = str(value).strip().lower()
    if said in ("true", "yes", "y", "1", "accepts healthy volunteers"):
        return True
    return False if said in ("false", "no", "n", "0") else None


def count(value: Any) -> int | None:
    """A number of people; None where it is none, or larger than an index's `integer` holds.

    >>> count("1,240"), count(31.0), count("?")
    (1240, 31, None)
    """
    value = first(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = int(value.strip().replace(",", "")) if isinstance(value, str) else int(value)
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number <= _LARGEST_COUNT else None


def countries(values: Iterable[Any]) -> tuple[str, ...]:
    """Countries sorted, each once, by the names that the registry uses now."""
    names = (clean(value) for value in values)
    return tuple(sorted({_COUNTRIES.get(name, name) for name in names if name}))
