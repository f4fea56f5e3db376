"""`trifuse map`: a picture of an index's vectors. It needs the extra `trials`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from trifuse.deploy.cli.common import (
    MOST_SEED,
    IndexArgument,
    JsonOption,
    OpenSearchOption,
    emit,
    err,
    out,
    print_lines,
    require_place,
)
from trifuse.deploy.cli.train_output import progress_bar
from trifuse.deploy.config import opensearch_client, require_opensearch, resolve
from trifuse.deploy.extra import require_trials
from trifuse.deploy.map import Documents, VectorMap, draw, read_documents, write_page, write_picture
from trifuse.deploy.map.reading import FEWEST
from trifuse.indexer.stored_vectors import served_vectors

WRITERS = {".html": write_page, ".png": write_picture}

OutOption = Annotated[
    list[Path],
    typer.Option(
        "--out", dir_okay=False, metavar="FILE", help="FILE.html, FILE.png; may be given again for both."
    ),
]
ColorOption = Annotated[
    str | None, typer.Option("--color", metavar="FIELD", help="Colour by a field. Without it: by cluster.")
]
LimitOption = Annotated[
    int, typer.Option("--limit", min=FEWEST, help="Documents to draw at most: a sample by their ids' hash.")
]
ClustersOption = Annotated[
    int | None, typer.Option("--clusters", min=1, help="How many. Without it: by the number of documents.")
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, max=MOST_SEED, help="Of the sample, the picture and the clusters.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("map")(map_command)


def map_command(
    index: IndexArgument,
    out_files: OutOption,
    color: ColorOption = None,
    limit: LimitOption = 5000,
    clusters: ClustersOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
) -> None:
    """Draw an index's vectors on a plane (t-SNE), with clusters that are named by their terms.

    The page needs no network, and shows id and title of what the mouse is on.

    Example: [bold]trifuse map trials --out map.html --color conditions[/bold]
    """
    for path in out_files:
        _require_writable(path)
    require_trials("a map")
    settings = resolve(opensearch=opensearch)
    with closing(require_opensearch(opensearch_client(settings), settings)) as client:
        served = served_vectors(client, index)
        with progress_bar("reading vectors", limit) as advance:
            documents = read_documents(client, served, limit=limit, seed=seed, color=color, progress=advance)
    encoder = served.space.encoder.encoder
    with err.status(f"drawing {len(documents.ids):,} vectors"):
        drawn = draw(documents, f"{index}, {encoder}", clusters=clusters, seed=seed)
        for path in out_files:
            WRITERS[path.suffix.lower()](drawn, path)
    if as_json:
        emit(
            {
                "index": index,
                "encoder": encoder,
                "space": served.space.id,
                "documents": documents.total,
                "drawn": len(documents.ids),
                "seed": seed,
                "color": color,
                "files": [str(path) for path in out_files],
                **drawn.as_dict(),
            }
        )
    else:
        out.print(clusters_table(drawn))
        print_lines([_summary(documents, out_files)])


def clusters_table(drawn: VectorMap) -> Table:
    """A row a cluster."""
    table = Table()
    table.add_column("documents", justify="right")
    table.add_column("cluster")
    for cluster in drawn.as_dict()["clusters"]:
        table.add_row(f"{cluster['documents']:,}", Text(cluster["name"]))
    return table


def _summary(documents: Documents, files: list[Path]) -> str:
    listed = " and ".join(map(str, files))
    return f"{len(documents.ids):,} of {documents.total:,} documents with a vector: {listed}"


def _require_writable(path: Path) -> None:
    """Wrong usage where a picture couldn't be written: said before anything is read."""
    if path.suffix.lower() not in WRITERS:
        raise typer.BadParameter(f"{path.name!r} ends with neither .html nor .png", param_hint="--out")
    require_place(path, "--out")
