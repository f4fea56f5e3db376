"""`trifuse clicks positions`: how much more is clicked the higher it stands, estimated from the log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from opensearchpy import OpenSearch
from rich.table import Table

from trifuse.deploy.cli.clicks_options import IndexOption
from trifuse.deploy.cli.common import JsonOption, OpenSearchOption, emit, err, out
from trifuse.deploy.cli.study_plots import PlotOption, check_plot
from trifuse.deploy.config import opensearch_client, require_opensearch, resolve
from trifuse.worker.clicks.errors import BadCurve
from trifuse.worker.clicks.positions import curve, save_curve
from trifuse.worker.clicks.rates import Estimate, estimate

SaveOption = Annotated[bool, typer.Option("--save", help="Keep the curve with the log.")]


def positions_command(
    index: IndexOption,
    save: SaveOption = False,
    plot: PlotOption = None,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
) -> None:
    """Show the click-through at each rank, estimated from the pages and the clicks of the log.

    What stands high is clicked more, whatever it is worth. A document's clicks
    are held against those expected at the ranks where it was shown, by a curve
    that falls with the rank; the one in use is 0.3 / rank unless one was saved.

    Examples:
    [bold]trifuse clicks positions --index trials --plot positions.png[/bold]
    [bold]trifuse clicks positions --index trials --save[/bold]
    """
    check_plot(plot)
    settings = resolve(opensearch=opensearch)
    client = require_opensearch(opensearch_client(settings), settings)
    with err.status("reading the click log"):
        found, used = estimate(client, index), _in_use(client, index, replaced=save)
    if save:
        save_curve(client, index, found.curve)
    if plot is not None:
        _plot(plot, found, used, index)
    if as_json:
        emit({**msgspec.structs.asdict(found), "used": used, "saved": save})
        return
    _tell(found, used, index)
    if found.pageless:
        out.print(
            f"{found.pageless:,} clicks name a search whose page the log doesn't have: nothing is expected "
            "of them. Load the pages, too; or leave query_id out of such clicks, and give each its own shown "
            "or position.",
            soft_wrap=True,
        )
    if save:
        out.print(
            f"Saved. New clicks are held against it from now on; for those that are counted already: "
            f"trifuse clicks rebuild --index {index}",
            soft_wrap=True,
            markup=False,
        )


def _in_use(client: OpenSearch, index: str, *, replaced: bool) -> tuple[float, ...]:
    """The curve that is in use; none where it can't be used and is to be replaced."""
    try:
        return curve(client, index)
    except BadCurve:
        if not replaced:
            raise
        return ()


def _tell(found: Estimate, used: tuple[float, ...], index: str) -> None:
    table = Table(
        "rank",
        "pages",
        "clicked",
        "rate",
        "95 % interval",
        "curve",
        "in use",
        title=f"click-through by rank, {found.pages:,} pages of {index}",
    )
    for rank, now in zip(found.ranks, [*used, *[0.0] * len(found.ranks)], strict=False):
        low, high = rank.interval()
        observed = (f"{rank.rate:.4f}", f"{low:.4f} to {high:.4f}") if rank.shown else ("", "")
        counts = (f"{rank.rank}", f"{rank.shown:,}", f"{rank.clicked:,}")
        table.add_row(*counts, *observed, f"{rank.smoothed:.4f}", f"{now:.4f}")
    out.print(table)


def _plot(path: Path, found: Estimate, used: tuple[float, ...], index: str) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    axes = figure.add_subplot()
    seen = [rank for rank in found.ranks if rank.shown]
    ranks = [rank.rank for rank in seen]
    low, high = zip(*(rank.interval() for rank in seen), strict=True)
    axes.vlines(ranks, low, high, color="#0072B2", linewidth=1.2)
    axes.plot(
        ranks,
        [rank.rate for rank in seen],
        linestyle="",
        marker="o",
        color="#0072B2",
        label="clicked / shown, 95 % interval",
    )
    axes.plot(
        [rank.rank for rank in found.ranks], found.curve, color="#D55E00", marker="", label="curve (smoothed)"
    )
    axes.plot(range(1, len(used) + 1), used, color="#555555", linestyle="--", label="in use")
    axes.set_xlabel("rank on the page")
    axes.set_ylabel("click-through rate")
    axes.set_ylim(bottom=0)
    axes.set_xticks([1, 5, 10, 15, 20])
    axes.grid(alpha=0.3)
    axes.legend()
    figure.suptitle(f"Click-through by rank: {found.pages:,} pages of {index}", fontsize=11)
    figure.savefig(path, dpi=150)
