"""The ONNX sessions of models, of texts and of parts: the only module that imports onnxruntime."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trifuse.encoder.devices import Device, require_one_runtime
from trifuse.encoder.errors import DeviceUnavailable, EncodingFailed, ModelInvalid
from trifuse.encoder.types import Vectors

CUDA = "CUDAExecutionProvider"
INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
OUTPUTS = ("last_hidden_state", "token_embeddings")
PARTS_INPUTS = ("input_ids", "position_ids", "part_ids")
PARTS_OUTPUTS = ("global", "local")
_DTYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class Lora:
    """Low-rank updates of a graph's weights, which stand in their file: it is mapped, not read.

    Args:
        path: in onnxruntime's format for adapters, of the inputs that such a graph has beside the tokens.

    Raises:
        RuntimeMissing: neither, or both, of the ONNX runtimes are installed.
        ModelInvalid: the file isn't an adapter.
    """

    def __init__(self, path: Path) -> None:
        require_one_runtime()
        import onnxruntime

        self._weights, self.options = onnxruntime.LoraAdapter(), onnxruntime.RunOptions()
        try:
            self._weights.Load(str(path))
            self.options.add_active_adapter(self._weights)
        except Exception as error:  # onnxruntime's errors share no other base class
            raise ModelInvalid(f"{path} can't be loaded as an adapter: {error}") from error


class OnnxSession:
    """A graph from token ids to token vectors, on one device.

    Args:
        path: the ONNX graph.
        device: where it runs. A batch takes one thread of a CPU; `run` may be called from several at once.

    Raises:
        RuntimeMissing: neither, or both, of the ONNX runtimes are installed.
        DeviceUnavailable: the device can't be had; the CPU is never taken in its place.
        ModelInvalid: the file isn't a graph that trifuse can feed.
    """

    def __init__(self, path: Path, device: Device) -> None:
        self._session = _start(path, device, require_one_runtime())
        self._inputs = _inputs(self._session, path, INPUTS)
        self._output = _output(self._session, path)

    def run(
        self,
        ids: NDArray[np.int64],
        mask: NDArray[np.int64],
        types: NDArray[np.int64],
        *,
        lora: Lora | None = None,
    ) -> Vectors:
        """(rows, length) token ids, attention mask and token types to (rows, length, dim) float32.

        Args:
            lora: what the weights are updated by in this run; None: nothing.

        Raises:
            EncodingFailed: the graph failed: out of memory, or more tokens than it has positions for.
        """
        values = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        if "position_ids" in self._inputs:
            values["position_ids"] = np.broadcast_to(np.arange(ids.shape[1]), ids.shape)
        (tokens,) = _run(self._session, self._inputs, values, [self._output], lora and lora.options)
        return tokens


class PartsSession:
    """A graph from the token ids of all parts of documents to their vectors, on one device.

    Args:
        path: the ONNX graph.
        device: where it runs, as with `OnnxSession`.

    Raises:
        RuntimeMissing, DeviceUnavailable: as `OnnxSession`.
        ModelInvalid: the file isn't a graph of parts.
    """

    def __init__(self, path: Path, device: Device) -> None:
        self._session = _start(path, device, require_one_runtime())
        self._inputs = _inputs(self._session, path, PARTS_INPUTS)
        outputs = {node.name: len(node.shape) for node in self._session.get_outputs()}
        if "part_ids" not in self._inputs or [outputs.get(name) for name in PARTS_OUTPUTS] != [2, 3]:
            raise ModelInvalid(
                f"{path} takes {', '.join(self._inputs)} and gives {', '.join(outputs)}, but trifuse.json "
                "names parts: such a graph takes input_ids, position_ids and part_ids, and gives global "
                "(rows, dimension) and local (rows, parts, dimension)"
            )

    def run(
        self, ids: NDArray[np.int64], positions: NDArray[np.int64], parts: NDArray[np.int64]
    ) -> tuple[Vectors, Vectors]:
        """(rows, length) token ids, positions and part numbers to the vectors of documents and of parts.

        Args:
            positions: of a token in its part, from 0.
            parts: which part a token is of, from 1; 0 is padding.

        Returns:
            (rows, dim) and (rows, parts, dim) float32.

        Raises:
            EncodingFailed: as `OnnxSession.run`.
        """
        values = {"input_ids": ids, "position_ids": positions, "part_ids": parts}
        documents, local = _run(self._session, self._inputs, values, PARTS_OUTPUTS)
        return documents, local


def _run(
    session: Any,
    inputs: Mapping[str, Any],
    values: Mapping[str, NDArray[np.int64]],
    outputs: Sequence[str],
    options: Any = None,
) -> list[Vectors]:
    """Feed exactly the session's inputs."""
    feed = {name: np.ascontiguousarray(values[name], dtype=dtype) for name, dtype in inputs.items()}
    rows, length = values["input_ids"].shape
    try:
        found = session.run(list(outputs), feed, options)
    except Exception as error:  # onnxruntime's errors share no other base class
        raise EncodingFailed(
            f"the model failed on {rows} texts of {length} tokens: {error}; if that "
            "is its max_tokens, trifuse.json may promise too many"
        ) from error
    return [np.asarray(each, dtype=np.float32) for each in found]


