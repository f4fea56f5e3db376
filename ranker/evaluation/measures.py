"""Measures by the names of ir-measures, per query.

MacAvaney, Macdonald, Ounis: Streamlining Evaluation with ir-measures, ECIR 2022. Its providers order a run by
score, and break ties in ways of their own (trec_eval: by id, descending); so a run is handed over with scores
that fall with the rank, and the order that was served is the order that is measured.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trifuse.ranker.errors import ExtraMissing, MeasureUnknown

DEFAULT_MEASURES = ("nDCG@10", "RR", "R@10", "P@10", "AP", "Judged@10")

Values = dict[str, float]
"""Query id to the value of one measure."""

_COMMA = re.compile(r"[,\s]+(?![^(]*\))")


def split_names(given: Iterable[str]) -> tuple[str, ...]:
    """Names from texts that may hold several, parted by commas or spaces; each once.

    >>> split_names(["nDCG@10,RR", "P(rel=2)@5 RR"])
    ('nDCG@10', 'RR', 'P(rel=2)@5')
    """
    names = (name for text in given for name in _COMMA.split(text) if name)
    return tuple(dict.fromkeys(names))


def parse_measures(names: Sequence[str]) -> dict[str, Any]:
    """Name to measure of ir-measures.

    Raises:
        MeasureUnknown: it isn't one, or needs a program that isn't there.
        ExtraMissing: ir-measures isn't installed.
    """
    ir, provider = _ir_measures()
    found = {}
    for name in names:
        try:
            measure = ir.parse_measure(name)
            known = provider.supports(measure)
        except (NameError, ValueError, TypeError, AttributeError, SyntaxError):
            known = False
        if not known:
            raise MeasureUnknown(
                f"no measure {name!r}: give names such as nDCG@10, RR, R@10, P@5, AP, Judged@10"
            )
        found[name] = measure
    if not found:
        raise MeasureUnknown("no measure is named: give names such as nDCG@10")
    return found


def largest_cutoff(names: Sequence[str]) -> int:
    """The rank down to which the measures look; 0 where none has a cutoff.

    >>> largest_cutoff(["nDCG@10", "R@1000", "RR"])
    1000
    """
    return max((measure.params.get("cutoff", 0) for measure in parse_measures(names).values()), default=0)


def measure_run(
    names: Sequence[str],
    qrels: Mapping[str, Mapping[str, int]],
    run: Mapping[str, Sequence[str]],
) -> dict[str, Values]:
    """The value of each measure for each query of `qrels`; 0 where a query found nothing.

    Args:
        names: measures; the result has them in this order.
        qrels: query to document to grade.
        run: query to document ids, best first.

    Raises:
        MeasureUnknown, ExtraMissing: as `parse_measures`.
    """
    measures = parse_measures(names)
    _, provider = _ir_measures()
    scored = {
        query: {document: float(len(documents) - rank) for rank, document in enumerate(documents)}
        for query, documents in run.items()
        if documents and query in qrels  # ir-measures 0.4.3 divides by the length of a query's run
    }
    values: dict[str, Values] = {name: dict.fromkeys(qrels, 0.0) for name in names}
    judged = {query: dict(grades) for query, grades in qrels.items()}
    if not scored:
        return values
    found: dict[str, Values] = {}
    for each in provider.iter_calc(list(set(measures.values())), judged, scored):
        found.setdefault(str(each.measure), {})[each.query_id] = float(each.value)
    for name, measure in measures.items():
        values[name].update(found.get(str(measure), {}))
    return values


def _ir_measures() -> tuple[Any, Any]:
    """The package, and those of its providers that need no program beside it."""
    try:
        ir = importlib.import_module("ir_measures")
        providers = importlib.import_module("ir_measures.providers")
    except ImportError as error:
        raise ExtraMissing(f"evaluating needs ir-measures ({error}): pip install 'trifuse[tune]'") from error
    return ir, providers.FallbackProvider([ir.pytrec_eval, ir.judged, ir.msmarco])
