"""The bundled sample: fictional, readable without loss, and consistent in itself."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from trifuse.deploy.demo.sample import CLICKS, QUERY, TRIALS, click_rows, shifted, write_shifted_clicks
from trifuse.indexer.readers import Record, read_trials

MAX_BYTES = 300_000


def _studies() -> list[dict]:
    return [json.loads(line) for line in TRIALS.read_text(encoding="utf-8").splitlines()]


def _id(study: dict) -> str:
    return study["protocolSection"]["identificationModule"]["nctId"]


def _clicked() -> Counter[tuple[str, str]]:
    """(query, document) of each click."""
    rows = click_rows()
    queries = {row["query_id"]: row["user_query"] for row in rows if "user_query" in row}
    return Counter(
        (queries[row["query_id"]], row["event_attributes"]["object"]["object_id"])
        for row in rows
        if row.get("action_name") == "click"
    )


def test_ids_are_unique_and_of_the_block_that_the_registry_has_not_given_out() -> None:
    ids = [_id(study) for study in _studies()]
    assert len(ids) == len(set(ids)) == 63
    assert all(re.fullmatch(r"NCT990\d{5}", nct_id) for nct_id in ids)


def test_files_are_small() -> None:
    assert TRIALS.stat().st_size < MAX_BYTES
    assert CLICKS.stat().st_size < MAX_BYTES


def test_every_trial_is_read_without_rejection_or_unknown_field() -> None:
    read = list(read_trials([TRIALS]))
    assert [item for item in read if not isinstance(item, Record) or item.unknown] == []
    assert [item.trial.nct_id for item in read if isinstance(item, Record)] == [_id(s) for s in _studies()]


def test_every_trial_has_what_a_trial_has() -> None:
    for item in read_trials([TRIALS]):
        assert isinstance(item, Record)
        trial = item.trial
        assert trial.brief_title and trial.brief_summary and trial.conditions and trial.interventions
        assert trial.primary_outcomes and trial.inclusion_criteria and trial.exclusion_criteria
        assert trial.condition_mesh and trial.sponsor and trial.countries and trial.start_date
        assert (trial.study_type == "INTERVENTIONAL") == bool(trial.phases)


def test_the_best_trials_for_the_query_do_not_use_its_words() -> None:
    texts = {_id(study): json.dumps(study).lower() for study in _studies()}
    words = QUERY.split()
    synonyms = [n for n, text in texts.items() if "infarction" in text and not any(w in text for w in words)]
    lexical = [n for n, text in texts.items() if all(w in text for w in words)]
    assert len(synonyms) >= 6
    assert 2 <= len(lexical) <= 8


def test_clicks_refer_to_trials_and_to_queries_of_the_sample() -> None:
    ids = {_id(study) for study in _studies()}
    rows = click_rows()
    queries = {row["query_id"] for row in rows if "user_query" in row}
    events = [row for row in rows if "action_name" in row]
    assert {row["action_name"] for row in events} == {"impression", "click"}
    assert {row["query_id"] for row in events} == queries
    assert {row["event_attributes"]["object"]["object_id"] for row in events} <= ids


def test_every_click_has_its_impression() -> None:
    seen = set()
    for row in click_rows():
        if "action_name" in row:
            key = (row["query_id"], row["event_attributes"]["object"]["object_id"])
            assert row["action_name"] == "impression" or key in seen
            seen.add(key)


def test_the_query_itself_is_not_in_the_log_but_similar_ones_are() -> None:
    queries = {query for query, _ in _clicked()}
    assert QUERY not in queries
    assert sum(QUERY in query for query in queries) >= 5


def test_people_chose_trials_that_words_cannot_find() -> None:
    chosen = Counter()
    for (query, document), count in _clicked().items():
        if QUERY in query:
            chosen[document] += count
    assert [document for document, _ in chosen.most_common(2)] == ["NCT99000001", "NCT99000006"]


def test_shifting_keeps_the_gaps_and_ends_at_the_given_time(tmp_path: Path) -> None:
    newest = datetime(2031, 5, 4, 3, 2, 1, tzinfo=UTC)
    write_shifted_clicks(tmp_path / "clicks.ndjson", newest)
    moved = [json.loads(line) for line in (tmp_path / "clicks.ndjson").read_text().splitlines()]
    assert max(row["timestamp"] for row in moved) == "2031-05-04T03:02:01Z"
    assert list(shifted(moved, datetime(2025, 1, 31, 18, 0, 8, tzinfo=UTC))) == click_rows()