def _start(path: Path, device: Device, runtime: str) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    # A memory plan is kept for every shape, and batches have many shapes.
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    providers: list[Any] = ["CPUExecutionProvider"]
    # Slower on a CPU than the two operators that it replaces: 6 % of a graph in fp32, 14 % in int8.
    unwanted = ["SkipLayerNormFusion"]
    if device.cuda is not None:
        unwanted = []
        if CUDA not in onnxruntime.get_available_providers():
            raise DeviceUnavailable(
                f"{device} was asked for, but {runtime} {onnxruntime.__version__} has no CUDA: "
                "pip uninstall onnxruntime, then pip install 'trifuse[gpu]'; or ask for cpu"
            )
        # TF32 rounds what fp32 keeps: a space's vectors must not depend on the device.
        providers = [(CUDA, {"device_id": device.cuda, "use_tf32": 0})]
    try:
        session = onnxruntime.InferenceSession(
            str(path),
            sess_options=options,
            providers=providers,
            enable_fallback=0,
            disabled_optimizers=unwanted,
        )
    except Exception as error:  # onnxruntime's errors share no other base class
        if device.cuda is not None:
            raise _cuda_failed(device, str(error)) from error
        raise ModelInvalid(f"{path} can't be loaded as an ONNX graph: {error}") from error
    # Some versions only log that CUDA's libraries don't load, and go on with the CPU.
    session.disable_fallback()
    if device.cuda is not None and CUDA not in session.get_providers():
        raise _cuda_failed(device, f"the session runs on {', '.join(session.get_providers())}")
    return session


def _cuda_failed(device: Device, why: str) -> DeviceUnavailable:
    return DeviceUnavailable(
        f"{device} was asked for, but could not be started: {why}; check nvidia-smi, the device's "
        "number, and that CUDA and cuDNN are of the versions that onnxruntime-gpu needs; or ask for cpu"
    )


def _inputs(session: Any, path: Path, names: Sequence[str]) -> Mapping[str, Any]:
    """The session's inputs and the type of each, none but `names`."""
    found = {node.name: node.type for node in session.get_inputs()}
    unknown = [f"{name}: {kind}" for name, kind in found.items() if name not in names or kind not in _DTYPES]
    if unknown or "input_ids" not in found:
        raise ModelInvalid(
            f"{path} takes {', '.join(unknown) or 'no input_ids'}; "
            f"trifuse feeds integers as {', '.join(names)}"
        )
    return {name: _DTYPES[kind] for name, kind in found.items()}


def _output(session: Any, path: Path) -> str:
    """The name of the output that holds token vectors."""
    found = {node.name: node.shape for node in session.get_outputs()}
    named = next((name for name in OUTPUTS if name in found), next(iter(found)))
    if len(found[named]) != 3:
        raise ModelInvalid(
            f"{path}: the output {named!r} has shape {found[named]}, expected token vectors "
            "(rows, length, dimension): export the model without its pooling"
        )
    return str(named)


def write_lora(weights: Mapping[str, Vectors], path: Path) -> None:
    """Write what `Lora` reads: the name of each input and its float32 values."""
    import onnxruntime

    found = onnxruntime.AdapterFormat()
    found.set_adapter_version(1)
    found.set_model_version(1)
    # It keeps pointers to the arrays, and nothing that keeps these alive.
    arrays = {name: np.ascontiguousarray(value, dtype=np.float32) for name, value in weights.items()}
    found.set_parameters(
        {name: onnxruntime.OrtValue.ortvalue_from_numpy(array) for name, array in arrays.items()}
    )
    found.export_adapter(str(path))


def quantize_graph(source: Path, target: Path, *, kept: Iterable[str] = ()) -> None:
    """Write a graph with weights of 8 bits, whose inputs are rounded as they come; needs the package onnx.

    Args:
        source: in float32.
        target: where the other one is written.
        kept: the names of nodes that stay in float32.
    """
    from onnxruntime.quantization import quantize_dynamic
    from onnxruntime.quantization.shape_inference import quant_pre_process

    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "prepared.onnx"
        # Its symbolic inference of shapes fails on graphs that torch writes.
        quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
        quantize_dynamic(prepared, target, per_channel=True, reduce_range=True, nodes_to_exclude=list(kept))
