"""Trials as the tables take them: read from files, without what their labels are made of."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from trifuse.encoder.templates import TextTemplate, build_text
from trifuse.indexer.readers import Rejection, read_trials

CORPUS = Path("ctgov_full", "trials.jsonl.gz")
HIDDEN = ("condition_mesh", "intervention_mesh")
"""What the registry's curators added: labels are made of it, and no method sees it."""

FULL = TextTemplate(
    (
        "brief_title",
        "official_title",
        "conditions",
        "interventions.name",
        "keywords",
        "brief_summary",
        "detailed_description",
        "eligibility",
        "primary_outcomes.measure",
    )
)
"""All that a trial says of itself."""

FLAT = TextTemplate(("brief_title", "conditions", "brief_summary"))
"""What an encoder of plain texts is given."""

CONDITIONS = TextTemplate(("conditions",))


class Told(NamedTuple):
    """A trial: what methods may see of it, and the terms that judge them."""

    id: str
    source: Mapping[str, Any]
    mesh: frozenset[str]


def corpus_file(path: Path) -> Path:
    """The file itself, or `ctgov_full/trials.jsonl.gz` or `trials.jsonl.gz` in a folder."""
    inner = path / CORPUS
    return inner if inner.exists() else path / CORPUS.name if path.is_dir() else path


def told(paths: Sequence[Path]) -> list[Told]:
    """The trials of files; what can't be read is named on stderr.

    Raises:
        PathNotFound: there is no such file.
    """
    found: dict[str, Told] = {}
    for item in read_trials(paths):
        if isinstance(item, Rejection):
            print(f"left out {item.source}:{item.line}: {item.reason}", file=sys.stderr)
        elif item.trial.nct_id not in found:
            source = item.trial.source()
            shown = {field: value for field, value in source.items() if field not in HIDDEN}
            found[item.trial.nct_id] = Told(item.trial.nct_id, shown, frozenset(source["condition_mesh"]))
    return list(found.values())


def texts_of(trials: Iterable[Told], template: TextTemplate) -> list[str]:
    """One text a trial."""
    return [build_text(trial.source, template) for trial in trials]
