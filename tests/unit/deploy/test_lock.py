"""The pinned files of the server."""

from __future__ import annotations

import pytest

from trifuse.deploy.local.distribution import LIB, MODULES, PLUGINS, Module
from trifuse.deploy.local.lock import LockedFile, format_lock, parse_lock, read_lock

SHA = "a" * 64


def test_a_line_is_hash_path_coordinate() -> None:
    text = f"# a comment\n\n{SHA}  modules/reindex/x-1.jar  org.x:x:1\n"

    (file,) = parse_lock(text)

    assert file == LockedFile("modules/reindex/x-1.jar", "org.x:x:1", SHA)
    assert file.packaging == "jar"


@pytest.mark.parametrize("line", ["lib/x.jar", f"{SHA}  lib/x.jar", "abc  lib/x.jar  g:a:1"])
def test_another_line_is_refused_by_number(line: str) -> None:
    with pytest.raises(ValueError, match="line 2"):
        parse_lock(f"# head\n{line}\n")


def test_what_is_written_is_read_sorted() -> None:
    files = (LockedFile("lib/b.jar", "g:b:1", SHA), LockedFile("lib/a.jar", "g:a:1", SHA))

    assert parse_lock(format_lock(files)) == (files[1], files[0])


def test_the_committed_lock_holds_the_distribution_once() -> None:
    files = read_lock()
    paths = [file.path for file in files]
    coordinates = {file.coordinate for file in files}

    assert len(set(paths)) == len(paths)
    assert set(LIB) <= coordinates
    assert {module.coordinate for module in MODULES} <= coordinates
    assert {file.coordinate for file in files if file.packaging == "zip"} == set(PLUGINS)
    assert {path.split("/")[1] for path in paths if path.startswith("modules/")} == {m.name for m in MODULES}


def test_one_version_of_each_library_and_no_platforms() -> None:
    names = [file.coordinate.rsplit(":", 1)[0] for file in read_lock() if file.path.startswith("lib/")]

    assert len(set(names)) == len(names)
    assert not [file.path for file in read_lock() if "linux" in file.path or "windows" in file.path]


def test_a_descriptor_is_what_the_server_reads() -> None:
    module = Module("analysis-common", "analysis-common", "org.x.Plugin", "lang-painless")

    assert module.descriptor().splitlines() == [
        "description=analysis-common",
        "version=3.6.0",
        "name=analysis-common",
        "classname=org.x.Plugin",
        "java.version=21",
        "opensearch.version=3.6.0",
        "has.native.controller=false",
        "extended.plugins=lang-painless",
    ]
