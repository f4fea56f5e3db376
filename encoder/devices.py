"""Devices by the names that users give them, and whether exactly one ONNX runtime is installed."""

from __future__ import annotations

import importlib.metadata
import re
from dataclasses import dataclass

from trifuse.encoder.errors import DeviceUnavailable, RuntimeMissing

RUNTIMES = {"onnxruntime": "trifuse[cpu]", "onnxruntime-gpu": "trifuse[gpu]"}
"""The distributions that own the package `onnxruntime`, and the extra that brings each."""


@dataclass(frozen=True)
class Device:
    """A processor: `cpu`, or a CUDA device by its number."""

    cuda: int | None = None

    def __str__(self) -> str:
        return "cpu" if self.cuda is None else f"cuda:{self.cuda}"


def parse_device(name: str) -> Device:
    """The device of that name.

    >>> str(parse_device("cuda"))
    'cuda:0'

    Raises:
        DeviceUnavailable: there is no such kind of device.
    """
    if name == "cpu":
        return Device()
    if match := re.fullmatch(r"cuda(?::(\d+))?", name):
        return Device(cuda=int(match[1] or 0))
    raise DeviceUnavailable(f"unknown device {name!r}: expected cpu, cuda, or cuda:1 for the second one")


def require_one_runtime() -> str:
    """The one ONNX runtime distribution that is installed.

    Raises:
        RuntimeMissing: there is none, or there are two, whose files overwrite each other.
    """
    installed = [name for name in RUNTIMES if _is_installed(name)]
    if len(installed) == 1:
        return installed[0]
    if not installed:
        raise RuntimeMissing(
            "no ONNX runtime is installed: pip install 'trifuse[cpu]', or 'trifuse[gpu]' for CUDA"
        )
    raise RuntimeMissing(
        f"{' and '.join(installed)} are both installed, and overwrite each other's files: pip uninstall "
        "both, then pip install 'trifuse[cpu]' or 'trifuse[gpu]'"
    )


def _is_installed(distribution: str) -> bool:
    try:
        importlib.metadata.distribution(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
