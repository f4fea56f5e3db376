"""A home laid out from downloads, against a local repository that speaks the real one's layout."""

from __future__ import annotations

import functools
import hashlib
import http.server
import io
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from trifuse.deploy.local.artifacts import opensearch_home
from trifuse.deploy.local.lock import LockedFile
from trifuse.encoder.errors import CorruptDownload

JAR = b"the server"


def plugin_zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in (
            ("plugin-descriptor.properties", "# made\nname=opensearch-knn\nversion=1\n"),
            ("knn.jar", "code"),
        ):
            archive.writestr(zipfile.ZipInfo(name), content)  # with its fixed date, the same bytes each time
    return buffer.getvalue()


@dataclass
class Repository:
    """Files that are served, and which were asked for."""

    folder: Path
    url: str
    asked: list[str] = field(default_factory=list)

    def publish(self, name: str, packaging: str, content: bytes) -> None:
        folder = self.folder / "org" / "x" / name / "1"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}-1.{packaging}").write_bytes(content)
        (folder / f"{name}-1.{packaging}.sha1").write_text(hashlib.sha1(content).hexdigest())  # noqa: S324


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    folder = tmp_path / "repository"
    folder.mkdir()
    served = Repository(folder, "")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            served.asked.append(self.path)

    handler = functools.partial(Handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        served.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("TRIFUSE_MAVEN_URL", served.url)
        monkeypatch.setenv("TRIFUSE_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("M2_REPO", str(tmp_path / "nobody's"))
        served.publish("server", "jar", JAR)
        served.publish("knn", "zip", plugin_zip())
        yield served
        server.shutdown()
        thread.join()


def locked() -> tuple[LockedFile, ...]:
    return (
        LockedFile("lib/server-1.jar", "org.x:server:1", hashlib.sha256(JAR).hexdigest()),
        LockedFile("plugins/knn-1.zip", "org.x:knn:1", hashlib.sha256(plugin_zip()).hexdigest()),
    )


def cached(tmp_path: Path) -> Path:
    (found,) = (tmp_path / "cache").rglob("server-1.jar")
    return found


def test_a_home_holds_jars_plugins_and_descriptors(tmp_path: Path, repository: Repository) -> None:
    seen: list[tuple[str, int, int]] = []

    home = opensearch_home(tmp_path / "home", files=locked(), progress=lambda *stage: seen.append(stage))

    assert (home / "lib" / "server-1.jar").read_bytes() == JAR
    assert (home / "plugins" / "opensearch-knn" / "knn.jar").read_text() == "code"
    descriptor = (home / "modules" / "reindex" / "plugin-descriptor.properties").read_text()
    assert "classname=org.opensearch.index.reindex.ReindexModulePlugin" in descriptor
    assert (home / "lib" / "server-1.jar").stat().st_mode & 0o777 == 0o644
    assert (home / "lib").stat().st_mode & 0o777 == 0o755
    assert seen == [("download", 1, 2), ("download", 2, 2)]


def test_a_home_that_is_there_is_left_alone(tmp_path: Path, repository: Repository) -> None:
    opensearch_home(tmp_path / "home", files=locked())
    repository.asked.clear()

    opensearch_home(tmp_path / "home", files=locked())

    assert repository.asked == []


def test_another_lock_makes_another_home(tmp_path: Path, repository: Repository) -> None:
    opensearch_home(tmp_path / "home", files=locked())

    opensearch_home(tmp_path / "home", files=locked()[:1])

    assert not (tmp_path / "home" / "plugins").exists()


def test_a_second_home_needs_no_network(tmp_path: Path, repository: Repository) -> None:
    opensearch_home(tmp_path / "home", files=locked())
    repository.asked.clear()

    opensearch_home(tmp_path / "second", files=locked())

    assert repository.asked == []
    assert (tmp_path / "second" / "lib" / "server-1.jar").read_bytes() == JAR


def test_a_corrupt_file_in_the_cache_is_fetched_again(tmp_path: Path, repository: Repository) -> None:
    opensearch_home(tmp_path / "home", files=locked())
    cached(tmp_path).unlink()
    (tmp_path / "cache" / "opensearch-3.6.0" / "lib" / "server-1.jar").write_bytes(b"cut")

    home = opensearch_home(tmp_path / "second", files=locked())

    assert (home / "lib" / "server-1.jar").read_bytes() == JAR


def test_a_corrupt_download_is_named_and_not_kept(tmp_path: Path, repository: Repository) -> None:
    repository.publish("server", "jar", b"something else")

    with pytest.raises(CorruptDownload) as caught:
        opensearch_home(tmp_path / "home", files=locked())

    assert "org.x:server:1" in str(caught.value)
    assert hashlib.sha256(JAR).hexdigest() in str(caught.value)
    assert not (tmp_path / "home").exists()
    assert list((tmp_path / "cache").rglob("server-1.jar")) == []

    repository.publish("server", "jar", JAR)
    assert opensearch_home(tmp_path / "home", files=locked()).is_dir()
