"""What `trifuse search` takes to look among sentences, and which adapter asks for an aspect of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from trifuse.deploy.cli.common import fail
from trifuse.encoder.aspects import ASPECTS
from trifuse.encoder.spaces import EncoderSpace
from trifuse.ranker.aspects import AspectEncoder, BySpace
from trifuse.ranker.sentences import AUTO

SentencesOption = Annotated[
    bool, typer.Option("--sentences", help="Search the sentences of the index's documents.")
]
AspectOption = Annotated[
    str | None,
    typer.Option(
        "--aspect",
        metavar="ASPECT",
        help=f"Sentences that tell this of TEXT: {', '.join(ASPECTS)}; {AUTO}: what its wording asks for.",
    ),
]
AdapterOption = Annotated[
    str | None,
    typer.Option(
        "--adapter", metavar="NAME_OR_FOLDER", help="Asks for the aspect; else the one that fits the vectors."
    ),
]
DocumentOption = Annotated[
    str | None, typer.Option("--document", metavar="ID", help="Sentences of this document alone.")
]
RoutingOption = Annotated[
    str | None, typer.Option("--routing", help="Of that document, where several have its id.")
]
SectionOption = Annotated[
    list[str] | None,
    typer.Option("--section", help="Sentences of this section, and below it; may be given several times."),
]
PerDocumentOption = Annotated[
    int | None,
    typer.Option("--per-document", min=1, metavar="N", help="By document, with its best N sentences."),
]


@dataclass(frozen=True)
class Wanted:
    """What is asked of sentences; the arguments of `SentenceRanker.search`."""

    aspect: str | None
    document: str | None
    routing: str | None
    sections: Sequence[str]
    per_document: int | None

    def as_dict(self) -> dict[str, Any]:
        """As keywords."""
        return dict(vars(self))


def wanted(
    *,
    sentences: bool,
    aspect: str | None,
    adapter: str | None,
    document: str | None,
    routing: str | None,
    sections: Sequence[str] | None,
    per_document: int | None,
) -> Wanted | None:
    """What is asked of sentences; None where whole documents are searched.

    Options that would do nothing end the command as wrong usage.
    """
    if adapter is not None and aspect is None:
        fail("--adapter asks for an aspect: name it with --aspect", status=2)
    if not sentences and aspect is None:
        given = {
            "--document": document,
            "--routing": routing,
            "--section": sections,
            "--per-document": per_document,
        }
        if alone := [option for option, value in given.items() if value not in (None, [])]:
            fail(f"{alone[0]} is about sentences: add --sentences, or --aspect", status=2)
        return None
    return Wanted(aspect, document, routing, tuple(sections or ()), per_document)


def adapters(named: str | None) -> list[AspectEncoder] | BySpace:
    """The adapter that was named, by its name or folder; else what loads those known for a space.

    Raises:
        EncoderError: the one that was named can't be loaded.
    """
    from trifuse.encoder.adapters import adapters_for, load_adapter

    if named is not None:
        return [load_adapter(named)]

    def load(space: EncoderSpace) -> list[AspectEncoder]:
        return [load_adapter(name) for name in adapters_for(space)]

    return load
