"""Devices: what is asked for is what is used, or an error."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import onnxruntime
import pytest

from trifuse.encoder.description import read_model
from trifuse.encoder.devices import parse_device, require_one_runtime
from trifuse.encoder.encode import OnnxEncoder
from trifuse.encoder.errors import DeviceUnavailable, RuntimeMissing


@pytest.fixture
def start(tmp_path: Path, make_model: Callable[..., Path]) -> Callable[[str], OnnxEncoder]:
    model = read_model(make_model(tmp_path / "model", {"a": (1.0, 2.0)}))
    return lambda device: OnnxEncoder(model, device=device)


@pytest.mark.parametrize(("name", "number"), [("cpu", None), ("cuda", 0), ("cuda:0", 0), ("cuda:1", 1)])
def test_device_names(name: str, number: int | None) -> None:
    assert parse_device(name).cuda == number


@pytest.mark.parametrize("name", ["gpu", "CUDA", "cuda:", "cuda:-1", "cuda:x", ""])
def test_unknown_devices_are_refused(name: str) -> None:
    with pytest.raises(DeviceUnavailable, match="expected cpu, cuda, or cuda:1"):
        parse_device(name)


def test_the_provider_in_use_is_said(start) -> None:
    assert start("cpu").provider == "cpu"


def test_e7_cuda_without_a_cuda_runtime(start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CPUExecutionProvider"])
    with pytest.raises(DeviceUnavailable, match=r"cuda:1 was asked for, .*trifuse\[gpu\].*or ask for cpu"):
        start("cuda:1")


def _cuda_runtime(monkeypatch: pytest.MonkeyPatch, session: Callable[..., Any]) -> None:
    """A runtime that lists CUDA, as the GPU wheel does on every machine."""
    listed = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: listed)
    monkeypatch.setattr(onnxruntime, "InferenceSession", session)


def test_e7_cuda_is_listed_and_its_libraries_do_not_load(start, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some versions of onnxruntime log an error, and give a session on the CPU."""

    def on_the_cpu(*_: Any, **__: Any) -> Any:
        return SimpleNamespace(get_providers=lambda: ["CPUExecutionProvider"], disable_fallback=lambda: None)

    _cuda_runtime(monkeypatch, on_the_cpu)
    with pytest.raises(DeviceUnavailable, match="runs on CPUExecutionProvider; check nvidia-smi"):
        start("cuda")


def test_e7_cuda_is_listed_and_starting_it_fails(start, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **options: Any) -> Any:
        assert options["providers"] == [("CUDAExecutionProvider", {"device_id": 0, "use_tf32": 0})]
        assert options["enable_fallback"] == 0
        raise RuntimeError("libcudnn.so.9: cannot open shared object file")

    _cuda_runtime(monkeypatch, fail)
    with pytest.raises(DeviceUnavailable, match=r"cuda:0 .*libcudnn\.so\.9"):
        start("cuda")


def _install(monkeypatch: pytest.MonkeyPatch, *installed: str) -> None:
    def find(name: str) -> object:
        if name not in installed:
            raise importlib.metadata.PackageNotFoundError(name)
        return object()

    monkeypatch.setattr(importlib.metadata, "distribution", find)


def test_no_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch)
    with pytest.raises(RuntimeMissing, match=r"no ONNX runtime is installed: pip install 'trifuse\[cpu\]'"):
        require_one_runtime()


def test_two_runtimes(monkeypatch: pytest.MonkeyPatch, start) -> None:
    _install(monkeypatch, "onnxruntime", "onnxruntime-gpu")
    with pytest.raises(RuntimeMissing, match="onnxruntime and onnxruntime-gpu are both installed"):
        start("cpu")


@pytest.mark.parametrize("name", ["onnxruntime", "onnxruntime-gpu"])
def test_one_runtime(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    _install(monkeypatch, name)
    assert require_one_runtime() == name
