"""Which Java runs the server: fake installations, as their `release` files describe them."""

from __future__ import annotations

from pathlib import Path

import pytest

from trifuse.deploy.errors import JavaMissing
from trifuse.deploy.local.java import Java, find_java, inspect, major_version

FULL = "java.base jdk.localedata jdk.incubator.vector"


def install(home: Path, version: str, modules: str = FULL) -> Path:
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "java"
    program.touch(mode=0o755)
    (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\nMODULES="{modules}"\n')
    return home


@pytest.mark.parametrize(
    ("version", "expected"),
    [("25.0.3", 25), ("21", 21), ("21-ea", 21), ("1.8.0_402", 8), ("17.0.15", 17), ("", 0), ("x", 0)],
)
def test_major_version(version: str, expected: int) -> None:
    assert major_version(version) == expected


def test_java_home_comes_first(tmp_path: Path) -> None:
    wanted = install(tmp_path / "mine", "21.0.2")
    install(tmp_path / "jvm" / "jdk-25", "25")

    found = find_java({"JAVA_HOME": str(wanted)}, folders=(str(tmp_path / "jvm"),))

    assert found == Java(wanted, 21)


def test_one_that_is_too_old_is_passed_over(tmp_path: Path) -> None:
    old = install(tmp_path / "old", "17.0.15")
    new = install(tmp_path / "jvm" / "temurin-25", "25.0.3")

    found = find_java({"PATH": str(old / "bin")}, folders=(str(tmp_path / "jvm"),))

    assert found.home == new
    assert found.executable == new / "bin" / "java"


def test_macos_keeps_them_deeper(tmp_path: Path) -> None:
    home = install(tmp_path / "jvm" / "temurin-21.jdk" / "Contents" / "Home", "21.0.1")

    assert find_java({}, folders=(str(tmp_path / "jvm"),)).home == home


def test_none_at_all_names_the_remedies(tmp_path: Path) -> None:
    with pytest.raises(JavaMissing) as caught:
        find_java({"PATH": ""}, folders=(str(tmp_path),))

    message = str(caught.value)
    assert "Java 21 or newer" in message
    assert "no Java was found" in message
    for remedy in ("apt-get install", "JAVA_HOME", "OPENSEARCH_URL"):
        assert remedy in message


def test_those_that_wont_do_are_named_with_the_reason(tmp_path: Path) -> None:
    old = install(tmp_path / "jvm" / "a", "17.0.15")
    small = install(tmp_path / "jvm" / "b", "21.0.1", modules="java.base jdk.incubator.vector")
    (tmp_path / "jvm" / "c").mkdir()

    with pytest.raises(JavaMissing) as caught:
        find_java({}, folders=(str(tmp_path / "jvm"),))

    message = str(caught.value)
    assert f"{old} is Java 17" in message
    assert f"{small} is Java 21 without jdk.localedata" in message
    assert f"{tmp_path / 'jvm' / 'c'} has no `release` file" in message


def test_a_release_file_without_the_program(tmp_path: Path) -> None:
    (tmp_path / "release").write_text('JAVA_VERSION="25"\n')

    assert inspect(tmp_path) == "has no bin/java"
