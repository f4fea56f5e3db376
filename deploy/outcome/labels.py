"""Which trials ended well: labels from a field of the index, or from a file."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trifuse.deploy.errors import OutcomeInvalid
from trifuse.deploy.outcome.split import SPLITS, Split

STATUS_FIELD = "status"
COMPLETED = ("COMPLETED", "APPROVED_FOR_MARKETING")
STOPPED = ("TERMINATED", "WITHDRAWN", "SUSPENDED")
"""The registry's words for what the Trial2Vec paper calls completion and termination (table 2)."""

TELLING = ("status", "overall_status", "why_stopped", "why_stop", "last_known_status", "results", "label")
"""Fields that tell how a trial ended, or that it did: no prediction may be made from them."""

_IDS = ("id", "nct_id", "nctid")
_LONGEST_FIELD = 2**24
_SHOWN = 5


@dataclass(frozen=True)
class Outcomes:
    """What counts as positive, and what as negative; anything else is left out.

    Raises:
        OutcomeInvalid: a value is both, or there is none of one.
    """

    positive: tuple[str, ...] = COMPLETED
    negative: tuple[str, ...] = STOPPED

    def __post_init__(self) -> None:
        both = {normal(value) for value in self.positive} & {normal(value) for value in self.negative}
        if both or not self.positive or not self.negative:
            raise OutcomeInvalid(
                f"positive ({', '.join(self.positive)}) and negative ({', '.join(self.negative)}) need a "
                "value each, and none may be both (--positive, --negative)"
            )

    def of(self, value: object) -> bool | None:
        """Whether a value is positive; None where it is neither.

        >>> Outcomes().of("Completed"), Outcomes().of("Recruiting")
        (True, None)
        """
        said = normal(value)
        if any(said == normal(each) for each in self.positive):
            return True
        return False if any(said == normal(each) for each in self.negative) else None


def normal(value: object) -> str:
    """A status however a registry spells it.

    >>> normal("Active, not recruiting")
    'ACTIVE_NOT_RECRUITING'
    """
    return re.sub(r"[\W_]+", "_", str(value)).strip("_").upper()


@dataclass(frozen=True)
class Label:
    """A trial's outcome; the part that it belongs to where that is given."""

    positive: bool
    split: Split | None = None


def read_labels(files: Iterable[tuple[Path, Split | None]], outcomes: Outcomes) -> dict[str, Label]:
    """Labels by id, of CSV or TSV files with a header, plain or gzip'd.

    Columns: `id` (or `nct_id`, `nctid`), `label`, and maybe `split` (train, valid, test). Others are ignored.

    Args:
        files: each with the part that all of its trials belong to; None: by its column, else by their ids.

    Raises:
        OutcomeInvalid: a file isn't that, it has no label, or one without an id, or two labels of one trial
            contradict each other.
    """
    found: dict[str, Label] = {}
    for path, given in files:
        others: dict[str, None] = {}
        labelled = False
        for row in _rows(path):
            positive = outcomes.of(row["label"])
            if positive is None:
                others.setdefault(row["label"])
                continue
            labelled = True
            if not row["id"]:
                raise OutcomeInvalid(
                    f"{path} has a label without an id: name the trial in each row, or take the row out"
                )
            label = Label(positive, given or _split(row.get("split", ""), path))
            if found.setdefault(row["id"], label) != label:
                raise OutcomeInvalid(
                    f"{path} says something else of {row['id']!r} than was read before: label a trial once"
                )
        if not labelled:
            known = ", ".join((*outcomes.positive, *outcomes.negative))
            there = ", ".join(map(repr, list(others)[:_SHOWN])) or "no row"
            raise OutcomeInvalid(
                f"{path} has none of the labels {known}, but {there}: --positive and --negative name others"
            )
    return found


def _rows(path: Path) -> Iterator[dict[str, str]]:
    csv.field_size_limit(_LONGEST_FIELD)
    opener = gzip.open if path.suffix == ".gz" else open
    tabs = ".tsv" in path.suffixes
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file, delimiter="\t" if tabs else ",")
            names = _columns(rows.fieldnames or (), path)
            for row in rows:
                yield {ours: (row[theirs] or "").strip() for ours, theirs in names.items()}
    except (UnicodeDecodeError, gzip.BadGzipFile, zlib.error, EOFError, csv.Error) as error:
        raise OutcomeInvalid(f"{path} can't be read as CSV ({error}): give a file with a header") from error


def _columns(header: Sequence[str], path: Path) -> Mapping[str, str]:
    """Our name of each column that is used, to the file's."""
    named = {name.strip().lower(): name for name in header}
    ids = [named[name] for name in _IDS if name in named]
    if not ids or "label" not in named:
        raise OutcomeInvalid(
            f"{path} has the columns {', '.join(header) or '(none)'}: it needs `id` (or `nct_id`) and `label`"
        )
    return {"id": ids[0], "label": named["label"]} | ({"split": named["split"]} if "split" in named else {})


def _split(value: str, path: Path) -> Split | None:
    if value and value not in SPLITS:
        raise OutcomeInvalid(f"{path} names the part {value!r}, which is none of {', '.join(SPLITS)}")
    return next((part for part in SPLITS if part == value), None)
