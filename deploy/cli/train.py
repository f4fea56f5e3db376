"""`trifuse train`: models from a team's own judgements or log. It needs the extra `train`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trifuse.deploy.cli.common import JsonOption, OpenSearchOption, emit, index_name
from trifuse.deploy.cli.study_plots import PlotOption, check_plot
from trifuse.deploy.cli.train_aspect import aspect_command
from trifuse.deploy.cli.train_output import draw_loss, progress_bar, tell
from trifuse.deploy.cli.train_trial2vec import trial2vec_command
from trifuse.deploy.cli.training_options import (
    DATA,
    DEFAULT_CHECKPOINT,
    RECIPE,
    CheckpointOption,
    LayersOption,
    NameOption,
    OutOption,
    RateOption,
    ResumeOption,
    SaveOption,
    SeedOption,
    extra,
    model_name,
    require_room,
    resumable,
    with_options,
)
from trifuse.deploy.config import opensearch_client, require_opensearch, resolve

if TYPE_CHECKING:
    from trifuse.deploy.cli.training_corpus import Corpus
    from trifuse.deploy.cli.training_data import TrainingData
    from trifuse.encoder.training import Step

_FILE: dict[str, Any] = {"exists": True, "dir_okay": False, **DATA}

TriplesOption = Annotated[
    Path | None,
    typer.Option(
        "--triples", help="Lines of query, positive, negative between tabs: texts, or ids.", **_FILE
    ),
]
QueriesOption = Annotated[
    Path | None, typer.Option("--queries", help="Lines of id, tab, text; or BEIR's JSON lines.", **_FILE)
]
QrelsOption = Annotated[
    Path | None,
    typer.Option("--qrels", help="Judgements, or counted clicks: TREC's, or BEIR's TSV.", **_FILE),
]
CorpusOption = Annotated[
    Path | None,
    typer.Option("--corpus", help="Lines of id, title, text between tabs; or BEIR's JSON lines.", **_FILE),
]
IndexOption = Annotated[
    str | None,
    typer.Option(
        "--index", help="Mine BM25's negatives here. Without it: in a temporary index of the corpus.", **DATA
    ),
]
SmallOption = Annotated[
    bool,
    typer.Option(
        "--small", help="A recipe for two cores and a quarter of an hour. Without it: the paper's.", **RECIPE
    ),
]
StepsOption = Annotated[int | None, typer.Option("--steps", help="Optimizer steps.", **RECIPE)]
WarmupOption = Annotated[int | None, typer.Option("--warmup-steps", help="Steps of warm-up.", **RECIPE)]
BatchOption = Annotated[int | None, typer.Option("--batch", help="Queries in a minibatch.", **RECIPE)]
TokensOption = Annotated[
    int | None, typer.Option("--document-tokens", help="Where documents are cut in training.", **RECIPE)
]
CheckpointingOption = Annotated[
    bool,
    typer.Option("--gradient-checkpointing", help="Less memory, a third more time.", **RECIPE),
]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(
        name="train", help="Train models on your own log or trials (extra: train).", no_args_is_help=True
    )
    group.callback()(_group)
    group.command("lader")(lader_command)
    group.command("trial2vec")(trial2vec_command)
    group.command("aspect")(aspect_command)
    app.add_typer(group)


def _group() -> None:
    """Train models on your own judgements, clicks or trials (pip install 'trifuse[train]')."""


def lader_command(
    out_folder: OutOption,
    triples: TriplesOption = None,
    queries: QueriesOption = None,
    qrels: QrelsOption = None,
    corpus: CorpusOption = None,
    index: IndexOption = None,
    checkpoint: CheckpointOption = DEFAULT_CHECKPOINT,
    small: SmallOption = False,
    steps: StepsOption = None,
    warmup_steps: WarmupOption = None,
    batch: BatchOption = None,
    learning_rate: RateOption = None,
    document_tokens: TokensOption = None,
    trained_layers: LayersOption = None,
    gradient_checkpointing: CheckpointingOption = False,
    seed: SeedOption = 0,
    resume: ResumeOption = False,
    save_every: SaveOption = 500,
    name: NameOption = None,
    plot: PlotOption = None,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
) -> None:
    """Train a tower for queries and a tower for documents, as LADER's dense retriever is trained.

    Give --triples (and, where they name ids, --queries and --corpus);
    or --queries, --qrels and --corpus, for which BM25's hard negatives
    are mined. The folder is a model then: --encoder takes it.

    On several GPUs: accelerate launch "$(which trifuse)" train lader ...

    Example: [bold]trifuse train lader --triples triples.train.tsv --out my-lader --small[/bold]
    """
    _require(triples, queries, qrels, corpus)
    require_room(out_folder, resume=resume)
    check_plot(plot)
    with extra():
        from trifuse.encoder.training import SMALL, Recipe, train_lader
    recipe = with_options(
        SMALL if small else Recipe(),
        seed,
        steps=steps,
        warmup_steps=warmup_steps,
        batch=batch,
        learning_rate=learning_rate,
        document_tokens=document_tokens,
        trained_layers=trained_layers,
        gradient_checkpointing=gradient_checkpointing or None,
    )
    with (
        _data(triples, queries, qrels, corpus, index, opensearch, seed) as data,
        resumable(),
        progress_bar("training", recipe.steps) as advance,
    ):

        def show(step: Step) -> None:
            advance(step.number, f"loss {step.loss:.3f}, accuracy {step.accuracy:.2f}")

        report = train_lader(
            checkpoint,
            data.examples,
            recipe,
            out_folder,
            name=name or model_name(out_folder),
            known=data.known,
            resume=resume,
            save_every=save_every,
            on_step=show,
        )
    if report is None:  # the main process says it
        return
    if plot is not None:
        draw_loss(report.loss, plot, title=report.model)
    if as_json:
        emit({**report.as_dict(), "folder": str(out_folder)})
    else:
        tell(report, out_folder)


def _require(triples: Path | None, queries: Path | None, qrels: Path | None, corpus: Path | None) -> None:
    """Wrong usage where neither way of giving examples is complete."""
    if triples is not None and qrels is not None:
        raise typer.BadParameter("give either --triples or --qrels, not both", param_hint="--qrels")
    if triples is None and None in (queries, qrels, corpus):
        raise typer.BadParameter(
            "give --triples, or all of --queries, --qrels and --corpus", param_hint="--triples"
        )


def _data(
    triples: Path | None,
    queries: Path | None,
    qrels: Path | None,
    corpus: Path | None,
    index: str | None,
    opensearch: str | None,
    seed: int,
) -> AbstractContextManager[TrainingData]:
    from trifuse.deploy.cli.training_data import from_judgements, from_triples

    if triples is not None:
        return from_triples(triples, queries, corpus)
    if queries is None or qrels is None or corpus is None:
        raise TypeError("queries, judgements and a collection belong together")
    mine = Miner(index and index_name(index), opensearch, seed)
    return from_judgements(queries, qrels, corpus, mine, seed=seed)


class Miner:
    """Hard negatives by BM25, from an index that is there or one that is made of the collection."""

    def __init__(self, index: str | None, opensearch: str | None, seed: int) -> None:
        self._index, self._opensearch, self._seed = index, opensearch, seed

    def __call__(
        self, corpus: Corpus, queries: Mapping[str, str], relevant: Mapping[str, AbstractSet[str]]
    ) -> Mapping[str, Sequence[str]]:
        from trifuse.deploy.cli.training_negatives import mined_negatives, temporary_index

        settings = resolve(opensearch=self._opensearch)
        client = require_opensearch(opensearch_client(settings), settings)
        try:
            named = nullcontext(self._index) if self._index else temporary_index(client, corpus)
            with named as index, progress_bar("mining negatives", len(queries)) as advance:
                done = iter(range(1, len(queries) + 1))
                found = mined_negatives(
                    client,
                    index,
                    queries,
                    relevant,
                    seed=self._seed,
                    progress=lambda: advance(next(done), ""),
                )
        finally:
            client.close()
        return {query: [each for each in some if each in corpus] for query, some in found.items()}
