"""Documents, and what is asked of them, as tensors: minibatches of like length, drawn by a seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from trifuse.encoder.aspects import aspect_query
from trifuse.encoder.templates import clean_text
from trifuse.encoder.tokens import TextTokenizer
from trifuse.encoder.training.aspects.labelled import LabelledDocument
from trifuse.encoder.training.aspects.losses import answer_weights
from trifuse.encoder.training.aspects.model import QueryTower
from trifuse.encoder.training.aspects.recipe import Recipe
from trifuse.encoder.training.batches import tensors
from trifuse.encoder.types import Vectors

_ROWS = 32
_BUCKET = 16
"""So many minibatches are drawn together and sorted by length, so that little is padded."""


class Queries(NamedTuple):
    """Some documents' queries, one a request: for every aspect that each is asked for, equally many.

    Args:
        hidden: (requests, length, width): queries, as far as nothing is trained.
        present: (requests, length) bool: the tokens that there are.
    """

    hidden: Tensor
    present: Tensor


class Answers(NamedTuple):
    """Some documents' sentences, and which of them answer.

    Args:
        candidates: (documents, sentences, dim): the documents' vectors.
        sentences: (requests, sentences) bool: the sentences that there are.
        weights: (requests, sentences): how much each is an answer.
    """

    candidates: Tensor
    sentences: Tensor
    weights: Tensor


class AskedDocuments:
    """Documents that are asked for aspects; what the frozen layers make of their queries is computed once.

    A minibatch has documents that are asked for the same aspects, and so many that requests are about as
    many in each.

    Args:
        documents: with a title and a candidate each, and an aspect that they may be asked for.
        aspects: that are asked for.
        vectors: of all candidates' texts.
        tower: encodes the queries; its lower layers must stay as they are.
        tokenizer: cuts queries.
        segments: whether the tower takes token types.
    """

    def __init__(
        self,
        documents: Sequence[LabelledDocument],
        aspects: Sequence[str],
        vectors: Mapping[str, Vectors],
        tower: QueryTower,
        tokenizer: TextTokenizer,
        recipe: Recipe,
        *,
        segments: bool = True,
    ) -> None:
        self.documents, self.aspects = documents, tuple(aspects)
        self._asked = [document.asks(self.aspects) for document in documents]
        self._starts = np.cumsum([0, *map(len, self._asked)]).tolist()
        most = max(map(len, self._asked), default=0)
        self._sizes = {asked: recipe.batch * most // len(asked) for asked in self._asked}
        self._vectors, self._recipe = vectors, recipe
        self._queries = self._lower(tower, tokenizer, segments)

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def batches(self) -> int:
        """Minibatches in an epoch."""
        return sum(ceil(self._asked.count(asked) / size) for asked, size in self._sizes.items())

    def queries(self, chosen: Sequence[int]) -> Queries:
        """The queries of some documents."""
        rows = [query for place in chosen for query in self._of(place)]
        hidden = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        return Queries(hidden.float(), _filled([len(row) for row in rows], hidden.shape[1]))

    def answers(self, chosen: Sequence[int]) -> Answers:
        """The sentences of some documents."""
        documents = [self.documents[place] for place in chosen]
        candidates = [[self._vectors[each.text] for each in document.candidates] for document in documents]
        weights = [
            answer_weights([each.aspects for each in document.candidates], aspect, self._recipe.mixed_weight)
            for document in documents
            for aspect in document.asks(self.aspects)
        ]
        return Answers(
            candidates=torch.nn.utils.rnn.pad_sequence(
                [torch.from_numpy(np.array(some)) for some in candidates], batch_first=True
            ),
            sentences=_filled([len(some) for some in weights], max(map(len, weights))),
            weights=torch.nn.utils.rnn.pad_sequence(list(map(torch.tensor, weights)), batch_first=True),
        )

    def epoch(self, number: int) -> Iterator[list[int]]:
        """The minibatches of an epoch: always the same for the same seed."""
        draw = np.random.default_rng([self._recipe.seed, number])
        order = draw.permutation(len(self)).tolist()
        batches = []
        for asked, size in self._sizes.items():
            places = [place for place in order if self._asked[place] == asked]
            for start in range(0, len(places), size * _BUCKET):
                bucket = sorted(places[start : start + size * _BUCKET], key=self._length)
                batches += [bucket[at : at + size] for at in range(0, len(bucket), size)]
        for place in draw.permutation(len(batches)):
            yield batches[place]

    def by_length(self) -> Iterator[list[int]]:
        """All documents once, in minibatches of like length."""
        order = sorted(range(len(self)), key=self._length)
        for asked, size in self._sizes.items():
            places = [place for place in order if self._asked[place] == asked]
            for start in range(0, len(places), size):
                yield places[start : start + size]

    def _of(self, place: int) -> Sequence[Tensor]:
        return self._queries[self._starts[place] : self._starts[place + 1]]

    def _length(self, place: int) -> int:
        return max(map(len, self._of(place)))

    def _lower(self, tower: QueryTower, tokenizer: TextTokenizer, segments: bool) -> list[Tensor]:
        """(length, width) float16 of each query: half the memory, and far less off than dropout."""
        texts = [
            clean_text(aspect_query(document.title, aspect, self._recipe.instructions))
            for document in self.documents
            for aspect in document.asks(self.aspects)
        ]
        rows, _ = tokenizer.tokenize(texts)
        order = sorted(range(len(rows)), key=lambda place: len(rows[place]))
        device = next(tower.parameters()).device
        found: dict[int, Tensor] = {}
        for start in range(0, len(order), _ROWS):
            some = order[start : start + _ROWS]
            tokens = tensors(tokenizer, [rows[place] for place in some], segments=segments)
            hidden = tower.lower({name: each.to(device) for name, each in tokens.items()}).cpu().half()
            for place, states in zip(some, hidden, strict=True):
                found[place] = states[: len(rows[place])].clone()
        return [found[place] for place in range(len(texts))]


def _filled(lengths: Sequence[int], longest: int) -> Tensor:
    """(rows, longest) bool: true in so many of each row's first places."""
    return torch.arange(longest)[None] < torch.tensor(lengths)[:, None]
