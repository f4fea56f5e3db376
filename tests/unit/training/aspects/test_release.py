"""Labelled tokens from the files of an EBM-NLP release."""

from __future__ import annotations

from pathlib import Path

import pytest

from trifuse.encoder.errors import LabelsInvalid
from trifuse.encoder.training.aspects.labelled import LabelledTokens
from trifuse.encoder.training.aspects.release import Labels, Part, read_release

ASPECTS = ("participants", "interventions", "outcomes")


class Release:
    """A release's folder that is being written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "documents").mkdir(parents=True)

    def annotation(
        self, aspect: str, name: str, text: str, *, at: str = "starting_spans", part: str = "train"
    ) -> Path:
        folder = self.folder / "annotations" / "aggregated" / at / aspect / part
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        return folder / name

    def document(self, name: str, text: str) -> Path:
        path = self.folder / "documents" / f"{name}.tokens"
        path.write_text(text)
        return path

    def read(self, part: Part = "train", labels: Labels = "starting_spans") -> list[LabelledTokens]:
        self.left_out: list[str] = []
        return list(read_release(self.folder, part, self.left_out.append, labels=labels))


@pytest.fixture
def release(tmp_path: Path) -> Release:
    """Of one document: `Men took aspirin`, by the layout of 2.0."""
    made = Release(tmp_path / "ebm_nlp_2_00")
    made.document("7", "Men\ntook\naspirin\n")
    for aspect, labels in zip(ASPECTS, ("1\n0\n0\n", "0\n0\n1\n", "0\n1\n1\n"), strict=True):
        made.annotation(aspect, "7.AGGREGATED.ann", labels)
    return made


def test_tokens_may_have_several_aspects(release: Release) -> None:
    assert release.read() == [
        LabelledTokens(
            "7",
            ("Men", "took", "aspirin"),
            (frozenset({"population"}), frozenset({"outcome"}), frozenset({"intervention", "outcome"})),
            (3,),
            "train",
            "train",
        )
    ]
    assert release.left_out == []


@pytest.mark.parametrize("labels", ["1 0 0", "1,0,0", "1, 0, 0\n"])
def test_the_layout_of_the_first_release(tmp_path: Path, labels: str) -> None:
    made = Release(tmp_path)
    made.document("7", "Men\ntook\naspirin")
    for aspect in ASPECTS:
        made.annotation(aspect, "7_AGGREGATED.ann", labels, part="test/gold")
    (found,) = made.read("test/gold")
    assert found.labels == (frozenset({"population", "intervention", "outcome"}), frozenset(), frozenset())
    assert (found.split, found.source) == ("test", "test/gold")


def test_kinds_are_their_aspects_and_control_is_the_comparator(release: Release) -> None:
    for aspect, labels in zip(ASPECTS, ("4\n0\n0\n", "0\n3\n7\n", "0\n0\n6\n"), strict=True):
        release.annotation(aspect, "7.AGGREGATED.ann", labels, at="hierarchical_labels")
    (found,) = release.read(labels="hierarchical_labels")
    assert found.labels == (
        frozenset({"population"}),
        frozenset({"intervention"}),
        frozenset({"comparator", "outcome"}),
    )


def test_a_document_that_lacks_an_annotation_is_told_of(release: Release) -> None:
    release.annotation("outcomes", "8.AGGREGATED.ann", "0\n")
    assert [found.id for found in release.read()] == ["7"]
    assert release.left_out == ["8 has no annotation of participants, interventions in starting_spans, train"]


def test_blank_tokens_keep_their_place(release: Release) -> None:
    release.document("7", "Men\n\naspirin\n")
    (found,) = release.read()
    assert found.tokens == ("Men", "", "aspirin")


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ("1\n0\n", "2 labels for 3 tokens"),
        ("1\n2\n0\n", "label 2: '2', expected a whole number from 0 to 1"),
        ("1\nx\n0\n", "label 2: 'x'"),
        ("", "0 labels for 3 tokens"),
    ],
)
def test_wrong_labels_name_the_file(release: Release, labels: str, said: str) -> None:
    path = release.annotation("outcomes", "7.AGGREGATED.ann", labels)
    with pytest.raises(LabelsInvalid, match=f"{path}[:,] {said}"):
        release.read()


def test_what_is_missing_is_named(release: Release, tmp_path: Path) -> None:
    with pytest.raises(LabelsInvalid, match=r"no folder .*test/gold"):
        release.read("test/gold")
    (release.folder / "documents" / "7.tokens").unlink()
    with pytest.raises(LabelsInvalid, match=r"7\.tokens can't be read"):
        release.read()
    release.annotation("outcomes", "7.ann", "0")
    with pytest.raises(LabelsInvalid, match=r"expected a name such as PMID\.AGGREGATED\.ann"):
        release.read()
    (empty := tmp_path / "annotations/aggregated/starting_spans/participants/train").mkdir(parents=True)
    with pytest.raises(LabelsInvalid, match=f"{empty}: there are no annotations"):
        list(read_release(tmp_path, "train", lambda said: None))
