"""TripClick's files, made up in the layout of the published ones (see `trifuse.worker.clicks.tripclick`)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trifuse.worker.clicks import checks
from trifuse.worker.clicks.checks import Fault
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.reading import read_clicks
from trifuse.worker.clicks.tripclick import plain_keywords

NEW_YEAR = 1356998400.0  # 2013-01-01T00:00:00Z

TRIP = {
    "DateCreated": "/Date(1356998400000)/",
    "SessionId": "abc",
    "Keywords": "title:asthma AND children",
    "Documents": [10, 11, 12],
    "DocumentId": 11,
}


def write(path: Path, *records: object) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def read(*paths: Path) -> list[ClickEvent | Fault]:
    return list(read_clicks(paths))


def events(*paths: Path) -> list[ClickEvent]:
    found = [event for event in read(*paths) if isinstance(event, ClickEvent)]
    assert len(found) == len(read(*paths))
    return found


def test_a_click_names_its_search_whose_page_is_an_impression(tmp_path: Path) -> None:
    page, click = events(write(tmp_path / "2013-01-01.json", TRIP))
    search = page.query_id
    assert search
    assert page == ClickEvent(
        query="asthma children",
        query_id=search,
        kind="impression",
        timestamp=NEW_YEAR,
        session="abc",
        shown=("10", "11", "12"),
    )
    assert click == ClickEvent(
        query="asthma children",
        query_id=search,
        doc_id="11",
        timestamp=NEW_YEAR,
        position=2,
        session="abc",
    )


def test_two_clicks_on_one_page_are_one_impression(tmp_path: Path) -> None:
    later = {"DateCreated": "/Date(1356998460000)/"}
    found = events(write(tmp_path / "log", TRIP, TRIP | later | {"DocumentId": 10}, TRIP | later))
    assert [(event.kind, event.doc_id) for event in found] == [
        ("impression", None),
        ("click", "11"),
        ("click", "10"),
        ("click", "11"),
    ]
    assert len({event.query_id for event in found}) == 1


@pytest.mark.parametrize(
    "change",
    [{"SessionId": "xyz"}, {"Keywords": "copd"}, {"Documents": [10, 11]}, {"Documents": [11, 10, 12]}],
)
def test_another_session_query_or_page_is_another_search(tmp_path: Path, change: dict[str, object]) -> None:
    found = events(write(tmp_path / "log", TRIP, TRIP | change))
    assert [event.kind for event in found] == ["impression", "click"] * 2
    assert len({event.query_id for event in found}) == 2


def test_the_same_page_in_another_file_has_the_same_id_so_that_it_is_kept_once(tmp_path: Path) -> None:
    first = events(write(tmp_path / "2013-01-01.json", TRIP))
    again = events(write(tmp_path / "2013-01-02.json", TRIP | {"DateCreated": "/Date(1357084800000)/"}))
    assert first[0].id == again[0].id
    assert first[1].id != again[1].id


def test_a_page_that_nothing_was_clicked_on(tmp_path: Path) -> None:
    for nothing in (0, None, -1, "0"):
        (page,) = events(write(tmp_path / "log", TRIP | {"DocumentId": nothing}))
        assert (page.kind, page.doc_id, page.shown) == ("impression", None, ("10", "11", "12"))


def test_a_click_without_its_page_or_beside_it(tmp_path: Path) -> None:
    (alone,) = events(write(tmp_path / "log", TRIP | {"Documents": None}))
    assert (alone.doc_id, alone.position, alone.query_id, alone.shown) == ("11", None, None, ())
    _, beside = events(write(tmp_path / "log", TRIP | {"DocumentId": 99}))
    assert (beside.doc_id, beside.position) == ("99", None)
    (no_session,) = events(write(tmp_path / "log", TRIP | {"SessionId": None}))
    assert (no_session.query_id, no_session.position, no_session.shown) == (None, 2, ("10", "11", "12"))


def test_pages_with_scores_and_files_that_are_arrays(tmp_path: Path) -> None:
    plain = events(write(tmp_path / "lines.json", TRIP))
    scored = TRIP | {"Documents": '["10:1.5","11:0.75","12:0.5"]'}
    as_array = tmp_path / "array.json"
    as_array.write_text("[" + ",\n".join(json.dumps(record) for record in (TRIP, scored)) + "]")
    assert events(write(tmp_path / "scored.json", scored)) == plain
    assert events(as_array) == [*plain, plain[1]]


def test_records_without_a_query_or_a_time_are_one_fault_each(tmp_path: Path) -> None:
    (nothing,) = read(write(tmp_path / "log", TRIP | {"Keywords": None}))
    assert isinstance(nothing, ClickEvent)
    assert checks.fault(nothing, NEW_YEAR) == checks.NO_QUERY
    assert read(write(tmp_path / "log", TRIP | {"DateCreated": "soon"})) == [Fault(checks.BAD_TIME)]
    assert read(write(tmp_path / "log", TRIP | {"Keywords": "tag:covid"})) == [Fault(None)]


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("title:(asthma) AND (child* OR infant)", "asthma child infant"),
        ("stroke from:2010 to:2015", "stroke"),
        ("stroke~2 prevention", "stroke prevention"),
        ("stroke (NOT haemorrhage) prevention", "stroke prevention"),
        ("stroke NOT haemorrhage", "stroke"),
        ("“atrial fibrillation”, warfarin", "atrial fibrillation warfarin"),
        ("DISORDER OF ANDROGEN", "DISORDER OF ANDROGEN"),
    ],
)
def test_queries_lose_trips_syntax(typed: str, plain: str) -> None:
    assert plain_keywords(typed) == plain


def test_the_whole_folder_of_logs(tmp_path: Path) -> None:
    """`allarticles.txt` lies beside the logs; some of its titles are broken by a tab or a new line."""
    write(tmp_path / "logs" / "2013-01-01.json", TRIP)
    (tmp_path / "logs" / "allarticles.txt").write_text(
        "id\ttitle\turl\n10\tA title\thttps://example.org\n11\tA title that\ngoes on\thttps://example.org\n"
    )
    assert [event.kind for event in events(tmp_path / "logs")] == ["impression", "click"]


TOPICS_TSV = "1\tasthma inhaler\n2\tcopd care\n"
TOPICS_TREC = (
    "<top>\n\n<num> Number: 1\n<title> asthma inhaler\n\n<desc> Descrption:\n\n</top>\n\n"
    "<top>\n\n<num> Number: 2\n<title> copd\ncare\n\n<desc> Descrption:\n\n</top>\n"
)
CLICKED = [ClickEvent(query="asthma inhaler", doc_id="10"), ClickEvent(query="copd care", doc_id="12")]


@pytest.mark.parametrize("topics", [TOPICS_TSV, TOPICS_TREC])
@pytest.mark.parametrize(
    "qrels",
    [
        "1 0 10 1\n1 0 11 0\n2 0 12 1\n",  # RAW
        "1 0 10 2\n1 0 11 0\n2 0 12 3\n",  # DCTR
        "1\t0\t10\t1\n1\t0\t11\t0\n2\t0\t12\t1\n",
    ],
)
def test_judgements_and_topics_as_two_files(tmp_path: Path, topics: str, qrels: str) -> None:
    (tmp_path / "topics.head.train").write_text(topics)
    (tmp_path / "qrels.head.train").write_text(qrels)
    for paths in ([tmp_path / "topics.head.train", tmp_path / "qrels.head.train"], [tmp_path]):
        assert [event for event in read(*paths) if event != Fault(None)] == CLICKED


def test_the_whole_folder_of_the_benchmark(tmp_path: Path) -> None:
    """Documents, topics and judgements: the ids of the documents are numbers as those of the topics are."""
    for name, content in {
        "documents/docs.tsv": "1\tA title <eot> A text\n10\tA title <eot> A text\n",
        "topics/topics.head.train.tsv": TOPICS_TSV,
        "qrels/qrels.raw.head.train.tsv": "1\t0\t10\t1\n1\t0\t11\t0\n3\t0\t13\t1\n2\t0\t12\t1\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    assert read(tmp_path) == [CLICKED[0], Fault(None), Fault(checks.UNKNOWN_QUERY_ID), CLICKED[1]]


def test_a_line_of_judgements_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(TOPICS_TSV)
    (tmp_path / "b").write_text("1 0 10 1\nnot four words\n")
    assert read(tmp_path) == [CLICKED[0], Fault(checks.NOT_AN_EVENT)]
