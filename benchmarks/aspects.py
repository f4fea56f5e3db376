"""How well queries follow the aspect that they ask for: generic, instructed, and by query adapters.

    python benchmarks/aspects.py --data DIR [--table within] [--encoder E] [--adapter A ...] [--topic title]

Tables:

    within     each abstract ranks its own sentences, once for each aspect (`trifuse aspect evaluate` too)
    open       the sentences of all abstracts at once, also of those that aren't asked: another's is wrong
    questions  natural questions for interventions, comparators and outcomes to the abstracts of Evidence
               Inference, all at once, and within the article that answers

Methods, of which --only names some: `generic` asks by the topic, `instruction` by the topic in the aspect's
wording, and `lora` by the adapters of --adapter, one a seed (means, and the standard deviation over seeds);
`search`, where documents are many, as `trifuse search --aspect` does: by the topic, then by the adapter.
--topic: the title; `mesh`, the major headings of the abstract's record; `conclusion`, the last sentence;
`none`, the wording alone. Vectors are kept in --cache; a first run on two cores takes a few minutes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from aspects_data import TOPICS, abstracts, questions, tell, texts_of
from aspects_open import MEASURES, Answered, answered, asked_everywhere, share_of
from aspects_search import Sentences, Way, in_one_step, in_two_steps
from kept_encoder import FOLDER, kept_encoder
from rich.console import Console
from rich.table import Table

from trifuse.deploy.cli.aspect_output import asked_line, evaluation_json, evaluation_table
from trifuse.encoder.adapters import AspectEncoder, load_adapter
from trifuse.encoder.aspects import ASPECTS, INSTRUCTIONS
from trifuse.encoder.errors import AspectUnknown
from trifuse.encoder.registry import DEFAULT_ENCODER
from trifuse.encoder.training.aspects.questions import QUESTIONS
from trifuse.encoder.types import Encoder
from trifuse.ranker.evaluation.asking import Ask, asked_documents, generic, instructed, sentence_vectors
from trifuse.ranker.evaluation.aspects import AskedDocument, Share, evaluate_aspects, mean_and_sd

PIO = ASPECTS[:3]
LORA, SEARCH = "lora", "search"
_Ways = TypeVar("_Ways", list[Ask], list[Way])


def ways(options: argparse.Namespace, base: Encoder) -> dict[str, list[Ask]]:
    """Method to its ways of asking, one a seed."""
    adapters: list[AspectEncoder] = []
    for name in options.adapter or ():
        beside = adapters[-1] if adapters else None
        adapters.append(load_adapter(name, precision=options.precision, beside=beside))
        adapters[-1].adapter.require_space(base.space)
    trained = adapters[0].adapter.description.instructions if adapters else {}
    instructions = {**INSTRUCTIONS, **trained}
    found = {"generic": [generic(base)], "instruction": [instructed(base, instructions)]}
    if options.topic == "none":
        del found["generic"]  # nothing to ask by
    elif adapters:
        found[LORA] = [adapter.encode_queries for adapter in adapters]
    return found


def everywhere(options: argparse.Namespace, base: Encoder) -> dict[str, list[Way]]:
    """Method to its ways of searching all documents, one a seed."""
    found = ways(options, base)
    searches = {name: [in_one_step(ask) for ask in asks] for name, asks in found.items()}
    if LORA in found:
        if base.space.similarity != "cosine":
            raise SystemExit("searches by topic and aspect are done on cosines: take another encoder")
        searches[SEARCH] = [in_two_steps(generic(base), ask) for ask in found[LORA]]
    return wanted(options, searches)


def wanted(options: argparse.Namespace, found: Mapping[str, _Ways]) -> dict[str, _Ways]:
    """The methods of --only."""
    return {name: some for name, some in found.items() if name in (options.only or found)}


def by_document(
    options: argparse.Namespace, base: Encoder
) -> tuple[dict[str, Any], Callable[[Console], None]]:
    """The tables `within` and `open`: as JSON, and what prints them."""
    asked, others = abstracts(options.data, options.file, options.split, options.topic)
    texts = [document.texts for document in asked]
    at_home: dict[str, Share] = {}
    runs: dict[str, list[list[AskedDocument]]] = {}
    if options.table == "open":
        sentences = Sentences.of(sentence_vectors(base, texts + others)[0])
        for name, searches in everywhere(options, base).items():
            found = [asked_everywhere(way, asked, sentences, PIO) for way in searches]
            runs[name] = [answers for answers, _ in found]
            at_home[name] = share_of([hits for _, hits in found], len(PIO))
    else:
        vectors, _ = sentence_vectors(base, texts)
        topics, labels = [each.topic for each in asked], [each.labels for each in asked]
        for name, asks in wanted(options, ways(options, base)).items():
            runs[name] = [asked_documents(ask, topics, labels, vectors, PIO) for ask in asks]
    rows = {name: evaluate_aspects(some[0], PIO, other_seeds=some[1:]) for name, some in runs.items()}
    told = {
        name: evaluation_json(row) | {"seeds": len(runs[name]), "sd": spread(runs[name])}
        for name, row in rows.items()
    }
    for name, share in at_home.items():
        told[name]["document"] = {"percent": share.percent, "ci95": share.ci95}

    def show(console: Console) -> None:
        console.print(asked_line(next(iter(rows.values())), base.space.encoder))
        console.print(evaluation_table(rows))
        for name, row in told.items():
            if row["seeds"] > 1:
                sd = ", ".join(f"{measure} {value:.1f}" for measure, value in row["sd"].items())
                console.print(f"{name}: {row['seeds']} seeds, standard deviation {sd}")
            if "document" in row:
                share = row["document"]
                cell = _cell({"mean": share["percent"], "ci95": share["ci95"]})
                console.print(f"{name}: of its own document {cell} %")

    return told, show


def spread(runs: Sequence[Sequence[AskedDocument]]) -> dict[str, float]:
    """Measure to its standard deviation over seeds."""
    seeds = [evaluate_aspects(run, PIO, resamples=10).scores for run in runs]
    return {
        measure: (mean_and_sd([getattr(each, measure) for each in seeds]) or (0.0, 0.0))[1]
        for measure in ("top1", "specific", "switching")
    }


def by_question(
    options: argparse.Namespace, base: Encoder
) -> tuple[dict[str, Any], Callable[[Console], None]]:
    """The table `questions`: as JSON, and what prints it."""
    data = questions(options.data, options.split)
    sentences = Sentences.of(sentence_vectors(base, texts_of(data.documents))[0])
    found: dict[str, dict[str, list[Answered]]] = {}
    for name, searches in everywhere(options, base).items():
        found[name] = {}
        for aspect in QUESTIONS:
            try:
                runs = [answered(way, data, sentences, aspect) for way in searches]
            except AspectUnknown as error:
                tell(f"{name} isn't asked for it: {error}")
                continue
            found[name][aspect] = [run for run in runs if run is not None]
    told = {
        name: {aspect: _mean(runs) for aspect, runs in rows.items() if runs} for name, rows in found.items()
    }

    def show(console: Console) -> None:
        table = Table(
            "aspect", "method", "questions", *MEASURES, caption="percent; 95 % intervals over articles"
        )
        for aspect in QUESTIONS:
            for name, rows in told.items():
                if aspect in rows:
                    table.add_row(
                        aspect,
                        name,
                        str(rows[aspect]["questions"]),
                        *map(_cell, rows[aspect]["measures"].values()),
                    )
        console.print(table)

    return told, show


def _mean(runs: Sequence[Answered]) -> dict[str, Any]:
    """Means over seeds, of values and of the ends of their intervals."""
    measures = {}
    for name in MEASURES:
        values = [run.measures[name] for run in runs]
        measures[name] = {
            "mean": sum(mean for mean, _ in values) / len(values),
            "ci95": [sum(ends[end] for _, ends in values) / len(values) for end in (0, 1)],
        }
    return {"questions": runs[0].questions, "measures": measures}


def _cell(value: Mapping[str, Any]) -> str:
    return f"{value['mean']:.1f} ({value['ci95'][0]:.1f}-{value['ci95'][1]:.1f})"


def main() -> None:
    """Read the options, and make the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data"), help="with ebm_nlp, evidence_inference"
    )
    parser.add_argument("--table", choices=("within", "open", "questions"), default="within")
    parser.add_argument("--file", type=Path, help="labelled tokens of other abstracts, for within and open")
    parser.add_argument("--split", choices=("test", "dev", "train"), default="test")
    parser.add_argument("--topic", choices=TOPICS, default="title", help="what is asked about")
    parser.add_argument("--encoder", default=DEFAULT_ENCODER, help="of the sentences")
    parser.add_argument("--adapter", action="append", help="an adapter for it; one a seed, repeatable")
    parser.add_argument(
        "--only", action="append", choices=("generic", "instruction", LORA, SEARCH), help="repeatable"
    )
    parser.add_argument(
        "--precision", choices=("fp32", "int8"), help="of the adapters' graph; else the usual"
    )
    parser.add_argument("--cache", type=Path, default=FOLDER, help="where vectors are kept")
    parser.add_argument("--json", action="store_true", help="JSON on stdout")
    options = parser.parse_args()
    with kept_encoder(options.encoder, options.cache) as base:
        told, show = (by_question if options.table == "questions" else by_document)(options, base)
    if options.json:
        about = {"table": options.table, "encoder": options.encoder, "topic": options.topic}
        print(json.dumps(about | {"split": options.split, "methods": told}, indent=2))
    else:
        show(Console(width=110))


if __name__ == "__main__":
    main()
