"""What every command shares: its options, its output, and how it ends.

Results go to stdout (a table for people, JSON with `--json`), progress and logs to stderr. Exit status: 0
where all went well, 1 where something was rejected or failed, 2 for wrong usage.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, NoReturn

import msgspec
import typer
from rich.console import Console

from trifuse.encoder.description import ModelDescription
from trifuse.encoder.registry import load_encoder
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.types import Encoder
from trifuse.indexer.names import name_fault

OpenSearchOption = Annotated[
    str | None,
    typer.Option("--opensearch", envvar="OPENSEARCH_URL", help="URL of OpenSearch.", show_envvar=True),
]
RedisOption = Annotated[
    str | None,
    typer.Option("--redis", envvar="REDIS_URL", help="URL of the click store.", show_envvar=True),
]
BrokerOption = Annotated[
    str | None,
    typer.Option("--broker", envvar="TRIFUSE_BROKER_URL", help="URL of Celery's broker.", show_envvar=True),
]
EncoderOption = Annotated[
    str | None,
    typer.Option("--encoder", envvar="TRIFUSE_ENCODER", help="A model's name or folder.", show_envvar=True),
]
BumpOption = Annotated[
    bool, typer.Option("--accept-version-bump", help="Versions of documents may go up: no writer minds.")
]
PartVectorsOption = Annotated[
    bool,
    typer.Option(
        "--part-vectors", help="By an encoder of parts: also the vector of each key attribute by itself."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Machine-readable output on stdout.")]

MOST_SEED = 2**32 - 1
"""What scikit-learn and torch take as a seed at most; 0 is the least."""

COUNTED = ("pending", "embedded", "skipped", "failed")
"""What a job says of documents and their vectors: each is one of the four."""

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def index_name(value: str) -> str:
    """The name of one index or alias; wrong usage where nothing can have it."""
    if fault := name_fault(value):
        raise typer.BadParameter(f"{value!r} can't be the name of an index: {fault}")
    return value


IndexArgument = Annotated[
    str, typer.Argument(metavar="INDEX", help="The index, or an alias.", callback=index_name)
]


def emit(value: Any) -> None:
    """Write a result as JSON on stdout: one document, and nothing else."""
    try:
        encoded = msgspec.json.encode(value)
    except UnicodeEncodeError:  # an argument that was no text is named again: lone surrogates are no JSON
        encoded = json.dumps(msgspec.to_builtins(value), ensure_ascii=False).encode("utf-8", "replace")
    sys.stdout.write(msgspec.json.format(encoded, indent=2).decode() + "\n")


def print_lines(lines: Iterable[str]) -> None:
    """Write sentences on stdout as they are: no markup in what users named, no wrapping."""
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)


def fail(message: str, status: int = 1) -> NoReturn:
    """End the command with one clear sentence on stderr."""
    say(message)
    raise typer.Exit(status)


def say(message: str, style: str = "red") -> None:
    """Write a sentence on stderr as it is; red is what failed, yellow what is to be known."""
    err.print(f"trifuse: {message}", style=style, markup=False, soft_wrap=True)


def say_encoder(space: EncoderSpace) -> None:
    """Say on stderr whose vectors documents will have: often nobody named it."""
    err.print(f"encoder: {space.encoder}", markup=False, soft_wrap=True)


def require_place(path: Path | None, option: str) -> None:
    """Wrong usage where a file couldn't be written: said before the work that it would hold."""
    if path is None:
        return
    folder = path.resolve().parent
    if not folder.is_dir():
        raise typer.BadParameter(f"there is no folder {str(path.parent)!r}", param_hint=option)
    if not os.access(folder, os.W_OK):
        raise typer.BadParameter(
            f"nothing may be written to the folder {str(path.parent)!r}", param_hint=option
        )


def names_in(listed: str | None) -> tuple[str, ...]:
    """The names between the commas of an option.

    >>> names_in("title, abstract,")
    ('title', 'abstract')
    """
    return tuple(name.strip() for name in (listed or "").split(",") if name.strip())


def key_parts(model: ModelDescription) -> tuple[str, ...]:
    """The key attributes of an encoder of parts; wrong usage for another."""
    if not model.key_parts:
        raise typer.BadParameter(
            f"the encoder {model.name} has no parts: name one that has (--encoder, `trifuse encoders list`)",
            param_hint="--part-vectors",
        )
    return model.key_parts


def plain_encoder(name: str, option: str) -> Encoder:
    """The encoder that an option names; wrong usage for one of parts."""
    encoder = load_encoder(name)
    if encoder.space.parts:
        raise typer.BadParameter(f"{name} takes parts: name an encoder of plain texts", param_hint=option)
    return encoder


@contextmanager
def terminable() -> Iterator[Callable[[], None]]:
    """SIGTERM ends the command as Ctrl-C does: what it began is put back.

    Yields:
        what ends it where a signal was lost: Python drops what is raised while an object is finalized.
    """
    came: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        came.append(number)
        raise KeyboardInterrupt

    def check() -> None:
        if came:
            raise KeyboardInterrupt

    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # as in the background of a shell's script
    numbers = [signal.SIGTERM] if ignored else [signal.SIGTERM, signal.SIGINT]
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield check
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
