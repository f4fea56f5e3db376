"""The `--small` recipe on NFCorpus: towers trained on training queries, judged on training queries held out.

    python benchmarks/train_small.py --data DIR --out DIR [--seeds 0 1] [--held-out 300] [--json]

NFCorpus (Boteva, Gholipour, Sokolov, Riezler 2016): its judgements come from links, not from clicks. Its
texts have a title and an abstract in one string, parted by the word "abstract" (3,374 of 3,395; the others
have no title). The dev queries are not looked at. Rankings are by exact inner products over all documents,
which are cut at --tokens, as the recipe cuts them. OPENSEARCH_URL names a server to mine negatives in.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from trifuse.deploy.cli.train import Miner
from trifuse.deploy.cli.training_corpus import CorpusDocument, read_corpus
from trifuse.deploy.cli.training_data import from_judgements
from trifuse.encoder.description import DESCRIPTION_FILE, read_model
from trifuse.encoder.encode import OnnxEncoder
from trifuse.encoder.registry import open_model
from trifuse.encoder.templates import TextTemplate, build_text
from trifuse.encoder.training import SMALL, train_lader
from trifuse.ranker.evaluation import Judgements, Queries, evaluate, read_judgements, read_queries

DOCUMENTS, QUERIES, QRELS = "docs_dev_test.tsv.gz", "train.titles.queries.tsv", "train.2-1-0.qrel.gz"
CHECKPOINT = "bge-small-en-v1.5"
MEASURES = ["nDCG@10", "RR", "R@10", "R@1000"]
DEPTH = 1000
SPLIT_SEED = 7


def parted(data: Path) -> Iterator[str]:
    """The collection as lines of id, title, text."""
    with gzip.open(data / DOCUMENTS, "rt", encoding="utf-8") as lines:
        for line in lines:
            document, _, text = line.rstrip("\n").partition("\t")
            title, found, abstract = text.partition(" abstract ")
            yield (
                "\t".join((document, title.strip(), abstract.strip()) if found else (document, "", text))
                + "\n"
            )


def split(queries: Queries, held_out: int) -> tuple[Queries, Queries]:
    """Queries to train on, and queries to judge by: the same ones at every call."""
    names = list(queries)
    held = set(random.Random(SPLIT_SEED).sample(range(len(names)), held_out))
    parts: tuple[Queries, Queries] = ({}, {})
    for place, name in enumerate(names):
        parts[place in held][name] = queries[name]
    return parts


def shortened(path: Path, tokens: int, folder: Path) -> OnnxEncoder:
    """A model that cuts its texts earlier."""
    described = json.loads((path / DESCRIPTION_FILE).read_text()) | {"max_tokens": tokens}
    for file in path.iterdir():
        if file.is_file() and file.name != DESCRIPTION_FILE:
            (folder / file.name).symlink_to(file.resolve())
    (folder / DESCRIPTION_FILE).write_text(json.dumps(described))
    return OnnxEncoder(read_model(folder), threads=torch.get_num_threads())


def ranked(
    path: Path, documents: Sequence[CorpusDocument], queries: Queries, tokens: int
) -> Mapping[str, Sequence[str]]:
    """Each query's documents by their exact inner product."""
    with tempfile.TemporaryDirectory() as folder:
        encoder = shortened(path, tokens, Path(folder))
        separator = read_model(path).description.pair_separator
        template = TextTemplate(("title", "text"), separator=f" {separator} " if separator else " ")
        texts = [build_text({"title": each.title, "text": each.text}, template) for each in documents]
        scores = encoder.encode_queries(list(queries.values())) @ encoder.encode_documents(texts).T
    return {
        query: [documents[place].id for place in np.argsort(-row, kind="stable")[:DEPTH]]
        for query, row in zip(queries, scores, strict=True)
    }


def train(options: argparse.Namespace, seed: int, queries: Path, corpus: Path) -> dict[str, Any]:
    """One run of the recipe; a folder that holds its model already is taken as it is."""
    folder = options.out / f"lader-small-seed{seed}"
    if not (folder / DESCRIPTION_FILE).exists():
        recipe = replace(SMALL, seed=seed)

        def show(step: Any) -> None:
            if step.number % 10 == 0:
                print(f"seed {seed}: step {step.number}, loss {step.loss:.3f}", file=sys.stderr)

        mine = Miner(None, os.environ.get("OPENSEARCH_URL"), seed)
        with from_judgements(queries, options.data / QRELS, corpus, mine, seed=seed) as data:
            train_lader(
                CHECKPOINT,
                data.examples,
                recipe,
                folder,
                name=folder.name,
                known=data.known,
                resume=True,
                save_every=25,
                on_step=show,
            )
    said: dict[str, Any] = json.loads((folder / "training.json").read_text())
    return {key: value for key, value in said.items() if key not in ("loss", "accuracy")}


def main() -> None:
    """Train, judge, tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder of NFCorpus")
    parser.add_argument("--out", type=Path, required=True, help="where the models go")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--held-out", type=int, default=300, help="training queries to judge by")
    parser.add_argument("--tokens", type=int, default=SMALL.document_tokens, help="where texts are cut")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    learned, judged = split(read_queries(options.data / QUERIES), options.held_out)
    qrels: Judgements = {
        query: grades for query, grades in read_judgements(options.data / QRELS).items() if query in judged
    }
    with tempfile.TemporaryDirectory() as folder:
        corpus, queries = Path(folder) / "corpus.tsv", Path(folder) / "queries.tsv"
        corpus.write_text("".join(parted(options.data)), encoding="utf-8")
        queries.write_text("".join(f"{name}\t{text}\n" for name, text in learned.items()), encoding="utf-8")
        documents = list(read_corpus(corpus))
        runs = {"zero-shot": ranked(open_model(CHECKPOINT).path, documents, judged, options.tokens)}
        reports = {}
        for seed in options.seeds:
            name = f"seed {seed}"
            reports[name] = train(options, seed, queries, corpus)
            runs[name] = ranked(options.out / f"lader-small-seed{seed}", documents, judged, options.tokens)
    evaluation = evaluate(runs, qrels, judged, MEASURES)
    if options.json:
        print(json.dumps(evaluation.as_dict() | {"training": reports, "tokens": options.tokens}, indent=2))
        return
    for name in runs:
        print(name, *(f"{measure} {evaluation.mean(name, measure):.4f}" for measure in MEASURES), sep="  ")
    for name, said in reports.items():
        print(
            f"{name}: {said['steps']} steps, {said['seconds'] / 60:.1f} minutes, "
            f"loss {said['loss_first']:.3f} to {said['loss_last']:.3f}, parity {said['parity']:.6f}"
        )


if __name__ == "__main__":
    main()
