"""The UMLS Metathesaurus as a dictionary, for those who have its licence: MRCONSO, MRREL, MRSTY.

The columns are those of the UMLS Reference Manual, chapter 3 (Rich Release Format).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path

from trifuse.encoder.errors import TrainingInvalid
from trifuse.encoder.training.entities.concepts import Concept

_MRCONSO = "MRCONSO.RRF"
_MRREL = "MRREL.RRF"
_MRSTY = "MRSTY.RRF"
_COLUMNS = {_MRCONSO: 18, _MRREL: 16, _MRSTY: 6}
_LONGEST_NAME = 100


def read_umls(
    folder: Path, vocabularies: Collection[str] = ("MSH",), types: Collection[str] = ()
) -> list[Concept]:
    """The concepts of some vocabularies: English names, parents, siblings, semantic types.

    The files are read line by line; what is held is the names and the relations of these vocabularies alone.

    Args:
        folder: with MRCONSO.RRF and MRREL.RRF, and MRSTY.RRF if there is one.
        vocabularies: abbreviations (SAB) as in the files: `MSH`, `RXNORM`, `SNOMEDCT_US`.
        types: semantic types to keep, by id (`T047`) or name (`Disease or Syndrome`); all unless given.

    Returns:
        concepts in the order of their ids; the kind of each is its first semantic type's name, "" where
        there is no MRSTY.RRF.

    Raises:
        TrainingInvalid: a file is missing, a line of one can't be read, or nothing is left to keep.
    """
    kinds = _kinds(folder / _MRSTY, types)
    names = _names(folder / _MRCONSO, frozenset(vocabularies), kinds if types else None)
    if not names:
        kept = f" of the semantic types {', '.join(sorted(types))}" if types else ""
        raise TrainingInvalid(
            f"{folder / _MRCONSO}: no English name of {', '.join(sorted(vocabularies))}{kept}: "
            "name vocabularies that the subset has (its column SAB), or other types"
        )
    parents, siblings = _relations(folder / _MRREL, frozenset(vocabularies), names)
    return [
        Concept(
            id=cui,
            kind=kinds.get(cui, ""),
            names=names[cui],
            parents=frozenset(parents.get(cui, ())),
            siblings=frozenset(siblings.get(cui, ())),
        )
        for cui in sorted(names)
    ]


def _kinds(path: Path, types: Collection[str]) -> dict[str, str]:
    if not path.exists() and not types:
        return {}
    first: dict[str, tuple[str, str]] = {}
    for cui, tui, _, name, *_ in _rows(path):
        if not types or tui in types or name in types:
            first[cui] = min(first.get(cui, (tui, name)), (tui, name))
    return {cui: name for cui, (_, name) in first.items()}


def _names(
    path: Path, vocabularies: frozenset[str], only: dict[str, str] | None
) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, tuple[bool, bool, bool]]] = defaultdict(dict)
    for row in _rows(path):
        cui, language, status, _, form, _, preferred = row[:7]
        vocabulary, name, suppressed = row[11], row[14], row[16]
        if language != "ENG" or suppressed != "N" or vocabulary not in vocabularies:
            continue
        if (only is None or cui in only) and 0 < len(name) <= _LONGEST_NAME:
            rank = (status != "P", form != "PF", preferred != "Y")
            found[cui][name] = min(found[cui].get(name, rank), rank)
    return {cui: tuple(sorted(ranks, key=lambda name: (ranks[name], name))) for cui, ranks in found.items()}


def _relations(
    path: Path, vocabularies: frozenset[str], known: Collection[str]
) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Parents and siblings. A row says what its second concept is to its first: PAR, its parent."""
    parents: dict[str, set[str]] = defaultdict(set)
    siblings: dict[str, set[str]] = defaultdict(set)
    for row in _rows(path):
        one, relation, other, vocabulary, suppressed = row[0], row[3], row[4], row[10], row[14]
        if vocabulary not in vocabularies or suppressed != "N" or one == other:
            continue
        if relation == "PAR" and one in known:
            parents[one].add(other)
        elif relation == "CHD" and other in known:
            parents[other].add(one)
        elif relation == "SIB" and one in known and other in known:
            siblings[one].add(other)
            siblings[other].add(one)
    return parents, siblings


def _rows(path: Path) -> Iterator[list[str]]:
    """The columns of each line; every column of the format ends in `|`, the last one too."""
    if not path.is_file():
        raise TrainingInvalid(
            f"{path} isn't there: give the folder META of a UMLS subset (MetamorphoSys makes one)"
        )
    columns = _COLUMNS[path.name]
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = line.decode("utf-8").rstrip("\r\n").split("|")
            except UnicodeDecodeError as error:
                raise TrainingInvalid(
                    f"{path}, line {number}: not UTF-8 ({error}): copy the file again from the release"
                ) from error
            if len(row) != columns + 1:
                raise TrainingInvalid(
                    f"{path}, line {number}: {len(row) - 1} columns where {path.name} has {columns}: is the "
                    "file whole, and in Rich Release Format?"
                )
            yield row
