"""Clean texts through a graph: cut to tokens, batched by length, some batches at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding as Tokens

from trifuse.encoder.batching import token_batches
from trifuse.encoder.pooling import pool, unit_norm
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.streams import WINDOW, Streams
from trifuse.encoder.tokens import Ids, TextTokenizer
from trifuse.encoder.types import Vectors

Run = Callable[[Ids, Ids, Ids], Vectors]
"""A graph: (rows, length) token ids, attention mask and token types to (rows, length, dim) float32."""


class TextRuns:
    """What a text goes through, whichever graph makes its vector.

    Args:
        tokenizer: of the model.
        space: says how a text's tokens become its vector.
        streams: where batches are run.
        token_budget: padded tokens in a batch at most (a single text is never split).
    """

    def __init__(
        self, tokenizer: TextTokenizer, space: EncoderSpace, streams: Streams, token_budget: int
    ) -> None:
        self._tokenizer, self._space = tokenizer, space
        self._streams, self._token_budget = streams, token_budget

    def vectors(self, run: Run, texts: Sequence[str]) -> tuple[Vectors, NDArray[np.bool_]]:
        """(n, dim) vectors of clean texts, and which were cut."""
        vectors = np.empty((len(texts), self._space.dimension), dtype=np.float32)
        truncated = np.zeros(len(texts), dtype=np.bool_)
        for start in range(0, len(texts), WINDOW):
            window = slice(start, start + WINDOW)
            tokens, truncated[window] = self._tokenizer.tokenize(texts[window])
            batches = list(token_batches([len(item) for item in tokens], self._token_budget))
            rows = ([tokens[row] for row in batch] for batch in batches)
            for batch, found in zip(batches, self._streams.map(partial(self._batch, run), rows), strict=True):
                vectors[start + batch] = found
        return vectors, truncated

    def trial(self, run: Run) -> Vectors:
        """(1, length, dim): what a graph makes of one text of ours, to see whether it can be used."""
        return run(*self._tokenizer.pad(self._tokenizer.tokenize(["trial"])[0]))

    def _batch(self, run: Run, tokens: Sequence[Tokens]) -> Vectors:
        ids, mask, types = self._tokenizer.pad(tokens)
        pooled = pool(run(ids, mask, types), mask, self._space.pooling)
        return unit_norm(pooled) if self._space.normalized else pooled
