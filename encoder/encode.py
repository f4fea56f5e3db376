"""The encoder: texts of any lengths to vectors of one space, in order."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trifuse.encoder.description import MODEL_FILE, TOKENIZER_FILE, ModelFolder
from trifuse.encoder.devices import parse_device
from trifuse.encoder.errors import ModelInvalid
from trifuse.encoder.onnx import OnnxSession
from trifuse.encoder.runs import TextRuns
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.streams import Streams, default_budget
from trifuse.encoder.templates import Role
from trifuse.encoder.texts import as_texts, require_usable
from trifuse.encoder.tokens import TextTokenizer
from trifuse.encoder.types import Encoding, Vectors
from trifuse.encoder.vectors import check_vectors, clear_faults


class OnnxEncoder:
    """An encoder on onnxruntime and tokenizers (`trifuse.encoder.types.Encoder`).

    Args:
        model: the model's folder.
        device: `cpu`, `cuda` or `cuda:1`.
        threads: batches under way at once on the CPU, one thread each; None: as many as this process may use.
        token_budget: padded tokens in a batch at most (a single text is never split); None: by the device.

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
        self._runs = TextRuns(
            TextTokenizer(
                model.path / TOKENIZER_FILE,
                model.description.max_tokens,
                separator=model.description.pair_separator,
            ),
            model.space,
            Streams(self._device, threads),
            token_budget or default_budget(model.description.precision, self._device),
        )
        self._lock = threading.Lock()
        self._sessions: dict[str, OnnxSession] = {}
        self._session("document")

    @property
    def space(self) -> EncoderSpace:
        """The space that vectors come out in."""
        return self._model.space

    @property
    def provider(self) -> str:
        """The device that does the work: `cpu`, `cuda:0`."""
        return str(self._device)

    def encode(self, texts: Sequence[Any], *, role: Role) -> Encoding:
        """Encode what can be encoded, and say of the rest why not."""
        clean, rejected = as_texts(texts)
        usable = [position for position in range(len(clean)) if position not in rejected]
        vectors = np.zeros((len(clean), self.space.dimension), dtype=np.float32)
        truncated = np.zeros(len(clean), dtype=np.bool_)
        found, cut = self._encode([clean[position] for position in usable], role)
        rejected |= clear_faults(found, usable)
        vectors[usable], truncated[usable] = found, cut
        return Encoding(vectors, truncated, rejected)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) float32.

        Raises:
            InvalidText: a text can't be encoded.
            InvalidVector: the model gave a vector that can't be used.
        """
        return self._encode_all(texts, "query")

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) float32.

        Raises:
            InvalidText: a text can't be encoded.
            InvalidVector: the model gave a vector that can't be used.
        """
        return self._encode_all(texts, "document")

    def _encode_all(self, texts: Sequence[str], role: Role) -> Vectors:
        clean, rejected = as_texts(texts)
        require_usable(rejected, len(clean))
        vectors, _ = self._encode(clean, role)
        check_vectors(vectors, self.space.dimension)
        return vectors

    def _encode(self, texts: Sequence[str], role: Role) -> tuple[Vectors, NDArray[np.bool_]]:
        """(n, dim) vectors of clean texts, and which were cut."""
        prefix = self._model.description.prefix(role)
        return self._runs.vectors(self._session(role).run, [prefix + text for text in texts])

    def _session(self, role: Role) -> OnnxSession:
        """The graph for texts of that role: a query tower is loaded only where queries are encoded."""
        file = (role == "query" and self._model.description.query_model) or MODEL_FILE
        with self._lock:
            if file not in self._sessions:
                session = OnnxSession(self._model.path / file, self._device)
                self._require_dimension(session, file)
                self._sessions[file] = session
            return self._sessions[file]

    def _require_dimension(self, session: OnnxSession, file: str) -> None:
        """Run one text, so that a graph that contradicts its description is refused before any work."""
        found = self._runs.trial(session.run).shape[-1]
        if found != self.space.dimension:
            raise ModelInvalid(
                f"{self._model.path}: the graph {file} gives vectors of {found} numbers, but trifuse.json "
                f"says dimension {self.space.dimension}"
            )
