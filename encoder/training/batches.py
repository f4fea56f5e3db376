"""Examples to tensors, through the very tokenizer that serves: what is trained on is what will be encoded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from trifuse.encoder.templates import clean_text
from trifuse.encoder.tokens import TextTokenizer
from trifuse.encoder.training.examples import Example, Known, excluded_candidates
from trifuse.encoder.training.recipe import Recipe
from trifuse.encoder.training.towers import Tokens


class Batch(NamedTuple):
    """A process's part of a minibatch, held against the candidates of all processes.

    Args:
        queries: tokens of n queries.
        documents: tokens of their n positives, then of their n negatives.
        positives: (n,) the place of each query's positive among all candidates.
        excluded: (n, candidates) bool, true where a candidate is no negative of a query.
    """

    queries: Tokens
    documents: Tokens
    positives: Tensor
    excluded: Tensor


class Batcher:
    """Makes batches.

    Args:
        tokenizer: the model's `tokenizer.json`.
        recipe: says how long queries and documents may be.
        separator: the token between a title and its text; "" where the model has no pairs.
        segments: whether the model takes token types.
        known: what is relevant to a query, beside what a minibatch says.
        rank, processes: which part of each minibatch is this process's.
    """

    def __init__(
        self,
        tokenizer: Path,
        recipe: Recipe,
        *,
        separator: str = "",
        segments: bool = True,
        known: Known | None = None,
        rank: int = 0,
        processes: int = 1,
    ) -> None:
        self._queries = TextTokenizer(tokenizer, recipe.query_tokens, separator=separator)
        self._documents = TextTokenizer(tokenizer, recipe.document_tokens, separator=separator)
        self._segments = segments
        self._known = known or {}
        self._rank, self._processes = rank, processes

    def batch(self, examples: Sequence[Example]) -> Batch:
        """This process's part of a minibatch; every process is given all of it, in the same order."""
        parts = [examples[rank :: self._processes] for rank in range(self._processes)]
        candidates: list[str] = []
        for part in parts:
            candidates += [each.positive.id for each in part] + [each.negative.id for each in part]
        own = parts[self._rank]
        first = sum(2 * len(part) for part in parts[: self._rank])
        positives = torch.arange(first, first + len(own))
        excluded = torch.tensor(excluded_candidates(own, examples, candidates, self._known))
        excluded[torch.arange(len(own)), positives] = False
        documents = [each.positive.text for each in own] + [each.negative.text for each in own]
        return Batch(
            queries=self.tokens([each.query for each in own], self._queries),
            documents=self.tokens(documents, self._documents),
            positives=positives,
            excluded=excluded,
        )

    def tokens(self, texts: Sequence[str], tokenizer: TextTokenizer) -> Tokens:
        """The tensors of texts, cleaned as the encoder cleans them."""
        rows, _ = tokenizer.tokenize([clean_text(text) for text in texts])
        return tensors(tokenizer, rows, segments=self._segments)


def tensors(tokenizer: TextTokenizer, rows: Sequence[object], *, segments: bool) -> Tokens:
    """Tokenised texts as what a transformer takes."""
    ids, mask, types = tokenizer.pad(rows)  # type: ignore[arg-type]
    found = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}
    if segments:
        found["token_type_ids"] = torch.from_numpy(types)
    return found
