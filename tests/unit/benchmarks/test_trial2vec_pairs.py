"""The paper's own labels: read, fetched by id, and counted where texts are lacking."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from trial2vec_data import told
from trial2vec_pairs import PAIRS, at_hand, corpus, fetch, ids_of, read_pairs
from trial2vec_protocol import Judged

ROWS = """target_trial,candidate_trial,rank,label
NCT00000001,NCT00000002,1,1
NCT00000001,NCT00000003,2,0
NCT00000001,NCT00000004,10,1
NCT00000001,NCT00000003,1,1
NCT00000005,NCT00000002,2,1
"""


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.csv"
    path.write_text(ROWS)
    return path


def test_a_query_ends_where_ranks_begin_anew(pairs: Path) -> None:
    found = read_pairs(pairs)
    assert found == [
        Judged("NCT00000001", ("NCT00000002", "NCT00000003", "NCT00000004"), (True, False, True)),
        Judged("NCT00000001", ("NCT00000003",), (True,)),
        Judged("NCT00000005", ("NCT00000002",), (True,)),
    ]
    assert ids_of(found) == [f"NCT0000000{number}" for number in (1, 2, 3, 4, 5)]


def test_pairs_without_text_are_left_out_and_counted(pairs: Path) -> None:
    """Without 4 two pairs of the first query are left, of both kinds; the others have one kind alone."""
    found = at_hand(read_pairs(pairs), [f"NCT0000000{n}" for n in (1, 2, 3, 5)])
    assert found.queries == [Judged("NCT00000001", ("NCT00000002", "NCT00000003"), (True, False))]
    assert (found.pairs, found.of_pairs, found.of_queries) == (4, 5, 3)
    assert at_hand(read_pairs(pairs), ["NCT00000001", "NCT00000002"]).queries == []


def test_a_candidate_that_stands_twice_counts_once() -> None:
    query = Judged("q", ("a", "b", "a"), (True, False, False))
    assert at_hand([query], "qab").queries == [Judged("q", ("a", "b"), (True, False))]


class Registry(BaseHTTPRequestHandler):
    """Has every study but NCT00000003."""

    asked: list[str]

    def do_GET(self) -> None:
        names = parse_qs(urlsplit(self.path).query)["filter.ids"][0].split(",")
        self.asked.extend(names)
        studies = [_study(name) for name in names if name != "NCT00000003"]
        body = json.dumps({"studies": studies}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def _study(name: str) -> dict[str, Any]:
    return {"protocolSection": {"identificationModule": {"nctId": name, "briefTitle": f"about {name}"}}}


@pytest.fixture
def registry() -> Iterator[str]:
    Registry.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/api/v2"
    server.shutdown()
    server.server_close()
    thread.join()


def test_records_are_fetched_by_id_and_only_once(registry: str, tmp_path: Path) -> None:
    path = tmp_path / "trials.ndjson.gz"
    wanted = ["NCT00000001", "NCT00000002"]
    assert fetch(wanted, path, registry) == 2
    assert fetch([*wanted, "NCT00000003", "NCT00000004"], path, registry) == 1
    assert Registry.asked == [*wanted, "NCT00000003", "NCT00000004"]
    assert [trial.id for trial in told([path])] == ["NCT00000001", "NCT00000002", "NCT00000004"]


def test_what_was_fetched_is_taken_before_other_files(tmp_path: Path) -> None:
    fetched = tmp_path / "fetched.ndjson.gz"
    with gzip.open(fetched, "wt") as file:
        file.write(json.dumps(_study("NCT00000001")) + "\n")
    (tmp_path / "ctgov_full").mkdir()
    with gzip.open(tmp_path / "ctgov_full" / "trials.jsonl.gz", "wt") as file:
        for name in ("NCT00000001", "NCT00000009"):
            file.write(json.dumps({"nct_id": name, "brief_title": "older"}) + "\n")
    found = corpus(tmp_path, fetched, ["NCT00000001"])
    assert [(trial.id, trial.source["brief_title"]) for trial in found] == [
        ("NCT00000001", "about NCT00000001"),
        ("NCT00000009", "older"),
    ]


@pytest.mark.data
def test_the_published_labels(data_dir: Path) -> None:
    """161 query rows, 1,610 pairs, 312 of them relevant, 1,624 ids; 21 pairs have records of both here."""
    queries = read_pairs(data_dir / PAIRS)
    assert len(queries) == 161
    assert sum(len(query.candidates) for query in queries) == 1610
    assert sum(sum(query.relevant) for query in queries) == 312
    assert len(ids_of(queries)) == 1624
    trials = corpus(data_dir, None, ids_of(queries))
    assert at_hand(queries, [trial.id for trial in trials]).pairs == 21
