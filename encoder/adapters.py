"""Queries that ask for an aspect, to vectors of the space that documents are in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from trifuse.encoder.adapter_files import Adapter, adapter_names, find_adapter, open_graph
from trifuse.encoder.aspects import aspect_query, require_aspect
from trifuse.encoder.description import TOKENIZER_FILE, Precision
from trifuse.encoder.devices import Device, parse_device
from trifuse.encoder.errors import EncodingFailed, ModelInvalid
from trifuse.encoder.fetch import sha256_of
from trifuse.encoder.onnx import Lora, OnnxSession
from trifuse.encoder.runs import TextRuns
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.streams import Streams, default_budget
from trifuse.encoder.texts import as_texts, require_usable
from trifuse.encoder.tokens import TextTokenizer
from trifuse.encoder.types import Vectors
from trifuse.encoder.vectors import check_vectors


class AspectEncoder:
    """An adapter at work. It encodes queries alone: documents are the base encoder's.

    Args:
        adapter: its folder.
        precision: of the graph, one of those that it has; None: that of the documents' encoder, if it has it.
        device: `cpu`, `cuda` or `cuda:1`.
        threads: batches under way at once on the CPU, one thread each; None: as many as this process may use.
        beside: another adapter's encoder: where both are of one graph, it is loaded once.

    Raises:
        ValueError: it has no graph of that precision.
        ModelNotFound, ModelInvalid, DownloadFailed: the adapter or its base can't be used.
        DeviceUnavailable, RuntimeMissing: they can't run on that device here.
    """

    def __init__(
        self,
        adapter: Adapter,
        *,
        precision: Precision | None = None,
        device: str = "cpu",
        threads: int | None = None,
        beside: AspectEncoder | None = None,
    ) -> None:
        told = adapter.description
        self.adapter = adapter
        self.precision: Precision = precision or told.usual
        if self.precision not in told.graphs:
            raise ValueError(
                f"the adapter {told.name!r} has no graph in {precision}: take one of {', '.join(told.graphs)}"
            )
        self._device = parse_device(device)
        self._loras = _loras(adapter)
        self._session: OnnxSession
        self._runs: TextRuns
        if beside is not None and beside._shared == self._shared:
            self._session, self._runs = beside._session, beside._runs
        else:
            base, graph = open_graph(adapter, self.precision)
            self._session = OnnxSession(graph, self._device)
            self._runs = TextRuns(
                TextTokenizer(base.path / TOKENIZER_FILE, base.description.max_tokens),
                self.space,
                Streams(self._device, threads),
                default_budget(self.precision, self._device),
            )
        for file, lora in self._loras.items():
            self._require_usable(file, lora)

    @property
    def name(self) -> str:
        """Of the adapter."""
        return self.adapter.description.name

    @property
    def aspects(self) -> tuple[str, ...]:
        """What may be asked for."""
        return tuple(self.adapter.description.aspects)

    @property
    def space(self) -> EncoderSpace:
        """The space of the documents that its vectors may be compared with: no other."""
        return self.adapter.description.encoder_space

    @property
    def revision(self) -> str:
        """A hash of all that moves a query's vector."""
        return self.adapter.description.revision(self.precision)

    @property
    def provider(self) -> str:
        """The device that does the work: `cpu`, `cuda:0`."""
        return str(self._device)

    def encode_queries(self, texts: Sequence[str], aspect: str) -> Vectors:
        """(n, dim) float32.

        Raises:
            AspectUnknown: the adapter doesn't know the aspect.
            InvalidText: a text can't be encoded.
            InvalidVector: the model gave a vector that can't be used.
        """
        told = self.adapter.description
        require_aspect(aspect, told.aspects)
        clean, rejected = as_texts(texts)
        require_usable(rejected, len(clean))
        run = partial(self._session.run, lora=self._loras[told.aspects[aspect].file])
        vectors, _ = self._runs.vectors(
            run, [aspect_query(text, aspect, told.instructions) for text in clean]
        )
        check_vectors(vectors, self.space.dimension)
        return vectors

    def _require_usable(self, file: str, lora: Lora) -> None:
        """Run one text, so that updates that contradict the graph or space are refused before any work."""
        try:
            found = self._runs.trial(partial(self._session.run, lora=lora))
        except EncodingFailed as error:
            raise ModelInvalid(
                f"the updates {self.adapter.path / file} don't fit the graph of the adapter {self.name!r}: "
                f"{error}; put the folder there again that trifuse train aspect wrote"
            ) from error
        if not np.isfinite(found).all():
            raise ModelInvalid(
                f"the updates {self.adapter.path / file} give vectors with NaN or infinities: train the "
                f"adapter {self.name!r} again, by a lower learning rate"
            )
        if found.shape[-1] != self.space.dimension:
            raise ModelInvalid(
                f"the adapter {self.name!r} gives vectors of {found.shape[-1]} numbers, but its space "
                f"{self.space.id!r} has {self.space.dimension}: train it against vectors of its base's "
                "dimension"
            )

    @property
    def _shared(self) -> tuple[str, EncoderSpace, Device]:
        """What must be the same for a session to be shared."""
        return self.adapter.description.graphs[self.precision].sha256, self.space, self._device


def load_adapter(
    name_or_path: str,
    *,
    precision: Precision | None = None,
    device: str = "cpu",
    threads: int | None = None,
    beside: AspectEncoder | None = None,
) -> AspectEncoder:
    """Start an adapter by name (`adapter_names`) or folder; the arguments are `AspectEncoder`'s."""
    return AspectEncoder(
        find_adapter(name_or_path), precision=precision, device=device, threads=threads, beside=beside
    )


def adapters_for(space: EncoderSpace) -> list[str]:
    """The adapters known by name that were trained against a space; no model is loaded."""
    return [name for name in adapter_names() if find_adapter(name).description.encoder_space.id == space.id]


def _loras(adapter: Adapter) -> dict[str, Lora]:
    """The adapter's files, each verified and mapped."""
    found = {}
    for file, sha256 in adapter.description.files.items():
        path = adapter.path / file
        if not path.is_file() or sha256_of(path) != sha256:
            raise ModelInvalid(
                f"{path} is missing, or isn't the file that the adapter {adapter.description.name!r} "
                f"describes (SHA-256 {sha256}): put the adapter's whole folder there again"
            )
        found[file] = Lora(path)
    return found
