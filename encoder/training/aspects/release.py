"""Labelled tokens from the files of an EBM-NLP release, 2.0 or 1.00.

ebm_nlp_2_00/
├── documents/PMID.tokens                       a token a line
└── annotations/aggregated/
    ├── starting_spans/                         0, or 1 where a token has the aspect
    └── hierarchical_labels/                    0, or the number of a kind within the aspect
        └── participants, interventions, outcomes
            └── train, test/gold, test/crowd
                └── PMID.AGGREGATED.ann         a number a line; 1.00: PMID_AGGREGATED.ann, blanks or commas

A token may have several aspects. Among the kinds of interventions is the control: in hierarchical labels its
tokens are the comparator's, and not the intervention's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from trifuse.encoder.errors import LabelsInvalid
from trifuse.encoder.training.aspects.labelled import Aspects, LabelledTokens

Labels = Literal["starting_spans", "hierarchical_labels"]
Part = Literal["train", "test/gold", "test/crowd"]

_NAME = re.compile(r"(?P<document>.+)[._]AGGREGATED\.ann")
_APART = re.compile(r"[\s,]+")
_FOLDERS = {"participants": "population", "interventions": "intervention", "outcomes": "outcome"}
_MOST: Mapping[Labels, Mapping[str, int]] = {
    "starting_spans": {"participants": 1, "interventions": 1, "outcomes": 1},
    "hierarchical_labels": {"participants": 4, "interventions": 7, "outcomes": 6},
}
_CONTROL = 7


def read_release(
    folder: str | Path,
    part: Part,
    left_out: Callable[[str], None],
    *,
    labels: Labels = "starting_spans",
) -> Iterator[LabelledTokens]:
    """The documents of one part of a release that are annotated for all three aspects, by their ids.

    Each has one run of tokens for the whole text: sentences aren't annotated.

    Args:
        folder: the release's, with `documents` and `annotations` in it.
        left_out: is told of each document that lacks an aspect's annotation, and why it is left out.

    Raises:
        LabelsInvalid: a folder or file is missing, or isn't what it should be; naming it.
    """
    root = Path(folder)
    files = {name: _annotations(root, labels, name, part) for name in _FOLDERS}
    for document in sorted(set().union(*files.values())):
        lacking = [name for name, found in files.items() if document not in found]
        if lacking:
            left_out(f"{document} has no annotation of {', '.join(lacking)} in {labels}, {part}")
            continue
        tokens = _tokens(root / "documents" / f"{document}.tokens")
        columns = [_aspects(files[name][document], name, labels, len(tokens)) for name in _FOLDERS]
        yield LabelledTokens(
            document,
            tokens,
            tuple(frozenset().union(*of_token) for of_token in zip(*columns, strict=True)),
            (len(tokens),),
            part.partition("/")[0],
            part,
        )


def _annotations(root: Path, labels: Labels, name: str, part: Part) -> dict[str, Path]:
    """Document to its file."""
    folder = root / "annotations" / "aggregated" / labels / name / part
    if not folder.is_dir():
        raise LabelsInvalid(
            f"there is no folder {str(folder)!r}: give the folder of an EBM-NLP release, which holds "
            "`documents` and `annotations`"
        )
    found = {}
    for path in sorted(folder.glob("*.ann")):
        if match := _NAME.fullmatch(path.name):
            found[match["document"]] = path
        else:
            raise LabelsInvalid(f"{path}: expected a name such as PMID.AGGREGATED.ann")
    if not found:
        raise LabelsInvalid(f"{folder}: there are no annotations in it, expected files PMID.AGGREGATED.ann")
    return found


def _tokens(path: Path) -> tuple[str, ...]:
    lines = _read(path).split("\n")
    return tuple(line.rstrip("\r") for line in (lines[:-1] if lines[-1] == "" else lines))


def _aspects(path: Path, name: str, labels: Labels, tokens: int) -> list[Aspects]:
    given = [label for label in _APART.split(_read(path)) if label]
    if len(given) != tokens:
        raise LabelsInvalid(f"{path}: {len(given)} labels for {tokens} tokens: they must be as many")
    most = _MOST[labels][name]
    none: Aspects = frozenset()
    meaning = {"0": none} | {str(kind): frozenset({_FOLDERS[name]}) for kind in range(1, most + 1)}
    if name == "interventions" and most >= _CONTROL:
        meaning[str(_CONTROL)] = frozenset({"comparator"})
    for number, label in enumerate(given, start=1):
        if label not in meaning:
            raise LabelsInvalid(
                f"{path}, label {number}: {label[:40]!r}, expected a whole number from 0 to {most}"
            )
    return [meaning[label] for label in given]


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise LabelsInvalid(f"{path} can't be read: {error}") from error
