"""What people read of trials_tune.py. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table


def tables(found: Mapping[str, Any]) -> Iterator[Table]:
    """What was chosen, and what it is worth on the topics that chose it and on those that didn't."""
    table = Table(title=f"{found['measure']} of {found['queries']} patients", title_justify="left")
    for column in ("", "setting", "chosen on all", "95 %", "held out", "95 %", "p, to tuned held out"):
        table.add_column(column)
    best, base = found["best"], found["baseline"]
    table.add_row(
        "tuned",
        f"topic {best['topic']:g}, criteria {best['criteria']:g}; {_shown(best['setting'])}",
        *_cells(best),
        *_cells(found["heldout"]),
        "",
    )
    for name in ("server", "server, plain body"):
        row = found[name]
        p_value = f"{row['p_value']:.3f}"
        table.add_row(name, _shown(row["setting"]), *_cells(row), *_cells(row["heldout"]), p_value)
    table.add_row(base["profile"], "nothing was chosen", "", "", *_cells(base), f"{found['p_value']:.3f}")
    yield table


def _shown(setting: Mapping[str, Any]) -> str:
    combination = setting.get("combination") or setting.get("mean")
    depth = setting.get("depth", 100)
    return f"{setting['normalization']}, {combination}, dense {setting['dense']:g}, depth {depth}"


def _cells(row: Mapping[str, Any]) -> tuple[str, str]:
    low, high = row["ci95"]
    return f"{row['mean']:.4f}", f"{low:.3f}-{high:.3f}"
