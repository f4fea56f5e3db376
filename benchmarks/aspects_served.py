"""The table of `trifuse aspect evaluate`, by searches of an index: does serving follow the aspect as well?

    python benchmarks/aspects_served.py FILE [--adapter A] [--encoder E] [--split S] [--limit N] [--json]

FILE is what `trifuse aspect evaluate` takes. Its documents are put into an index as any would be: texts
that are split into sentences and embedded. Each is asked for each aspect by its title, by what `trifuse
search INDEX TITLE --aspect ASPECT --document ID` calls, so that each of its sentences is scored. Beside it
stands the table without a server, from the same vectors; `differing` counts the requests in which another
sentence came first, and `largest_gap` is the largest difference of two cosines of one sentence. Documents
of which the index has other sentences are left out of both, and `compared` counts the rest.

`over_all` asks all documents at once, and wants a sentence of the document whose title it is.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from aspects_data import texts_of
from kept_encoder import FOLDER, kept_encoder
from nfcorpus_index import embed_all, fresh_index, services
from opensearchpy import OpenSearch

from trifuse.deploy.cli.aspect_documents import of_split, read_documents
from trifuse.encoder import DEFAULT_ENCODER
from trifuse.encoder.adapters import adapters_for, load_adapter
from trifuse.encoder.aspects import INSTRUCTIONS
from trifuse.encoder.training.aspects.labelled import LabelledDocument
from trifuse.encoder.types import Encoder, Vectors
from trifuse.indexer.bulk import Action, bulk
from trifuse.indexer.sentences import attach_sentences, keep_sentences
from trifuse.ranker import HybridRanker, Profile
from trifuse.ranker.aspects import AspectEncoder
from trifuse.ranker.evaluation.asking import generic, instructed, sentence_vectors
from trifuse.ranker.evaluation.aspects import AskedDocument, evaluate_aspects, first_of
from trifuse.ranker.sentences import ASPECT_PROFILE, SentenceRanker

_MOST = Profile.from_dict({**ASPECT_PROFILE.as_dict(), "depth": 1000})


class Instructed:
    """An encoder without an adapter, asked by the wording of each aspect."""

    def __init__(self, encoder: Encoder, instructions: Mapping[str, str] = INSTRUCTIONS) -> None:
        self.name, self.revision, self.aspects = "instruction", "untrained", tuple(instructions)
        self.space, self.provider = encoder.space, encoder.provider
        self._ask = instructed(encoder, instructions)

    def encode_queries(self, texts: Sequence[str], aspect: str) -> Vectors:
        """(n, dim) float32."""
        return self._ask(texts, aspect)


@dataclass(frozen=True)
class Compared:
    """One way to ask, by searches and without a server: shares in percent."""

    served: Mapping[str, float | None]
    offline: Mapping[str, float | None]
    requests: int
    differing: int
    largest_gap: float


def put(client: OpenSearch, encoder: Encoder, index: str, documents: Sequence[LabelledDocument]) -> str:
    """Make the index of the documents and that of their sentences, embedded; the latter's name."""
    properties = {"body": {"type": "text", "analyzer": "english"}}
    client.indices.create(index=index, body={"mappings": {"properties": properties}})
    actions = (
        Action(
            op="create",
            index=index,
            id=each.id,
            source={"body": [sentence.text for sentence in each.candidates]},
        )
        for each in documents
    )
    if refused := [item for item in bulk(client, actions).items if not item.ok]:
        raise SystemExit(f"{len(refused)} documents were refused: {refused[0].reason}")
    client.indices.refresh(index=index)
    (sentences,) = attach_sentences(client, index, text=("body",), encoder=encoder.space)
    keep_sentences(client, index)
    client.indices.refresh(index=sentences)
    found = client.search(index=sentences, body={"size": 10_000, "_source": False, "track_total_hits": True})
    hits = found["hits"]["hits"]
    if found["hits"]["total"]["value"] > len(hits):
        raise SystemExit("more than 10,000 sentences: take fewer documents (--limit)")
    embed_all(client, encoder, sentences, [hit["_id"] for hit in hits])
    return sentences


def split_alike(
    client: OpenSearch, sentences: str, documents: Sequence[LabelledDocument]
) -> list[LabelledDocument]:
    """The documents of which the index has each labelled sentence, and no other."""
    found: dict[str, list[str]] = {}
    asked = {"size": 10_000, "_source": ["parent_id", "text"], "sort": ["parent_id", "ordinal"]}
    for hit in client.search(index=sentences, body=asked)["hits"]["hits"]:
        found.setdefault(hit["_source"]["parent_id"], []).append(hit["_source"]["text"])
    return [each for each in documents if found.get(each.id) == [one.text for one in each.candidates]]


def compare(
    ranker: SentenceRanker,
    index: str,
    adapter: AspectEncoder | None,
    encoder: Encoder,
    documents: Sequence[LabelledDocument],
    aspects: Sequence[str],
    profile: Profile = _MOST,
) -> Compared:
    """Ask each document for each aspect, by a search and from the vectors.

    Args:
        adapter: None asks by the title alone, whatever the aspect.
    """
    vectors, _ = sentence_vectors(encoder, texts_of(documents))
    ask = generic(encoder) if adapter is None else adapter.encode_queries
    served, offline, differing, gap = [], [], 0, 0.0
    for document, known in zip(documents, vectors, strict=True):
        first: tuple[dict[str, int], dict[str, int]] = ({}, {})
        for aspect in aspects:
            response = ranker.search(
                index,
                text=document.title,
                aspect=None if adapter is None else aspect,
                adapter=None if adapter is None else adapter.name,
                document=document.id,
                size=len(known),
                profile=profile,
            )
            hits = response["hits"]["hits"]
            order = [hit["_source"].get("item", 0) for hit in hits]
            scores = known @ ask([document.title], aspect)[0]
            told = np.array([hit["trifuse"]["legs"]["dense"]["similarity"] for hit in hits])
            gap = max(gap, float(np.abs(told - scores[order]).max()))
            first[0][aspect], first[1][aspect] = order[0], first_of(scores.tolist())
            differing += first[0][aspect] != first[1][aspect]
        labels = [sentence.aspects for sentence in document.candidates]
        served.append(AskedDocument(labels, first[0]))
        offline.append(AskedDocument(labels, first[1]))
    return Compared(
        shares(served, aspects), shares(offline, aspects), len(documents) * len(aspects), differing, gap
    )


