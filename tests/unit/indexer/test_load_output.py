"""What `trifuse load` says."""

from __future__ import annotations

import pytest
import typer

from trifuse.deploy.cli.load_output import estimated, fail_rejected, tell
from trifuse.encoder.spaces import EncoderSpace
from trifuse.indexer.readers import Record, Rejection
from trifuse.indexer.report import LoadReport, SentenceCounts
from trifuse.indexer.trial import Trial

INT8 = EncoderSpace("tiny", "r1", "int8", "cls", 4, True, "cosine")
FP32 = EncoderSpace("tiny", "r1", "fp32", "cls", 4, True, "cosine")
RECORD = Record(Trial(nct_id="NCT1", brief_summary="One is here. Two is."), "f.json")
BAD = Rejection("f.json", 2, None, "no study")


@pytest.mark.parametrize(
    ("items", "limit", "encoder", "said"),
    [
        # 2 sentences in 2 items, of which one has none
        (
            [RECORD, BAD],
            None,
            INT8,
            "2 records have about 2 sentences (1 each): their vectors will take some 1 seconds",
        ),
        # the sample, 2,000 records, is full; a thousand have 2,000 sentences: 31.25 s at 64 a second
        (
            [RECORD] * 2001,
            None,
            INT8,
            "each 1,000 records have about 2,000 sentences (2 each): their vectors will take some 31 seconds",
        ),
        # 20,000 sentences at 39 a second: 513 s
        (
            [RECORD] * 2001,
            10_000,
            FP32,
            "10,000 records have about 20,000 sentences (2 each): their vectors will take some 9 minutes",
        ),
        # 2,000,000 sentences at 64 a second: 31,250 s
        ([RECORD] * 2001, 1_000_000, INT8, "some 8.7 hours"),
    ],
)
def test_estimate(
    capsys: pytest.CaptureFixture[str],
    items: list[Record | Rejection],
    limit: int | None,
    encoder: EncoderSpace,
    said: str,
) -> None:
    assert list(estimated(items, limit, encoder)) == items
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("items", [[], [BAD]])
def test_without_sentences_there_is_nothing_to_estimate(
    capsys: pytest.CaptureFixture[str], items: list[Record | Rejection]
) -> None:
    assert list(estimated(items, None, INT8)) == items
    assert capsys.readouterr().err == ""


def test_the_report_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    report = LoadReport(
        index="trials",
        read=1500,
        indexed=1498,
        unchanged=1,
        rejected=[BAD],
        duplicates=2,
        unknown_fields={"newModule": 7},
        newly_empty_fields=["sponsor"],
        sentences=SentenceCounts(indexed=3, unchanged=2, deleted=1),
    )
    tell(report)
    assert capsys.readouterr().out.splitlines() == [
        "read 1,500 = indexed 1,498 + unchanged 1 + rejected 1",
        "sentences: indexed 3, unchanged 2, deleted 1",
        "records whose id stood in this load before (the last wins): 2",
        "unknown field newModule: in 7 records",
        "field sponsor: filled in the index before, and in no record of this load",
        "vectors follow from the workers: `trifuse sync trials --wait` waits",
    ]


def test_rejected_records_end_with_status_1_and_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    report = LoadReport(index="trials", read=9, rejected=[BAD] * 6, dead_letter="trials.rejected.ndjson")
    with pytest.raises(typer.Exit) as ended:
        fail_rejected(report)
    assert ended.value.exit_code == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[:5] == ["rejected f.json:2 (no id): no study"] * 5
    assert " ".join(" ".join(lines[5:]).split()) == (
        "trifuse: 6 of 9 records were rejected (the first 5 above): all are in trials.rejected.ndjson"
    )
