"""`trifuse outcome predict`: how trials will end, by what `outcome train` has fitted."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from trifuse.deploy.cli.common import (
    IndexArgument,
    JsonOption,
    OpenSearchOption,
    emit,
    fail,
    out,
    require_place,
)
from trifuse.deploy.cli.outcome_output import (
    predictions_table,
    write_csv,
)
from trifuse.deploy.cli.ranking import json_object, usage
from trifuse.deploy.config import opensearch_client, require_opensearch, resolve
from trifuse.deploy.outcome.model import load_model
from trifuse.deploy.outcome.predict import predict
from trifuse.indexer.stored_vectors import served_vectors

ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", exists=True, dir_okay=False, help="What `outcome train` wrote.")
]
IdOption = Annotated[list[str] | None, typer.Option("--id", help="Only this trial; may be given again.")]
FilterOption = Annotated[
    str | None, typer.Option("--filter", help="Only trials that match a query: JSON, or a file of it.")
]
CsvOption = Annotated[
    Path | None, typer.Option("--csv", dir_okay=False, help="Write all of them to this file, as CSV.")
]


def predict_command(
    index: IndexArgument,
    model: ModelArgument,
    ids: IdOption = None,
    filter: FilterOption = None,
    csv: CsvOption = None,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
) -> None:
    """Predict how trials end: the probability of a positive outcome, least first.

    The table shows the first 20; --json and --csv have all of them.

    Example: [bold]trifuse outcome predict trials outcome.json --filter running.json[/bold]
    """
    with usage():
        given = json_object(filter, "--filter")
    require_place(csv, "--csv")
    fitted = load_model(model)
    settings = resolve(opensearch=opensearch)
    with closing(require_opensearch(opensearch_client(settings), settings)) as client:
        served = served_vectors(client, index)
        fitted.require_space(served.space, index)
        found = predict(client, served, fitted, ids=ids, query=given)
    if csv is not None:
        write_csv(found, csv)
    if as_json:
        emit(
            {
                "index": index,
                "positive": fitted.positive,
                "negative": fitted.negative,
                "predictions": [{"id": each.id, "probability": each.probability} for each in found],
            }
        )
    else:
        out.print(predictions_table(found, fitted.positive))
    if missing := sorted(set(ids or ()) - {each.id for each in found}):
        fail(f"no vector of {', '.join(missing)} in {index!r} (among those that --filter leaves)")
