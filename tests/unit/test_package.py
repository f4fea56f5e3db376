"""The package: what is installed, what importing costs, what each folder exports."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("encoder", "indexer", "ranker", "worker", "deploy")
# Docker builds from the project's folder, so its files are of no use in a wheel.
ONLY_HERE = shutil.ignore_patterns("__pycache__", "Dockerfile*", "compose.yaml")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def _code_folders() -> set[str]:
    return {
        ".".join(init.parent.relative_to(ROOT).parts)
        for folder in FOLDERS
        for init in (ROOT / folder).rglob("__init__.py")
    }


def _run(code: str, *, python: str = sys.executable, cwd: Path) -> str:
    done = subprocess.run([python, "-W", "error", "-c", code], capture_output=True, text=True, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_folder_with_code_is_in_the_wheel() -> None:
    """A nested package that `packages` doesn't name is silently left out."""
    listed = set(PROJECT["tool"]["setuptools"]["packages"])
    assert listed == {f"trifuse.{folder}" for folder in _code_folders()}
    with_code = {
        ".".join(file.parent.relative_to(ROOT).parts) for f in FOLDERS for file in (ROOT / f).rglob("*.py")
    }
    assert with_code == _code_folders(), "a folder with code lacks its __init__.py"


@pytest.mark.parametrize("folder", FOLDERS)
def test_public_names_are_few_and_exist(folder: str) -> None:
    module = importlib.import_module(f"trifuse.{folder}")
    names = getattr(module, "__all__", [])
    assert len(names) <= 10
    assert len(set(names)) == len(names)
    for name in names:
        assert hasattr(module, name)


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("trifuse.encoder", {"torch", "celery", "onnxruntime", "opensearchpy", "redis"}),
        ("trifuse.indexer", {"torch", "celery", "onnxruntime"}),
        ("trifuse.ranker", {"torch", "celery", "onnxruntime"}),
        ("trifuse.worker", {"torch"}),
        ("trifuse.deploy.cli", {"torch", "celery", "onnxruntime"}),
    ],
)
def test_importing_stays_light(module: str, unwanted: set[str], tmp_path: Path) -> None:
    code = f"import json, sys, {module}; print(json.dumps(sorted(sys.modules)))"
    loaded = set(json.loads(_run(code, cwd=tmp_path)))
    assert not loaded & unwanted


def test_only_training_imports_torch(tmp_path: Path) -> None:
    """Serving installs no torch: every module but those of training is imported where there is none."""
    training = (
        "trifuse.encoder.training",
        "trifuse.deploy.cli.training_data",
        "trifuse.deploy.cli.training_trials",
    )
    names = {
        ".".join(("trifuse", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*.py")
    }
    modules = sorted(name for name in names if not name.startswith(training))
    code = (
        "import importlib, sys\n"
        "for name in ('torch', 'transformers', 'accelerate'): sys.modules[name] = None\n"
        f"for name in {modules}: importlib.import_module(name)"
    )
    assert "trifuse.deploy.cli.train" in modules
    _run(code, cwd=tmp_path)


def test_no_folder_is_imported_under_its_bare_name() -> None:
    """From the project's root `import worker` works too, and would double every class."""
    assert not {m for m in sys.modules if m.split(".")[0] in FOLDERS}


def test_changelog_names_the_version() -> None:
    assert f"## {PROJECT['project']['version']}" in (ROOT / "CHANGELOG.md").read_text()


def test_pins_name_no_host() -> None:
    for file in (ROOT / "requirements").glob("*.txt"):
        assert "://" not in file.read_text(), file


def test_wheel_runs_outside_the_project(tmp_path: Path) -> None:
    """The wheel, built from a clean copy, imports from where it was unpacked and has its data files."""
    copy, site = tmp_path / "copy", tmp_path / "site"
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, copy / folder, ignore=ONLY_HERE)
    for file in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / file, copy)
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(copy)]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    wanted = {file.relative_to(copy) for f in FOLDERS for file in (copy / f).rglob("*") if file.is_file()}
    missing = {file for file in wanted if not (site / "trifuse" / file).is_file()}
    assert not missing
    assert (site / "trifuse" / "encoder" / "shipped" / "trial2vec-small.patch").is_file()
    code = (
        f"import sys; sys.path.insert(0, {str(site)!r}); "
        "sys.meta_path = [f for f in sys.meta_path if 'editable' not in repr(f).lower()]; "
        "import trifuse.encoder, trifuse.indexer, trifuse.ranker, trifuse.worker, trifuse.deploy.cli as cli; "
        "trifuse.encoder.describe_encoder('trial2vec-small'); "
        "print(cli.__file__)"
    )
    assert _run(code, cwd=tmp_path).strip().startswith(str(site))
