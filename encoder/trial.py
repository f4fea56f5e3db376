"""The encoder of named parts: documents as part to text, of which any may be missing, to vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trifuse.encoder.batching import token_batches
from trifuse.encoder.description import MODEL_FILE, TOKENIZER_FILE, ModelFolder
from trifuse.encoder.devices import parse_device
from trifuse.encoder.errors import ModelInvalid
from trifuse.encoder.onnx import PartsSession
from trifuse.encoder.packing import Packed, PartsTokenizer, present
from trifuse.encoder.parts import LOCAL_MARK
from trifuse.encoder.pooling import unit_norm
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.streams import WINDOW, Streams, default_budget
from trifuse.encoder.templates import Role
from trifuse.encoder.texts import as_all_parts, require_usable
from trifuse.encoder.types import Encoding, Vectors
from trifuse.encoder.vectors import check_vectors, clear_faults


@dataclass(frozen=True)
class PartsEncoding:
    """The vectors of n documents and of their parts; rows in the order of the documents.

    Args:
        global_: (n, dim) float32, a rejected document's row is zero.
        local: (n, parts, dim) float32, in the order of the encoder's parts; a missing part's row is zero.
        present: (n, parts) bool, which parts a document has.
        truncated: (n, parts) bool, which of them had more tokens than the model takes.
        rejected: position to reason.
    """

    global_: Vectors
    local: Vectors
    present: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    rejected: Mapping[int, str]


class TrialEncoder:
    """An encoder of parts on onnxruntime and tokenizers (`trifuse.encoder.types.Encoder`).

    An item is a mapping from part to text (or number, or list of these), a text of parts
    (`trifuse.encoder.parts.join_parts`), or a plain text, which is the part `title`. A text of one part that
    was joined as `local` gets that part's own vector; any other item the whole document's.

    Args:
        model: the model's folder, whose `trifuse.json` names parts.
        device, threads, token_budget: as with `OnnxEncoder`; a document is never split.

    Raises:
        ModelInvalid: the files contradict each other, or can't be used.
        DeviceUnavailable, RuntimeMissing: the model can't run on that device here.
    """

    def __init__(
        self,
        model: ModelFolder,
        *,
        device: str = "cpu",
        threads: int | None = None,
        token_budget: int | None = None,
    ) -> None:
        self._model = model
        self._device = parse_device(device)
        self._token_budget = token_budget or default_budget(model.description.precision, self._device)
        self._streams = Streams(self._device, threads)
        self._tokenizer = PartsTokenizer(model.path / TOKENIZER_FILE, model.description.parts)
        self._session = PartsSession(model.path / MODEL_FILE, self._device)
        self._require_shape()

    @property
    def space(self) -> EncoderSpace:
        """The space that vectors come out in; its `parts` are those that the encoder takes."""
        return self._model.space

    @property
    def provider(self) -> str:
        """The device that does the work: `cpu`, `cuda:0`."""
        return str(self._device)

    def encode(self, texts: Sequence[Any], *, role: Role) -> Encoding:
        """Encode what can be encoded, and say of the rest why not."""
        self._model.description.prefix(role)  # a role that there isn't is refused
        parts, rejected = as_all_parts(texts, self.space.parts)
        usable = [position for position in range(len(parts)) if position not in rejected]
        found, cut = self._encode([(parts[position], _is_local(texts[position])) for position in usable])
        vectors = np.zeros((len(parts), self.space.dimension), dtype=np.float32)
        truncated = np.zeros(len(parts), dtype=np.bool_)
        rejected |= clear_faults(found, usable)
        vectors[usable], truncated[usable] = found, cut
        return Encoding(vectors, truncated, rejected)

    def encode_queries(self, texts: Sequence[Any]) -> Vectors:
        """(n, dim) float32.

        Raises:
            InvalidText: an item can't be encoded.
            InvalidVector: the model gave a vector that can't be used.
        """
        return self._encode_all(texts)

    def encode_documents(self, texts: Sequence[Any]) -> Vectors:
        """(n, dim) float32.

        Raises:
            InvalidText: an item can't be encoded.
            InvalidVector: the model gave a vector that can't be used.
        """
        return self._encode_all(texts)

    def encode_parts(self, items: Sequence[Any]) -> PartsEncoding:
        """The vectors of documents, and of each of their parts."""
        names = self.space.parts
        parts, rejected = as_all_parts(items, names)
        usable = np.array(
            [position for position in range(len(parts)) if position not in rejected], dtype=np.intp
        )
        vectors = np.zeros((len(parts), self.space.dimension), dtype=np.float32)
        local = np.zeros((len(parts), len(names), self.space.dimension), dtype=np.float32)
        there, cut = (np.zeros((len(parts), len(names)), dtype=np.bool_) for _ in range(2))
        for batch in self._batches([parts[position] for position in usable]):
            rows = usable[batch.rows]
            vectors[rows], local[rows] = batch.global_, batch.local
            there[rows], cut[rows] = batch.present, batch.truncated
        found = vectors[usable]
        broken = clear_faults(found, usable.tolist())
        vectors[usable], local[list(broken)] = found, 0
        return PartsEncoding(vectors, local, there, cut, rejected | broken)

    def _encode_all(self, items: Sequence[Any]) -> Vectors:
        parts, rejected = as_all_parts(items, self.space.parts)
        require_usable(rejected, len(parts))
        vectors, _ = self._encode(
            [(found, _is_local(item)) for found, item in zip(parts, items, strict=True)]
        )
        check_vectors(vectors, self.space.dimension)
        return vectors

    def _encode(self, items: Sequence[tuple[Mapping[str, str], bool]]) -> tuple[Vectors, NDArray[np.bool_]]:
        """(n, dim) vectors of clean parts, of the only part's own where that is asked for; which were cut."""
        vectors = np.empty((len(items), self.space.dimension), dtype=np.float32)
        truncated = np.zeros(len(items), dtype=np.bool_)
        for batch in self._batches([parts for parts, _ in items]):
            vectors[batch.rows] = batch.global_
            truncated[batch.rows] = batch.truncated.any(axis=1)
            for position, local in zip(batch.rows, batch.local, strict=True):
                parts, alone = items[position]
                if alone:
                    vectors[position] = local[self.space.parts.index(next(iter(parts)))]
        return vectors, truncated

    def _batches(self, items: Sequence[Mapping[str, str]]) -> Iterator[_Batch]:
        """The batches that the documents were encoded in, as they get done."""
        for start in range(0, len(items), WINDOW):
            rows, cut = self._tokenizer.tokenize(items[start : start + WINDOW])
            batches = list(token_batches([len(row.ids) for row in rows], self._token_budget))
            found = self._streams.map(self._run, ([rows[row] for row in batch] for batch in batches))
            for batch, (vectors, local, there) in zip(batches, found, strict=True):
                yield _Batch(start + batch, vectors, local, there, cut[batch])

    def _run(self, rows: Sequence[Packed]) -> tuple[Vectors, Vectors, NDArray[np.bool_]]:
        """The vectors of documents and of parts, zero where there is no token; and which parts have some."""
        batch = self._tokenizer.pad(rows)
        vectors, local = self._session.run(*batch)
        there = present(batch.parts, len(self.space.parts))
        if self.space.normalized:
            vectors, local = unit_norm(vectors), unit_norm(local)
        vectors[~there.any(axis=1)], local[~there] = 0, 0
        return vectors, local, there

    def _require_shape(self) -> None:
        """Run one document, so that a graph that contradicts its description is refused before any work."""
        rows, _ = self._tokenizer.tokenize([{self.space.parts[-1]: "trial"}])
        vectors, local = self._session.run(*self._tokenizer.pad(rows))
        expected = len(self.space.parts), self.space.dimension
        if vectors.shape[1:] != expected[1:] or local.shape[1:] != expected:
            raise ModelInvalid(
                f"{self._model.path}: the graph gives vectors of {vectors.shape[1]} numbers, and of "
                f"{local.shape[1]} parts with {local.shape[2]}, but trifuse.json says dimension "
                f"{expected[1]} and names {expected[0]} parts"
            )


@dataclass(frozen=True)
class _Batch:
    """What came out of one batch: which documents it was of, and as in `PartsEncoding`."""

    rows: NDArray[np.intp]
    global_: Vectors
    local: Vectors
    present: NDArray[np.bool_]
    truncated: NDArray[np.bool_]


def _is_local(item: Any) -> bool:
    return isinstance(item, str) and item.startswith(LOCAL_MARK)
