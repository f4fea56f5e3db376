"""Training triples, in TripClick's layouts: a query, a document that was clicked for it, one that wasn't.

One triple a line, three columns between tabs. Either texts (`triples.train.tsv` of TripClick's `dlfiles`, 23
million lines, after MS MARCO's), in which a document is `title <eot> text`; or ids of the collection's topics
and documents (Hofstätter et al. 2022, arXiv:2201.00365, who drew the negatives anew).
https://tripdatabase.github.io/tripclick, https://github.com/sebastian-hofstaetter/tripclick
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from trifuse.worker.clicks.errors import UnreadableLog
from trifuse.worker.clicks.files import LogFile

END_OF_TITLE = "<eot>"
"""What stands between a document's title and its text."""

_LOOK_AT = 100
_MAX_ID = 64


class Triple(NamedTuple):
    """A query and two documents: texts, or ids, as the file has them."""

    query: str
    positive: str
    negative: str


def read_triples(path: str | Path, *, skip: Callable[[str], None] | None = None) -> Iterator[Triple]:
    """The triples of a file, plain or gzip, one at a time.

    Args:
        skip: told the place (`file:line`) of each line that is no triple; without it the first is an error.

    Raises:
        UnreadableLog: the file can't be read to its end, or a line is no triple.
    """
    file = LogFile(str(path), Path(path))
    try:
        with file.open() as stream:
            for number, line in enumerate(stream, 1):
                columns = [column.strip() for column in line.decode("utf-8", "replace").split("\t")]
                if len(columns) == 3 and all(columns):
                    yield Triple(*columns)
                elif skip is not None:
                    skip(f"{file.name}:{number}")
                elif any(columns):
                    raise UnreadableLog(
                        f"{file.name}:{number} is no training triple: expected a query, a clicked document "
                        f"and another between tabs, got {len(columns)} columns"
                    )
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableLog(f"{file.name} can't be read to its end: {error}") from error


def holds_ids(path: str | Path) -> bool:
    """Whether a file of triples names its queries and documents by ids, by its first lines.

    Raises:
        UnreadableLog: the file can't be read, or none of its first lines is a triple.
    """
    first = list(islice(read_triples(path, skip=lambda place: None), _LOOK_AT))
    if not first:
        raise UnreadableLog(f"{path} holds no training triples: expected three columns between tabs")
    return all(len(field) <= _MAX_ID and len(field.split()) == 1 for triple in first for field in triple)


def title_and_text(document: str) -> tuple[str, str]:
    """A document of a text triple as its title and its text.

    >>> title_and_text("Asthma in children <eot> We studied 20 children.")
    ('Asthma in children', 'We studied 20 children.')
    >>> title_and_text("Asthma in children")
    ('Asthma in children', '')
    """
    title, _, text = document.partition(END_OF_TITLE)
    return title.strip(), text.strip()
