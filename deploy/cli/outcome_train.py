"""`trifuse outcome train`: a layer on the vectors of trials that have ended. It needs the extra `trials`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from trifuse.deploy.cli.common import (
    MOST_SEED,
    IndexArgument,
    JsonOption,
    OpenSearchOption,
    emit,
    names_in,
    out,
    plain_encoder,
    print_lines,
    require_place,
    say,
)
from trifuse.deploy.cli.outcome_output import (
    comparison_table,
    counts_lines,
    draw_reliability,
)
from trifuse.deploy.cli.study_plots import PlotOption, check_plot
from trifuse.deploy.cli.train_output import progress_bar
from trifuse.deploy.config import opensearch_client, require_opensearch, resolve
from trifuse.deploy.extra import require_trials
from trifuse.deploy.outcome.baselines import baseline_features
from trifuse.deploy.outcome.compare import VECTORS, compare, differences
from trifuse.deploy.outcome.labels import COMPLETED, STATUS_FIELD, STOPPED, Outcomes, read_labels
from trifuse.deploy.outcome.model import model_of, save_model
from trifuse.deploy.outcome.split import SPLITS, Split
from trifuse.deploy.outcome.trials import labels_from, labels_in, read_trials, require_untold
from trifuse.encoder.registry import DEFAULT_ENCODER
from trifuse.indexer.stored_vectors import served_vectors

_LABELS = {"rich_help_panel": "How trials ended"}
_BASELINES = {"rich_help_panel": "What to compare with"}

OutOption = Annotated[
    Path, typer.Option("--out", dir_okay=False, metavar="FILE.json", help="The file to put the model in.")
]
FieldOption = Annotated[
    str, typer.Option("--label-field", help="The field that tells how a trial ended.", **_LABELS)
]
PositiveOption = Annotated[
    str | None,
    typer.Option(
        "--positive", help=f"Its values that are positive. Without it: {','.join(COMPLETED)}.", **_LABELS
    ),
]
NegativeOption = Annotated[
    str | None,
    typer.Option(
        "--negative", help=f"Its values that are negative. Without it: {','.join(STOPPED)}.", **_LABELS
    ),
]
LabelsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        metavar="[PART=]FILE",
        help="Instead: CSV or TSV with the columns id, label (1 or 0), and maybe split; or a file for each "
        "part: train=A.csv.",
        **_LABELS,
    ),
]
BaselinesOption = Annotated[
    bool,
    typer.Option(
        "--baselines", help="Also TF-IDF, word vectors and a flat encoder, on the same texts.", **_BASELINES
    ),
]
FlatOption = Annotated[
    str, typer.Option("--flat-encoder", help="The encoder of plain texts among them.", **_BASELINES)
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, max=MOST_SEED, help="Of intervals and of word vectors.")
]


def train_command(
    index: IndexArgument,
    out_file: OutOption,
    label_field: FieldOption = STATUS_FIELD,
    positive: PositiveOption = None,
    negative: NegativeOption = None,
    labels: LabelsOption = None,
    baselines: BaselinesOption = False,
    flat_encoder: FlatOption = DEFAULT_ENCODER,
    plot: PlotOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
) -> None:
    """Fit one fully connected layer to stored vectors, and say how well it predicts.

    70 % of the labelled trials, by a hash of their ids, are learned from, 10 % choose the penalty, and
    20 % judge; or the parts that --labels names.

    Example: [bold]trifuse outcome train trials --out outcome.json --baselines[/bold]
    """
    files = [_labels_file(value) for value in labels or ()]
    outcomes = _outcomes(positive, negative, from_file=bool(files))
    require_trials("outcome prediction")
    check_plot(plot)
    require_place(out_file, "--out")
    encoder = plain_encoder(flat_encoder, "--flat-encoder") if baselines else None
    given = read_labels(files, outcomes) if files else None
    settings = resolve(opensearch=opensearch)
    with closing(require_opensearch(opensearch_client(settings), settings)) as client:
        served = served_vectors(client, index)
        require_untold(served.space, None if files else label_field)
        if given is None:
            labelled = labels_in(client, served, label_field, outcomes)
        else:
            labelled = labels_from(client, served, given)
        with progress_bar("reading vectors", len(labelled)) as advance:
            trials = read_trials(client, served, labelled, with_texts=baselines, progress=advance)
    features: dict[str, Any] = {VECTORS: trials.vectors}
    if encoder is not None:
        with progress_bar("encoding flat texts", len(trials.texts)) as advance:
            features |= baseline_features(
                trials.texts, trials.part("train"), encoder, seed=seed, progress=advance
            )
    found = compare(features, trials.positive, trials.splits, seed=seed)
    model = model_of(found, served.space, outcomes)
    save_model(model, out_file)
    if plot is not None:
        draw_reliability(found, plot, title=f"{index}: {' or '.join(outcomes.positive)}")
    unused = 0 if given is None else len(given) - len(trials.ids)
    if as_json:
        truth = trials.positive[trials.part("test")]
        emit(
            {
                "model": str(out_file),
                "encoder": model.encoder,
                "space": model.space,
                "flat_encoder": flat_encoder if baselines else None,
                "positive": outcomes.positive,
                "negative": outcomes.negative,
                "labels_without_vector": unused,
                **found.as_dict(),
                "differences": differences(found, truth, VECTORS, seed=seed),
            }
        )
    else:
        print_lines(counts_lines(found, outcomes))
        out.print(comparison_table(found, model.encoder))
        print_lines([f"the model is in {out_file}: trifuse outcome predict {index} {out_file}"])
    if unused:
        say(f"{unused:,} labels are of trials without a vector in {index!r}", "yellow")


def _outcomes(positive: str | None, negative: str | None, *, from_file: bool) -> Outcomes:
    """What was asked for, else 1 and 0 in a file, and the registry's words in an index."""
    return Outcomes(
        names_in(positive) or (("1",) if from_file else COMPLETED),
        names_in(negative) or (("0",) if from_file else STOPPED),
    )


def _labels_file(value: str) -> tuple[Path, Split | None]:
    """The file of `--labels`, and the part that it is of."""
    before, equals, after = value.partition("=")
    part = next((each for each in SPLITS if equals and each == before), None)
    path = Path(after if part else value)
    if not path.is_file():
        raise typer.BadParameter(f"there is no file {str(path)!r}", param_hint="--labels")
    return path, part
