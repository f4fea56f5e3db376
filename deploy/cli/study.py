"""`trifuse study`: what the click log adds, to whom, by how much of it, and at what cost."""

from __future__ import annotations

import typer

from trifuse.deploy.cli.study_cost import cost_command
from trifuse.deploy.cli.study_gains import gains_command
from trifuse.deploy.cli.study_log_size import log_size_command
from trifuse.deploy.cli.study_segments import segments_command

commands = typer.Typer(
    name="study",
    help="What the click log adds: to which queries, by how much of it, at what cost.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(commands)


commands.command("segments")(segments_command)
commands.command("log-size")(log_size_command)
commands.command("gains")(gains_command)
commands.command("cost")(cost_command)
