"""The home folder of the local OpenSearch, laid out from verified downloads.

Downloads are kept in the cache (`trifuse.encoder.fetch.cache_dir`) and verified whenever a home is made from
them; a home is made once, in a folder beside its place, and moved there whole.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from trifuse.deploy.local.distribution import MODULES, VERSION
from trifuse.deploy.local.lock import LockedFile, format_lock, read_lock
from trifuse.encoder.fetch import cache_dir, fetch_artifact

DOWNLOADS = 8
STAMP = ".lock.sha256"

Progress = Callable[[str, int, int], None]
"""Called with what is done, how far it is, and the total: `("download", 12, 109)`."""


def silent(stage: str, done: int, total: int) -> None:
    """A Progress that shows nothing."""


def opensearch_home(
    home: Path, *, files: Iterable[LockedFile] | None = None, progress: Progress = silent
) -> Path:
    """Make `home` the home of an OpenSearch, unless it already is the one of these files.

    Raises:
        DownloadFailed: a file couldn't be fetched.
        CorruptDownload: a file isn't the one that was pinned.
    """
    locked = tuple(read_lock() if files is None else files)
    stamp = hashlib.sha256(format_lock(locked).encode()).hexdigest()
    if _stamp_of(home) == stamp:
        return home
    fetched = fetch_all(locked, cache_dir() / f"opensearch-{VERSION}", progress)
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".home-", dir=home.parent) as folder:
        made = Path(folder) / "home"
        _lay_out(made, fetched)
        (made / STAMP).write_text(stamp, "ascii")
        if home.exists():
            shutil.rmtree(home)
        made.rename(home)
    return home


def fetch_all(
    files: Iterable[LockedFile], folder: Path, progress: Progress = silent
) -> dict[LockedFile, Path]:
    """Every file, verified, fetched where it isn't there; several at a time."""
    wanted = list(files)
    fetched: dict[LockedFile, Path] = {}
    with ThreadPoolExecutor(DOWNLOADS) as pool:
        running = {pool.submit(_fetch, file, folder): file for file in wanted}
        try:
            for future in as_completed(running):
                fetched[running[future]] = future.result()
                progress("download", len(fetched), len(wanted))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return fetched


def _fetch(file: LockedFile, folder: Path) -> Path:
    return fetch_artifact(file.coordinate, file.sha256, folder / file.path, packaging=file.packaging)


def _stamp_of(home: Path) -> str | None:
    try:
        return (home / STAMP).read_text("ascii")
    except OSError:
        return None


def _lay_out(home: Path, fetched: dict[LockedFile, Path]) -> None:
    for file, source in fetched.items():
        if file.packaging == "zip":
            _unpack(source, home / "plugins")
        else:
            _link(source, home / file.path)
    (home / "bin").mkdir()  # empty, but the server wants it
    for module in MODULES:
        descriptor = home / "modules" / module.name / "plugin-descriptor.properties"
        descriptor.parent.mkdir(parents=True, exist_ok=True)
        descriptor.write_text(module.descriptor(), "utf-8")
    for folder, _, names in os.walk(home):
        # The server runs as another user where trifuse runs as root.
        Path(folder).chmod(0o755)
        for name in names:
            (Path(folder) / name).chmod(0o644)


def _link(source: Path, target: Path) -> None:
    """The same file in a second place: a link where the disk allows, else a copy."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        target.hardlink_to(source)
    except OSError:
        shutil.copyfile(source, target)


def _unpack(source: Path, plugins: Path) -> None:
    """Unpack a plugin into `plugins/NAME`, the name being its descriptor's."""
    with zipfile.ZipFile(source) as archive:
        lines = archive.read("plugin-descriptor.properties").decode("utf-8").splitlines()
        properties = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
        archive.extractall(plugins / properties["name"].strip())
