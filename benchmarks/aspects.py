"""How well queries follow the aspect that they ask for: generic, instructed, and by query adapters.

    python benchmarks/aspects.py --data DIR [--table within] [--encoder E] [--adapter A ...] [--topic title]

Tables:

    within     each abstract ranks its own sentences, once for each aspect (`trifuse aspect evaluate` too)
    open       the sentences of all abstracts at once, also of those that aren't asked: another's is wrong
    questions  natural questions for interventions, comparators and outcomes to the abstracts of Evidence
               Inference, all at once, and within the article that answers

Methods, of which --only names some: `generic` asks by the topic, `instruction` by the topic in the aspect's
wording, and `lora` by the adapters of --adapter, one a seed (means, and the standard deviation over seeds).
--topic: the title; `mesh`, the major headings of the abstract's record; `conclusion`, the last sentence;
`none`, the wording alone. Vectors are kept in --cache; a first run on two cores takes a few minutes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aspects_data import TOPICS, abstracts, questions, tell, texts_of
from aspects_open import MEASURES, Answered, answered, asked_everywhere
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
from trifuse.ranker.evaluation.aspects import AskedDocument, evaluate_aspects, mean_and_sd

PIO = ASPECTS[:3]
LORA = "lora"


def ways(options: argparse.Namespace, base: Encoder) -> dict[str, list[Ask]]:
    """Method to its ways of asking, one a seed."""
    adapters: list[AspectEncoder] = []
    for name in options.adapter or ():
        beside = adapters[-1] if adapters else None
        adapters.append(load_adapter(name, precision=options.precision, beside=beside))
        adapters[-1].adapter.require_space(base.space)
    instructions = adapters[0].adapter.description.instructions if adapters else INSTRUCTIONS
    found = {"generic": [generic(base)], "instruction": [instructed(base, instructions)]}
    if options.topic == "none":
        del found["generic"]  # nothing to ask by
    elif adapters:
        found[LORA] = [adapter.encode_queries for adapter in adapters]
    return {name: asks for name, asks in found.items() if name in (options.only or found)}


def by_document(
    options: argparse.Namespace, base: Encoder
) -> tuple[dict[str, Any], Callable[[Console], None]]:
    """The tables `within` and `open`: as JSON, and what prints them."""
    asked, others = abstracts(options.data, options.file, options.split, options.topic)
    texts = [document.texts for document in asked] + (others if options.table == "open" else [])
    vectors, _ = sentence_vectors(base, texts)
    topics, labels = [each.topic for each in asked], [each.labels for each in asked]
    found, told = {}, {}
    for name, asks in ways(options, base).items():
        runs: list[list[AskedDocument]] = []
        at_home = []
        for ask in asks:
            if options.table == "open":
                answers, share = asked_everywhere(ask, asked, vectors, PIO)
                at_home.append(share)
            else:
                answers = asked_documents(ask, topics, labels, vectors, PIO)
            runs.append(answers)
        found[name] = evaluate_aspects(runs[0], PIO, other_seeds=runs[1:])
        seeds = [evaluate_aspects(run, PIO).scores for run in runs] if len(runs) > 1 else []
        told[name] = evaluation_json(found[name]) | {
            "seeds": len(runs),
            "sd": {
                measure: (mean_and_sd([getattr(each, measure) for each in seeds]) or (0.0, 0.0))[1]
                for measure in ("top1", "specific", "switching")
            },
        }
        if at_home:
            told[name]["document"] = sum(at_home) / len(at_home)

    def show(console: Console) -> None:
        console.print(asked_line(next(iter(found.values())), base.space.encoder))
        console.print(evaluation_table(found))
        for name, row in told.items():
            if row["seeds"] > 1:
                sd = ", ".join(f"{measure} {value:.1f}" for measure, value in row["sd"].items())
                console.print(f"{name}: {row['seeds']} seeds, standard deviation {sd}")
            if "document" in row:
                console.print(f"{name}: of its own document {row['document']:.1f} %")

    return told, show


def by_question(
    options: argparse.Namespace, base: Encoder
) -> tuple[dict[str, Any], Callable[[Console], None]]:
    """The table `questions`: as JSON, and what prints it."""
    data = questions(options.data, options.split)
    vectors, _ = sentence_vectors(base, texts_of(data.documents))
    found: dict[str, dict[str, list[Answered]]] = {}
    for name, asks in ways(options, base).items():
        found[name] = {}
        for aspect in QUESTIONS:
            try:
                runs = [answered(ask, data, vectors, aspect) for ask in asks]
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
        "--only", action="append", choices=("generic", "instruction", LORA), help="repeatable"
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
