"""How well an adapter answers on documents that it doesn't learn from: by this the best epoch is chosen."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import torch
from torch import Tensor

from trifuse.encoder.training.aspects.asked import AskedDocuments
from trifuse.encoder.training.aspects.labelled import LabelledDocument
from trifuse.encoder.training.aspects.model import QueryTower


class DevScores(NamedTuple):
    """Shares from 0 to 1 (`trifuse.ranker.evaluation.aspects` says more of them).

    Args:
        top1: requests whose first sentence has the aspect.
        specific: requests whose first sentence has the aspect and no other.
        switching: eligible pairs of aspects of which both requests have a sentence of it alone first.
    """

    top1: float
    specific: float
    switching: float

    @property
    def score(self) -> float:
        """What the best epoch has most of: the mean of the three."""
        return sum(self) / 3


class OfAspect(NamedTuple):
    """How well one aspect was answered.

    Args:
        requests: documents that were asked for it.
        top1, specific: as in `DevScores`.
    """

    requests: int
    top1: float
    specific: float


def dev_scores(tower: QueryTower, asked: AskedDocuments) -> DevScores:
    """The shares over all documents' requests."""
    return shares(_firsts(tower, asked), asked.aspects)


def dev_of_aspects(tower: QueryTower, asked: AskedDocuments) -> dict[str, OfAspect]:
    """Aspect to its shares."""
    firsts = _firsts(tower, asked)
    found = {}
    for aspect in asked.aspects:
        its = [
            (document, [places[document.asks(asked.aspects).index(aspect)]])
            for document, places in firsts
            if document.asks([aspect])
        ]
        if its:
            found[aspect] = OfAspect(len(its), *shares(its, (aspect,))[:2])
    return found


@torch.no_grad()
def _firsts(tower: QueryTower, asked: AskedDocuments) -> list[tuple[LabelledDocument, list[int]]]:
    """Each document, and the place of the candidate that comes first for each aspect that it's asked for."""
    tower.eval()
    device = next(tower.parameters()).device
    firsts: dict[int, list[int]] = {}
    for chosen in asked.by_length():
        answers = asked.answers(chosen)
        hidden, present = (each.to(device) for each in asked.queries(chosen))
        scores = scores_of(tower.upper(hidden, present), answers.candidates.to(device)).cpu()
        best = scores.masked_fill(~answers.sentences, -torch.inf).argmax(1)
        firsts.update(zip(chosen, best.view(len(chosen), -1).tolist(), strict=True))
    return [(asked.documents[place], first) for place, first in firsts.items()]


def scores_of(queries: Tensor, candidates: Tensor) -> Tensor:
    """(documents × aspects, sentences): inner products of each query and its document's sentences."""
    of = queries.view(len(candidates), -1, queries.shape[-1])
    return (of @ candidates.transpose(1, 2).to(of.dtype)).flatten(0, 1)


def shares(firsts: list[tuple[LabelledDocument, list[int]]], aspects: tuple[str, ...]) -> DevScores:
    """The shares, of documents and the place of the candidate that came first for each aspect asked for."""
    top1: list[bool] = []
    specific: list[bool] = []
    switching: list[bool] = []
    for document, places in firsts:
        found = [each.aspects for each in document.candidates]
        asked = document.asks(aspects)
        right = dict(zip(asked, (found[place] for place in places), strict=True))
        top1 += [aspect in has for aspect, has in right.items()]
        alone = {aspect: has == {aspect} for aspect, has in right.items()}
        specific += alone.values()
        eligible = [aspect for aspect in asked if {aspect} in found]
        switching += [alone[one] and alone[other] for one, other in combinations(eligible, 2)]
    return DevScores(*(sum(some) / len(some) if some else 0.0 for some in (top1, specific, switching)))