def over_all(
    ranker: SentenceRanker,
    index: str,
    adapter: AspectEncoder | None,
    documents: Sequence[LabelledDocument],
    aspects: Sequence[str],
) -> dict[str, float]:
    """Ask all documents at once: in percent how often the first sentence is of the document that was meant,
    has the aspect too, and has it alone; and the mean reciprocal rank of the first that has it, among ten.
    """
    rows = []
    for document in documents:
        for aspect in aspects:
            by = {} if adapter is None else {"aspect": aspect, "adapter": adapter.name}
            response = ranker.search(index, text=document.title, size=10, profile=ASPECT_PROFILE, **by)
            hits = [hit["_source"] for hit in response["hits"]["hits"]]
            rows.append(answered(document, aspect, hits))
    names = ("document", "aspect", "alone", "reciprocal_rank")
    percent, rank = 100 * np.mean(rows, axis=0), float(np.mean(rows, axis=0)[3])
    return {**dict(zip(names[:3], percent.tolist(), strict=False)), names[3]: rank}


def answered(
    document: LabelledDocument, aspect: str, hits: Sequence[Mapping[str, Any]]
) -> tuple[bool, bool, bool, float]:
    """Whether the first hit is of the document, has the aspect, has it alone; and the reciprocal rank."""
    found = [
        document.candidates[hit.get("item", 0)].aspects if hit["parent_id"] == document.id else None
        for hit in hits
    ]
    ranks = [rank for rank, aspects in enumerate(found, start=1) if aspects and aspect in aspects]
    first = found[0] if found else None
    reciprocal = 1 / ranks[0] if ranks else 0.0
    return first is not None, ranks[:1] == [1], first == {aspect}, reciprocal


def shares(asked: Sequence[AskedDocument], aspects: Sequence[str]) -> dict[str, float | None]:
    """Top-1, Aspect-Specific Top-1 and Two-Aspect Switching, in percent."""
    scores = evaluate_aspects(asked, aspects, resamples=10).scores
    return {name: getattr(scores, name).percent for name in ("top1", "specific", "switching")}


def main() -> None:
    """Compare the ways to ask, and print their shares."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, help="what trifuse aspect evaluate takes")
    parser.add_argument("--adapter", help="an adapter's name or folder; else those for the encoder's space")
    parser.add_argument("--encoder", default=DEFAULT_ENCODER, help="a model's name or folder")
    parser.add_argument("--split", help="as of trifuse aspect evaluate")
    parser.add_argument("--limit", type=int, help="so many documents, the first")
    parser.add_argument("--vectors", type=Path, default=FOLDER, help="keeps vectors of earlier runs")
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    options = parser.parse_args()
    found = of_split(read_documents(options.file, lambda id: None), options.split)[: options.limit]
    documents = [document for document in found if document.candidates]
    with ExitStack() as stack:
        encoder = stack.enter_context(kept_encoder(options.encoder, options.vectors))
        named = [options.adapter] if options.adapter else adapters_for(encoder.space)
        adapters: list[AspectEncoder] = [Instructed(encoder), *(load_adapter(name) for name in named)]
        client, redis = stack.enter_context(services())
        index = stack.enter_context(fresh_index(client, redis, "aspects"))
        sentences = put(client, encoder, index, documents)
        stack.callback(client.indices.delete, index=sentences)
        ranker = SentenceRanker(HybridRanker(client, encoder), adapters)
        aspects = [each for each in adapters[-1].aspects if each != "comparator"]
        alike = split_alike(client, sentences, documents)
        ways: dict[str, AspectEncoder | None] = {"generic": None, **{each.name: each for each in adapters}}
        methods = {
            name: compare(ranker, index, adapter, encoder, alike, aspects) for name, adapter in ways.items()
        }
        everywhere = {
            name: over_all(ranker, index, adapter, documents, aspects) for name, adapter in ways.items()
        }
    report(len(documents), len(alike), methods, everywhere, as_json=options.json)


def report(
    documents: int,
    compared: int,
    found: Mapping[str, Compared],
    everywhere: Mapping[str, Mapping[str, float]],
    *,
    as_json: bool,
) -> None:
    """Print what was found."""
    if as_json:
        methods: dict[str, Any] = {name: asdict(each) for name, each in found.items()}
        print(
            json.dumps(
                {"documents": documents, "compared": compared, "methods": methods, "over_all": everywhere},
                indent=2,
            )
        )
        return
    print(f"{compared} of {documents} documents")
    for name, each in found.items():
        pairs = (f"{share} {value:.1f} / {each.offline[share]:.1f}" for share, value in each.served.items())
        print(
            f"{name}: served / offline {', '.join(pairs)}; {each.differing} of {each.requests} differ, "
            f"largest gap {each.largest_gap:.1e}"
        )
    for name, shares_of in everywhere.items():
        print(f"over all, {name}: " + ", ".join(f"{what} {value:.3g}" for what, value in shares_of.items()))


if __name__ == "__main__":
    main()
