"""Whether a ranking of sentences follows the aspect that is asked for. Pure.

Each document is asked once for each aspect, and ranks the same sentences each time. Shares, in percent:

- Top-1: the first sentence has the aspect. Of all requests.
- Aspect-Specific Top-1: the first sentence has the aspect and no other. Of all requests, also of those that
  no sentence of the document fulfils (`possible` says how many could be).
- Two-Aspect Switching: both requests of a pair of aspects put a sentence of the asked aspect alone first. Of
  eligible pairs: those of which the document has, for both aspects, a sentence of that aspect alone.

A sentence may have several aspects, or none. "Alone" is among the aspects that are asked for, and others that
are named. Sentences with the same score are ranked in reading order. Intervals are bootstrapped over
documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np

from trifuse.ranker.errors import NothingToEvaluate
from trifuse.ranker.evaluation.significance import RESAMPLES, SEED, bootstrap_ratio_ci


class AskedDocument(NamedTuple):
    """What a document has, and which of its sentences came first for each aspect.

    Args:
        aspects: of each candidate sentence, in reading order.
        first: aspect asked for to the position of the sentence that was ranked first; empty where there are
            no candidates.
    """

    aspects: Sequence[AbstractSet[str]]
    first: Mapping[str, int]


class Share(NamedTuple):
    """A share in percent.

    Args:
        percent: None where there is nothing to be a share of.
        ci95: the interval over documents.
        of: how many it is a share of.
    """

    percent: float | None
    ci95: tuple[float, float] | None
    of: int


@dataclass(frozen=True)
class AspectScores:
    """The three shares, over all requests or over those of one aspect (and its pairs).

    Args:
        possible: the share of requests that some sentence of the document has alone: what `specific` is at
            most.
    """

    top1: Share
    specific: Share
    switching: Share
    possible: Share


@dataclass(frozen=True)
class AspectEvaluation:
    """How well a way of asking follows the aspect.

    Args:
        documents: that were asked.
        without_candidates: documents left out, since they have no sentence to find.
        pair_documents: documents that have an eligible pair.
    """

    scores: AspectScores
    per_aspect: Mapping[str, AspectScores]
    documents: int
    without_candidates: int
    pair_documents: int


def first_of(scores: Sequence[float]) -> int:
    """The position of the highest score; of equal ones the first in reading order.

    >>> first_of([0.25, 0.75, 0.75])
    1
    """
    return max(range(len(scores)), key=lambda at: (scores[at], -at))


def evaluate_aspects(
    documents: Sequence[AskedDocument],
    aspects: Sequence[str],
    *,
    beside: Sequence[str] = (),
    other_seeds: Sequence[Sequence[AskedDocument]] = (),
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> AspectEvaluation:
    """Measure the answers of all documents.

    Args:
        aspects: those that were asked for, of every document.
        beside: others that are labelled: a sentence that has one of them has no aspect alone.
        other_seeds: the same documents, asked by models of other seeds: shares are means over all seeds.

    Raises:
        NothingToEvaluate: no document has a candidate.
    """
    asked = [document for document in documents if document.aspects]
    if not asked:
        raise NothingToEvaluate(
            f"none of {len(documents)} documents has a sentence after its first, which is its title"
        )
    runs = [
        [_Answers.of(document, aspects, beside) for document in run if document.aspects]
        for run in (documents, *other_seeds)
    ]

    def scores(of: Sequence[str]) -> AspectScores:
        def share(count: Callable[[_Answers], tuple[int, int]]) -> Share:
            return _share([[count(each) for each in run] for run in runs], resamples, seed)

        return AspectScores(
            top1=share(lambda each: (len(each.has & {*of}), len(of))),
            specific=share(lambda each: (len(each.alone & {*of}), len(of))),
            switching=share(lambda each: each.switched(of)),
            possible=share(lambda each: (len(each.possible & {*of}), len(of))),
        )

    return AspectEvaluation(
        scores=scores(aspects),
        per_aspect={aspect: scores([aspect]) for aspect in aspects},
        documents=len(asked),
        without_candidates=len(documents) - len(asked),
        pair_documents=sum(len(each.possible) > 1 for each in runs[0]),
    )


def mean_and_sd(shares: Sequence[Share]) -> tuple[float, float] | None:
    """The mean over seeds and its sample standard deviation (0 of one seed); None where one is of nothing.

    >>> mean_and_sd([Share(50.0, None, 4), Share(60.0, None, 4), Share(70.0, None, 4)])
    (60.0, 10.0)
    """
    values = [share.percent for share in shares if share.percent is not None]
    if not values or len(values) < len(shares):
        return None
    return fmean(values), stdev(values) if len(values) > 1 else 0.0


class _Answers(NamedTuple):
    """Of one document, the aspects that were got at all, got alone, and could have been got alone."""

    has: frozenset[str]
    alone: frozenset[str]
    possible: frozenset[str]

    @classmethod
    def of(cls, document: AskedDocument, aspects: Sequence[str], beside: Sequence[str]) -> _Answers:
        sentences = [each & {*aspects, *beside} for each in document.aspects]
        got = {aspect: sentences[document.first[aspect]] for aspect in aspects}
        return cls(
            has=frozenset(aspect for aspect in aspects if aspect in got[aspect]),
            alone=frozenset(aspect for aspect in aspects if got[aspect] == {aspect}),
            possible=frozenset(aspect for aspect in aspects if {aspect} in sentences),
        )

    def switched(self, of: Sequence[str]) -> tuple[int, int]:
        """Of the eligible pairs with one of these aspects: how many switched, and how many there are."""
        pairs = [{*pair} for pair in combinations(sorted(self.possible), 2) if {*pair} & {*of}]
        return sum(pair <= self.alone for pair in pairs), len(pairs)


def _share(counts: Sequence[Sequence[tuple[int, int]]], resamples: int, seed: int) -> Share:
    """Of (hits, of how many), one a document and run: the mean of the runs."""
    hits, of = np.array(counts, dtype=np.float64).mean(axis=0).T
    if not of.any():
        return Share(None, None, 0)
    low, high = bootstrap_ratio_ci(hits, of, resamples=resamples, seed=seed)
    return Share(100 * float(hits.sum() / of.sum()), (100 * low, 100 * high), int(of.sum()))
