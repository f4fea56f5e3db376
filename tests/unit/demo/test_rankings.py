"""A fused response seen as four rankings, and the tables made of them."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from trifuse.deploy.demo.rankings import Signal, by_leg, ranked, remarks
from trifuse.deploy.demo.tables import side_by_side, signals


def _leg(rank: int, score: float, normalized: float, weight: float) -> dict[str, float]:
    return {"rank": rank, "score": score, "normalized": normalized, "weight": weight}


def _hit(nct_id: str, title: str | None, score: float, **legs: dict[str, float] | None) -> dict[str, Any]:
    every = {"lexical": None, "dense": None, "clicks": None, **legs}
    source = {} if title is None else {"brief_title": title}
    return {"_id": nct_id, "_score": score, "_source": source, "trifuse": {"legs": every}}


RESPONSE = {
    "hits": {
        "hits": [
            _hit("N3", "Walking", 0.6, dense=_leg(3, 0.8, 1.0, 0.4), clicks=_leg(1, 2.5, 1.0, 0.2)),
            _hit("N1", "Signs", 0.5, lexical=_leg(1, 12.34, 1.0, 0.4), dense=_leg(2, 0.7, 0.25, 0.4)),
            _hit("N2", None, 0.4, dense=_leg(1, 0.9, 1.0, 0.4)),
        ]
    }
}


def _text(table: Table, width: int = 100) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def test_hits_keep_their_fused_order_and_only_the_signals_that_found_them() -> None:
    first, second, third = ranked(RESPONSE)
    assert (first.rank, first.id, first.title, first.score) == (1, "N3", "Walking", 0.6)
    assert set(first.legs) == {"dense", "clicks"}
    assert second.legs["lexical"] == Signal(rank=1, score=12.34, normalized=1.0, weight=0.4)
    assert (third.rank, third.title) == (3, "")


def test_each_signal_has_its_own_order() -> None:
    hits = ranked(RESPONSE)
    assert [hit.id for hit in by_leg(hits, "lexical")] == ["N1"]
    assert [hit.id for hit in by_leg(hits, "dense")] == ["N2", "N1", "N3"]
    assert [hit.id for hit in by_leg(hits, "clicks")] == ["N3"]


def test_remarks_name_what_vectors_found_and_clicks_lifted() -> None:
    # N3 and N2 are only in the dense ranking; N3 is third there, and first with its clicks.
    vectors, clicks = remarks(ranked(RESPONSE), rows=8)
    assert vectors == "Vectors: 2 of the first 3 aren't in BM25's ranking: N3, N2."
    assert clicks.startswith("Clicks: people chose N3 for similar queries, which lifts it to rank 1;")
    assert clicks.endswith("for it is 3.")


def test_a_hit_that_only_clicks_have_is_lifted_from_nowhere() -> None:
    hits = [_hit("N9", "Only clicked", 0.2, clicks=_leg(1, 1.0, 1.0, 0.2))]
    (clicks,) = remarks(ranked({"hits": {"hits": hits}}), rows=8)
    assert clicks.endswith("for it is none.")


def test_no_remarks_where_bm25_has_it_all() -> None:
    hits = [_hit("N1", "Signs", 0.4, lexical=_leg(1, 3.0, 1.0, 0.4), clicks=_leg(1, 1.0, 1.0, 0.2))]
    assert remarks(ranked({"hits": {"hits": hits}}), rows=8) == []


def test_rankings_stand_side_by_side() -> None:
    lines = _text(side_by_side(ranked(RESPONSE), rows=2)).splitlines()
    first, second = (line for line in lines if line.startswith(("│ 1", "│ 2")))
    assert [cell.strip() for cell in first.split("│")[2:6]] == ["Signs", "N2", "Walking", "Walking"]
    assert [cell.strip() for cell in second.split("│")[2:6]] == ["-", "Signs", "-", "Signs"]


def test_signals_show_rank_score_weight_and_normalised_score() -> None:
    text = _text(signals(ranked(RESPONSE), rows=2))
    assert "Signs" in text and "N1" in text and "0.500" in text
    assert "#1  12.3" in text
    assert "0.40 x 0.250" in text
    assert "N2" not in text


def test_tables_of_no_hits_are_empty() -> None:
    assert "│ 1" not in _text(side_by_side([], rows=5))
    assert "│ 1" not in _text(signals([], rows=5))


@pytest.mark.parametrize("width", [60, 80, 200])
def test_tables_fit_the_terminal(width: int) -> None:
    for table in (side_by_side(ranked(RESPONSE), rows=3), signals(ranked(RESPONSE), rows=3)):
        assert max(map(len, _text(table, width).splitlines())) <= width
