"""What the commands of `trifuse clicks` share: their options, the click store, and how they show progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from redis import Redis
from redis.exceptions import RedisError
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from trifuse.deploy.cli.bars import Bars
from trifuse.deploy.cli.common import index_name, say
from trifuse.deploy.config import Settings, redis_client
from trifuse.worker.clicks.counting import MAX_A_DAY, MIN_VISITORS
from trifuse.worker.clicks.errors import ClickStoreDown
from trifuse.worker.eviction import evicting_store


def readable(value: str | list[str] | None) -> str | list[str] | None:
    """What an option names; wrong usage where its bytes are no UTF-8: no log holds that."""
    for text in [value] if isinstance(value, str) else value or ():
        if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
            shown = text.encode("utf-8", "replace").decode()
            raise typer.BadParameter(f"{shown!r} is no UTF-8: give text that a log can hold")
    return value


IndexOption = Annotated[
    str,
    typer.Option("--index", help="The search index, or alias, that was clicked on.", callback=index_name),
]
SizeOption = Annotated[int, typer.Option("--size", min=1, max=10_000, help="Rows to show at most.")]
MinVisitorsOption = Annotated[
    int,
    typer.Option(
        "--min-visitors",
        min=1,
        max=1000,
        envvar="TRIFUSE_CLICKS_MIN_VISITORS",
        show_envvar=True,
        help="A query that fewer visitors clicked for helps nobody else's search; 1 keeps all. "
        "The workers take it from the environment: say the same everywhere.",
    ),
]
MaxADayOption = Annotated[
    int,
    typer.Option(
        "--max-a-day",
        min=1,
        max=10_000,
        envvar="TRIFUSE_CLICKS_MAX_A_DAY",
        show_envvar=True,
        help="So many clicks of one visitor count in a day. Say the same everywhere.",
    ),
]

__all__ = [
    "MAX_A_DAY",
    "MIN_VISITORS",
    "IndexOption",
    "MaxADayOption",
    "MinVisitorsOption",
    "SizeOption",
    "readable",
]


def click_store(settings: Settings) -> Redis:
    """The click store, once it has answered: a log isn't read for nothing.

    Raises:
        ClickStoreDown: it doesn't.
    """
    store = redis_client(settings, timeout_s=30.0)
    try:
        store.ping()
    except (RedisError, OSError) as error:
        raise ClickStoreDown(
            f"the click store doesn't answer ({error}): start Redis, or name another with --redis"
        ) from error
    return store


def warn_if_evicting(store: Redis) -> None:
    """Say that the click store may throw counts away, where it may; the command goes on."""
    if warning := evicting_store(store):
        say(warning, "yellow")


@contextmanager
def progress(what: str) -> Iterator[Callable[[str], None]]:
    """A line on stderr that says how far it is."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Bars(*columns) as bar:
        task = bar.add_task(what)
        yield lambda text: bar.update(task, description=f"{what}: {text}")
