"""The reader of UMLS files, on rows that are made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from trifuse.encoder.errors import TrainingInvalid
from trifuse.encoder.training.entities import Concept, DictionarySource, read_umls


def name(
    cui: str, text: str, *, lat: str = "ENG", ts: str = "P", stt: str = "PF", sab: str = "MSH", off: str = "N"
) -> str:
    """A row of MRCONSO.RRF."""
    return f"{cui}|{lat}|{ts}|L1|{stt}|S1|Y|A1||M1|D1|{sab}|MH|D1|{text}|0|{off}||"


def relation(one: str, rel: str, other: str, *, sab: str = "MSH", off: str = "N") -> str:
    """A row of MRREL.RRF."""
    return f"{one}|A1|AUI|{rel}|{other}|A2|AUI||R1||{sab}|{sab}|||{off}||"


def semantic_type(cui: str, tui: str, text: str) -> str:
    """A row of MRSTY.RRF."""
    return f"{cui}|{tui}|B2.2|{text}|AT1||"


def write(folder: Path, names: list[str], relations: list[str], types: list[str] | None = None) -> Path:
    """The files of a subset."""
    for file, rows in (("MRCONSO", names), ("MRREL", relations), ("MRSTY", types)):
        if rows is not None:
            (folder / f"{file}.RRF").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return folder


NAMES = [
    name("C2", "Enteritis", ts="S"),
    name("C2", "Bowel Inflammation"),
    name("C1", "Colitis"),
    name("C9", "Intestinal Diseases"),
]


def test_names_parents_and_siblings(tmp_path: Path) -> None:
    relations = [relation("C1", "PAR", "C9"), relation("C9", "CHD", "C2"), relation("C1", "SIB", "C2")]
    assert read_umls(write(tmp_path, NAMES, relations)) == [
        Concept("C1", "", ("Colitis",), frozenset({"C9"}), frozenset({"C2"})),
        Concept("C2", "", ("Bowel Inflammation", "Enteritis"), frozenset({"C9"}), frozenset({"C1"})),
        Concept("C9", "", ("Intestinal Diseases",)),
    ]


def test_the_preferred_form_of_the_preferred_term_comes_first(tmp_path: Path) -> None:
    rows = [name("C1", "a", ts="S", stt="PF"), name("C1", "b", ts="P", stt="VO"), name("C1", "c")]
    (concept,) = read_umls(write(tmp_path, rows, []))
    assert concept.names == ("c", "b", "a")


def test_other_languages_vocabularies_and_suppressed_rows_are_left_out(tmp_path: Path) -> None:
    rows = [
        name("C1", "Colitis"),
        name("C1", "Kolitis", lat="GER"),
        name("C1", "CO", off="Y"),
        name("C1", "Colitis (disorder)", sab="SNOMEDCT_US"),
        name("C2", "Aspirin", sab="RXNORM"),
    ]
    relations = [relation("C1", "PAR", "C8", sab="RXNORM"), relation("C1", "PAR", "C9", off="O")]
    folder = write(tmp_path, rows, relations)
    assert read_umls(folder) == [Concept("C1", "", ("Colitis",))]
    both = read_umls(folder, vocabularies=("MSH", "RXNORM"))
    assert [(each.names, each.parents) for each in both] == [(("Colitis",), {"C8"}), (("Aspirin",), set())]


def test_the_first_semantic_type_is_the_kind_and_types_can_be_chosen(tmp_path: Path) -> None:
    types = [
        semantic_type("C1", "T184", "Sign or Symptom"),
        semantic_type("C1", "T047", "Disease or Syndrome"),
        semantic_type("C2", "T184", "Sign or Symptom"),
    ]
    folder = write(tmp_path, NAMES, [], types)
    kinds = {each.id: each.kind for each in read_umls(folder)}
    assert kinds == {"C1": "Disease or Syndrome", "C2": "Sign or Symptom", "C9": ""}
    assert [each.id for each in read_umls(folder, types=("T047",))] == ["C1"]
    chosen = read_umls(folder, types=("Sign or Symptom",))
    assert [(each.id, each.kind) for each in chosen] == [("C1", "Sign or Symptom"), ("C2", "Sign or Symptom")]


def test_what_was_read_is_a_source_of_entities(tmp_path: Path) -> None:
    folder = write(tmp_path, NAMES, [relation("C1", "PAR", "C9"), relation("C2", "PAR", "C9")])
    source = DictionarySource(read_umls(folder))
    (entity,) = source.find("Acute enteritis")
    assert source.canonical(entity) == "Bowel Inflammation"
    assert source.siblings(entity) == ["Colitis"]


def test_lines_of_another_system_and_unicode(tmp_path: Path) -> None:
    write(tmp_path, [], [])
    (tmp_path / "MRCONSO.RRF").write_bytes(name("C1", "Sjögren\u2028Syndrome").encode() + b"\r\n")
    assert read_umls(tmp_path)[0].names == ("Sjögren\u2028Syndrome",)


@pytest.mark.parametrize("missing", ["MRCONSO.RRF", "MRREL.RRF"])
def test_a_missing_file_is_named(tmp_path: Path, missing: str) -> None:
    (write(tmp_path, NAMES, []) / missing).unlink()
    with pytest.raises(TrainingInvalid, match=f"{missing} isn't there: .*UMLS"):
        read_umls(tmp_path)


def test_types_need_their_file(tmp_path: Path) -> None:
    with pytest.raises(TrainingInvalid, match=r"MRSTY\.RRF isn't there"):
        read_umls(write(tmp_path, NAMES, []), types=("T047",))


def test_a_line_of_too_few_columns_is_named_by_file_and_number(tmp_path: Path) -> None:
    folder = write(tmp_path, [NAMES[0], "C1|ENG|P|"], [])
    with pytest.raises(TrainingInvalid, match=r"MRCONSO\.RRF, line 2: 3 columns where .* has 18"):
        read_umls(folder)


def test_a_line_that_is_cut_off_is_named(tmp_path: Path) -> None:
    folder = write(tmp_path, NAMES, [relation("C1", "PAR", "C9"), relation("C2", "PAR", "C9")[:-1]])
    with pytest.raises(TrainingInvalid, match=r"MRREL\.RRF, line 2: 15 columns where .* has 16"):
        read_umls(folder)


def test_a_line_that_is_no_utf8_is_named(tmp_path: Path) -> None:
    write(tmp_path, NAMES, [])
    (tmp_path / "MRCONSO.RRF").write_bytes(name("C1", "Colitis").encode() + b"\n\xff\xfe\n")
    with pytest.raises(TrainingInvalid, match=r"MRCONSO\.RRF, line 2: not UTF-8"):
        read_umls(tmp_path)


def test_a_vocabulary_that_the_subset_lacks_is_named(tmp_path: Path) -> None:
    with pytest.raises(TrainingInvalid, match=r"no English name of RXNORM: .*SAB"):
        read_umls(write(tmp_path, NAMES, []), vocabularies=("RXNORM",))
