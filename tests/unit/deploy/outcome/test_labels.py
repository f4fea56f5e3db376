"""Labels from files and from values, and the part that each trial belongs to."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest

from trifuse.deploy.errors import OutcomeInvalid
from trifuse.deploy.outcome.labels import Label, Outcomes, read_labels
from trifuse.deploy.outcome.split import split_of
from trifuse.deploy.outcome.trials import plain, require_untold
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.templates import TextTemplate, build_text

ONE_OR_ZERO = Outcomes(("1",), ("0",))


def test_the_registrys_words_however_they_are_spelled() -> None:
    outcomes = Outcomes()
    assert outcomes.of("Approved for marketing") is True
    assert outcomes.of("COMPLETED") is True
    assert [outcomes.of(word) for word in ("Terminated", "withdrawn", "SUSPENDED")] == [False] * 3
    assert [outcomes.of(word) for word in ("Unknown status", "RECRUITING", None, "")] == [None] * 4


@pytest.mark.parametrize(("positive", "negative"), [(("a",), ("A",)), ((), ("a",)), (("a",), ())])
def test_values_that_tell_nothing_apart(positive: tuple[str, ...], negative: tuple[str, ...]) -> None:
    with pytest.raises(OutcomeInvalid, match="--positive, --negative"):
        Outcomes(positive, negative)


def test_a_file_with_parts(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("nctid,why,label,split\nNCT1,x,1,train\nNCT2,y,0,\nNCT3,z,unknown,test\n")
    assert read_labels([(file, None)], ONE_OR_ZERO) == {"NCT1": Label(True, "train"), "NCT2": Label(False)}


def test_a_file_for_each_part_gzipped_or_not(tmp_path: Path) -> None:
    first, second = tmp_path / "train.csv.gz", tmp_path / "test.tsv"
    first.write_bytes(gzip.compress(b"id,label\na,1\n"))
    second.write_text("\ufeffid\tlabel\nb\t0\n", encoding="utf-8")
    found = read_labels([(first, "train"), (second, "test")], ONE_OR_ZERO)
    assert found == {"a": Label(True, "train"), "b": Label(False, "test")}


def test_two_labels_of_one_trial(tmp_path: Path) -> None:
    """The same twice is one; another is refused: also another part, which would leak."""
    file = tmp_path / "labels.csv"
    file.write_text("id,label,split\na,1,train\na,1,train\n")
    assert read_labels([(file, None)], ONE_OR_ZERO) == {"a": Label(True, "train")}
    with pytest.raises(OutcomeInvalid, match="'a'"):
        read_labels([(file, None), (file, "test")], ONE_OR_ZERO)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"name,label\na,1\n", "it needs `id`"),
        (b"", "the columns \\(none\\)"),
        (b"id,label,split\na,1,dev\n", "'dev'"),
        (b"id,label\n\xff\xfe,1\n", "can't be read as CSV"),
        (b"id,label\n,1\n", "a label without an id"),
        (b"id,label\n", "none of the labels 1, 0, but no row"),
        (b"id,label\na,yes\nb,no\nc,yes\n", "none of the labels 1, 0, but 'yes', 'no': --positive"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "labels.csv"
    file.write_bytes(content)
    with pytest.raises(OutcomeInvalid, match=said):
        read_labels([(file, None)], ONE_OR_ZERO)


def test_a_file_that_only_says_it_is_gzipped(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv.gz"
    file.write_bytes(b"id,label\na,1\n")
    with pytest.raises(OutcomeInvalid, match="can't be read"):
        read_labels([(file, None)], ONE_OR_ZERO)


def test_parts_are_of_70_10_and_20_percent_and_never_change() -> None:
    """By sha256sum and bc, the number of NCT00000102 ends with 9."""
    assert split_of("NCT00000102") == "test"
    counts = Counter(split_of(f"NCT{number:08}") for number in range(20_000))
    shares = {part: count / 20_000 for part, count in counts.items()}
    assert shares == pytest.approx({"train": 0.7, "valid": 0.1, "test": 0.2}, abs=0.01)


def space(*fields: str, parts: tuple[str, ...] = ()) -> Space:
    encoder = EncoderSpace("tiny", "r", "fp32", "cls", 2, True, "cosine", parts=tuple(dict.fromkeys(parts)))
    return Space(encoder, TextTemplate(fields, parts=parts))


def test_vectors_of_texts_that_tell_the_outcome_are_refused() -> None:
    require_untold(space("brief_title", "eligibility"), "status")
    with pytest.raises(OutcomeInvalid, match="why_stopped"):
        require_untold(space("brief_title", "why_stopped"), "status")
    with pytest.raises(OutcomeInvalid, match=r"end\.how"):
        require_untold(space("brief_title", "end.how"), "end.how")


def test_baselines_get_the_same_fields_as_plain_text() -> None:
    template = plain(space("title", "body", parts=("title", "context")).template)
    source = {"title": "A", "body": "b", "why_stopped": "no money", "status": "TERMINATED"}
    assert build_text(source, template) == "A\nb"


def test_a_damaged_archive(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv.gz"
    content = bytearray(gzip.compress(b"id,label\n" + b"".join(b"%d,%d\n" % (n, n % 2) for n in range(500))))
    content[30:40] = b"\xff" * 10
    file.write_bytes(bytes(content))
    with pytest.raises(OutcomeInvalid, match=r"labels\.csv\.gz can't be read as CSV"):
        read_labels([(file, None)], ONE_OR_ZERO)


def test_rows_without_id_and_label_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("id,label\na,1\n,\n\n,,,\nb\n")
    assert read_labels([(file, None)], ONE_OR_ZERO) == {"a": Label(True)}
