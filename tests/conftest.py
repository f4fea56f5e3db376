"""Fixtures of every test, and the switch-off of what would reach outside of them."""

from __future__ import annotations

import importlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("encoder", "indexer", "ranker", "worker", "deploy")


def pytest_configure() -> None:
    """Give Ctrl-C its meaning back: a shell's background job, and all that it starts, ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data: TRIFUSE_DATA, or `../shared/data` beside the project; skips where absent."""
    folder = Path(os.environ.get("TRIFUSE_DATA") or ROOT.parent / "shared" / "data").expanduser()
    if not folder.is_dir():
        pytest.skip(f"no folder of real data at {folder}; name it in TRIFUSE_DATA")
    return folder


@pytest.fixture(scope="session")
def make_parts_model() -> Callable[..., Path]:
    """`make_parts_model(folder, words, *, parts, positions, **description)`: see benchmarks/tiny_parts.py."""
    builder: Callable[..., Path] = _benchmark("tiny_parts").make_parts_model
    return builder


@pytest.fixture(scope="session")
def tiny_adapter() -> ModuleType:
    """The module benchmarks/tiny_adapter.py: `make_base` and `make_adapter`."""
    return _benchmark("tiny_adapter")


def _benchmark(name: str) -> ModuleType:
    """A module of the folder benchmarks, whose scripts import each other by bare names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        return importlib.import_module(name)


@pytest.fixture(scope="session", autouse=True)
def _installed_names_only() -> Iterator[None]:
    """At the end nothing of ours was imported by its bare folder name: every class would exist twice."""
    yield
    import sys

    bare = [
        name
        for name in FOLDERS
        if name in sys.modules
        and Path(getattr(sys.modules[name], "__file__", None) or "/").is_relative_to(ROOT)
    ]
    if bare:
        pytest.fail(f"imported by a bare folder name: {bare}; import trifuse.{bare[0]}")
