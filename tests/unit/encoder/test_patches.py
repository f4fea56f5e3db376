"""Patches: files made of ranges of others."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trifuse.encoder.errors import ModelInvalid
from trifuse.encoder.patches import BLOCK, apply_patch, make_patch, read_patch

NOISE = np.random.default_rng(0).bytes(20 * BLOCK)
"""Nothing in it stands there twice, and most of it stays in whole blocks wherever it is cut."""


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _files(folder: Path, base: bytes, target: bytes) -> tuple[Path, Path]:
    """The patch from one to the other, and the base."""
    (folder / "base").write_bytes(base)
    (folder / "patch").write_bytes(make_patch(base, target))
    return folder / "patch", folder / "base"


def _applied(folder: Path, base: bytes, target: bytes) -> bytes:
    apply_patch(*_files(folder, base, target), folder / "target")
    return (folder / "target").read_bytes()


@st.composite
def _pairs(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A base, and a target of ranges of it with others' bytes between."""
    base = NOISE[: draw(st.integers(0, len(NOISE)))] + draw(st.binary(max_size=50)) * 20
    pieces = []
    for _ in range(draw(st.integers(0, 6))):
        start, end = sorted(draw(st.tuples(*[st.integers(0, len(base))] * 2)))
        pieces.append(draw(st.one_of(st.binary(max_size=600), st.just(base[start:end]))))
    return base, b"".join(pieces)


@settings(deadline=None)  # it writes files
@given(_pairs())
def test_whatever_two_files_share_the_patch_makes_one_of_the_other(
    tmp_path_factory: pytest.TempPathFactory, pair: tuple[bytes, bytes]
) -> None:
    assert _applied(tmp_path_factory.mktemp("patch"), *pair) == pair[1]


@pytest.mark.parametrize(
    ("base", "target"),
    [
        (b"", b""),
        (b"", NOISE),
        (NOISE, b""),
        (NOISE, NOISE),
        (b"short", b"short"),
        (bytes(5000), bytes(70000)),
        (NOISE, NOISE[::-1]),
        (NOISE, NOISE[BLOCK * 9 + 7 :] + b"-" + NOISE[: BLOCK * 8 + 3]),
    ],
)
def test_files_of_all_kinds(tmp_path: Path, base: bytes, target: bytes) -> None:
    assert _applied(tmp_path, base, target) == target
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


def test_what_is_shared_is_taken_from_the_base_wherever_it_stands(tmp_path: Path) -> None:
    start, end = 3 * BLOCK + 5, 9 * BLOCK + 11
    path, _ = _files(tmp_path, NOISE, b"\x00?" + NOISE[start:end] + b"!")
    patch = read_patch(path)
    # A byte more on either side only where it happens to be the same: here it isn't.
    assert NOISE[start - 1] != ord("?")
    assert NOISE[end] != ord("!")
    assert patch.segments == ((None, 2), (start, end - start), (None, 1))
    assert (patch.base.size, patch.base.sha256) == (len(NOISE), _sha256(NOISE))


def test_a_patch_of_two_files_is_always_the_same() -> None:
    target = NOISE[700:2000] + b"own"
    assert make_patch(NOISE, target) == make_patch(NOISE, target)
    assert len(make_patch(NOISE, target)) < 700


def test_another_base_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    path, base = _files(tmp_path, NOISE, NOISE[1:])
    base.write_bytes(NOISE[:-1] + b"?")
    with pytest.raises(ModelInvalid, match=f"base has SHA-256 .*is made for {_sha256(NOISE)}: give it that"):
        apply_patch(path, base, tmp_path / "target")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["base", "patch"]


def _rewritten(path: Path, change: Callable[[dict[str, Any]], object], literals: bytes | None = None) -> None:
    """A patch whose header was changed, and whose literals are others."""
    with zipfile.ZipFile(path) as archive:
        header = msgspec.json.decode(archive.read("patch.json"))
        own = archive.read("literals") if literals is None else literals
    change(header)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("patch.json", msgspec.json.encode(header))
        archive.writestr("literals", own)


@pytest.mark.parametrize(
    ("change", "literals", "message"),
    [
        (lambda header: header["target"].update(sha256="0" * 64), None, "it makes SHA-256 .*, expected 0000"),
        (lambda header: None, b"OWN", "it makes SHA-256 .*, expected"),
        (lambda header: None, b"own and more", "it has 12 bytes of its own, but its segments add up to 3"),
        (lambda header: header["segments"].pop(0), None, "bytes in all, but its segments add up to 3"),
        (lambda header: header["segments"][0].__setitem__(0, 5000), None, r"ends at byte 5,300 of a base of"),
        (lambda header: header["segments"][0].__setitem__(0, -1), None, "segments"),
        (lambda header: header["base"].update(sha256="?"), None, "sha256"),
        (lambda header: header.update(format=2), None, "format"),
        (lambda header: header.pop("target"), None, "target"),
    ],
)
def test_a_damaged_patch_is_refused_and_nothing_is_written(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], literals: bytes | None, message: str
) -> None:
    path, base = _files(tmp_path, NOISE, NOISE[:300] + b"own")
    assert read_patch(path).segments == ((0, 300), (None, 3))
    _rewritten(path, change, literals)
    with pytest.raises(ModelInvalid, match=message):
        apply_patch(path, base, tmp_path / "target")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["base", "patch"]


@pytest.mark.parametrize("kept", [0, 10, 0.5, 0.99])
def test_a_cut_patch_is_refused(tmp_path: Path, kept: float) -> None:
    path, base = _files(tmp_path, NOISE, NOISE[::-1])
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content)) if kept < 1 else int(kept)])
    with pytest.raises(ModelInvalid, match="missing or damaged"):
        read_patch(path)
    with pytest.raises(ModelInvalid, match="install its package again"):
        apply_patch(path, base, tmp_path / "target")


def test_every_flipped_byte_is_refused_or_one_that_nobody_reads(tmp_path: Path) -> None:
    target = NOISE[:300] + b"own"
    path, base = _files(tmp_path, NOISE, target)
    content = path.read_bytes()
    refused = 0
    for at, byte in enumerate(content):
        path.write_bytes(content[:at] + bytes([byte ^ 255]) + content[at + 1 :])
        try:
            apply_patch(path, base, tmp_path / "target")
        except ModelInvalid:
            refused += 1
            assert not (tmp_path / "target").exists()
        else:
            assert (tmp_path / "target").read_bytes() == target
            (tmp_path / "target").unlink()
    assert refused > len(content) / 2


def test_no_patch_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelInvalid, match="none is missing or damaged"):
        read_patch(tmp_path / "none")
