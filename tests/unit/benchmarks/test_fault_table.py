"""The table that docs/reliability.md shows."""

from __future__ import annotations

from fault_table import table

CELLS = [
    {"fault": "storm", "job": "load", "ok": True, "seconds": 16.4, "detail": "8 vectors, 9 texts encoded"},
    {
        "fault": "killed",
        "job": "load",
        "ok": True,
        "seconds": 2.0,
        "detail": "8 vectors, 9 texts encoded; 5 searches, 2 unavailable; struck during `load`; `load` "
        "again, which had said: trifuse: `load` is away",
    },
    {"fault": "killed", "job": "clicks", "ok": True, "seconds": 31.0, "detail": "6 clicks counted once"},
    {"fault": "storm", "job": "clicks", "ok": False, "seconds": 1.0, "detail": "5 clicks counted, not 6"},
]


def test_a_row_a_fault_and_a_column_a_job() -> None:
    assert table(CELLS).splitlines() == [
        "| fault | load | clicks |",
        "| --- | --- | --- |",
        "| storm | ok: 8 vectors, 9 texts, 16 s | **broken**: 5 clicks counted, not 6 |",
        "| killed | ok: 8 vectors, 9 texts, 5 searches (2 unavailable), `load` again, 2 s "
        "| ok: 6 clicks once, 31 s |",
    ]


def test_a_cell_that_was_not_run_is_empty() -> None:
    assert table(CELLS[:3]).splitlines()[2].endswith("|  |")
