"""`trifuse outcome`: how trials will end, predicted from their vectors. It needs the extra `trials`."""

from __future__ import annotations

import typer

from trifuse.deploy.cli.outcome_predict import predict_command
from trifuse.deploy.cli.outcome_train import train_command


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(
        name="outcome",
        help="Predict how trials end, from their vectors (extra: trials).",
        no_args_is_help=True,
    )
    group.callback()(_group)
    group.command("train")(train_command)
    group.command("predict")(predict_command)
    app.add_typer(group)


def _group() -> None:
    """Predict how trials end, by one layer on the vectors of an index (pip install 'trifuse[trials]')."""
