"""Milliseconds of a search by an aspect, against the same search without one, on the same sentences.

The index holds made-up sentences with vectors at random: how near they are is of no matter here. Each query
is searched both ways in turn, who goes first alternates. `dense` searches go by vectors alone (an aspect's
usual profile), `hybrid` ones by words too, `document` ones within one document, `grouped` ones show three
sentences of each; over all documents an aspect takes two steps, of the topic and of the aspect. In
`..._encoded` the encoders are counted, the index's own and the adapter's; else both take a vector that is
there already.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np
from nfcorpus_index import fresh_index, services, tell
from opensearchpy import OpenSearch
from ratio import Ratio, Report, summarize

from trifuse.encoder import load_encoder
from trifuse.encoder.adapters import adapters_for, load_adapter
from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.types import Encoder, Vectors
from trifuse.indexer.bulk import Action, bulk
from trifuse.indexer.mapping import sentence_index, sentence_mapping
from trifuse.indexer.sentences.origin import Origin, meta_with_origin
from trifuse.indexer.sentences.write import SENTENCE_TEMPLATE
from trifuse.ranker import HybridRanker, Profile
from trifuse.ranker.aspects import AspectEncoder
from trifuse.ranker.sentences import ASPECT_PROFILE, SentenceRanker

PROFILES = {"dense": ASPECT_PROFILE, "hybrid": Profile(weights={"lexical": 0.5, "dense": 0.5})}
ASPECT = "outcome"
_A_DOCUMENT = 20
_WORDS = [
    "aspirin",
    "stroke",
    "adults",
    "placebo",
    "mortality",
    "pain",
    "dose",
    "weeks",
    "children",
    "insulin",
]

Search = Callable[[str, int], Any]
"""A text, and the number of the query."""


class Known:
    """Vectors that are there already, for an encoder and for an adapter alike."""

    name, revision, provider, aspects = "known", "known", "cpu", (ASPECT,)

    def __init__(self, space: EncoderSpace) -> None:
        self.space = space
        self._vector = unit(np.random.default_rng(1), 1, space.dimension)

    def encode_queries(self, texts: Sequence[str], aspect: str = "") -> Vectors:
        """(n, dim) float32, all alike."""
        return np.repeat(self._vector, len(texts), axis=0)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this part."""
    group = parser.add_argument_group("aspect")
    group.add_argument("--adapter", help="an adapter's name or folder; else the first for the encoder")
    group.add_argument("--sentences", type=int, default=20_000, help="in the index")
    group.add_argument("--queries", type=int, default=40, help="that a round searches")


def measure(options: argparse.Namespace) -> Report:
    """The ratios of latency."""
    encoder = load_encoder(options.encoder)
    named = options.adapter or next(iter(adapters_for(encoder.space)), None)
    if named is None:
        raise SystemExit(f"no adapter is known for {encoder.space.id}: name one (--adapter)")
    adapter, known = load_adapter(named), Known(encoder.space)
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(_WORDS, 8)) for _ in range(options.queries)]
    ratios: dict[str, Ratio] = {}
    with ExitStack() as stack:
        client, redis = stack.enter_context(services())
        index = stack.enter_context(fresh_index(client, redis, "aspects"))
        name = put(client, index, encoder.space, options.sentences)
        stack.callback(client.indices.delete, index=name)
        for suffix, plain, asking in (("", known, known), ("_encoded", encoder, adapter)):
            for kind, (ours, peer) in ways(client, index, plain, asking, options.sentences).items():
                found = latency(ours, peer, texts, options.runs)
                ratios |= {f"aspect_{kind}{suffix}_{percentile}": each for percentile, each in found.items()}
    return Report(ratios)


def put(client: OpenSearch, index: str, space: EncoderSpace, number: int) -> str:
    """Make the index, and that of its sentences; the latter's name."""
    name, random = sentence_index(index), np.random.default_rng(0)
    body = sentence_mapping(Space(space, SENTENCE_TEMPLATE), filters={})
    body["mappings"]["_meta"] = meta_with_origin(body["mappings"]["_meta"], Origin(index, "made up"))
    client.indices.create(index=name, body=body)
    client.indices.create(index=index, body={"mappings": {"_meta": {"trifuse": {"sentences": name}}}})
    vectors = unit(random, number, space.dimension)
    actions = (
        Action(op="create", index=name, id=str(at), source=sentence(random, at, vectors[at]))
        for at in range(number)
    )
    if refused := [item for item in bulk(client, actions).items if not item.ok]:
        raise SystemExit(f"{len(refused)} sentences were refused: {refused[0].reason}")
    client.indices.refresh(index=name)
    client.indices.forcemerge(index=name, params={"max_num_segments": "1"})
    return name


def sentence(random: np.random.Generator, at: int, vector: Vectors) -> dict[str, Any]:
    """A sentence of made-up words, twenty of a document."""
    text = " ".join(random.choice(_WORDS, 12))
    place = {"parent_id": str(at // _A_DOCUMENT), "section": "body", "ordinal": at % _A_DOCUMENT}
    return {**place, "start": 0, "end": len(text), "text": text, VECTOR_FIELD: vector.tolist()}


def unit(random: np.random.Generator, rows: int, dimension: int) -> Vectors:
    """(rows, dim) float32 of unit norm, at random."""
    drawn = random.standard_normal((rows, dimension))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def ways(
    client: OpenSearch, index: str, encoder: Encoder | Known, adapter: AspectEncoder | Known, sentences: int
) -> dict[str, tuple[Search, Search]]:
    """Kind to the search by an aspect, and the one without."""
    ranker = SentenceRanker(HybridRanker(client, encoder), adapter)  # type: ignore[arg-type]

    def pair(
        profile: Profile, *, within: bool = False, per_document: int | None = None
    ) -> tuple[Search, Search]:
        def search(aspect: str | None, text: str, number: int) -> Any:
            document = str(number % (sentences // _A_DOCUMENT)) if within else None
            wanted: dict[str, Any] = {"document": document, "per_document": per_document, "profile": profile}
            return ranker.search(index, text=text, aspect=aspect, **wanted)

        return partial(search, ASPECT), partial(search, None)

    pairs = {kind: pair(each) for kind, each in PROFILES.items()}
    dense = PROFILES["dense"]
    return {**pairs, "document": pair(dense, within=True), "grouped": pair(dense, per_document=3)}


def latency(ours: Search, peer: Search, texts: Sequence[str], rounds: int) -> Mapping[str, Ratio]:
    """`p50` and `p95` in milliseconds, over rounds of all texts; the first round isn't counted."""
    rows: list[list[tuple[float, float]]] = []
    for turn in range(rounds + 1):
        took: tuple[list[float], list[float]] = ([], [])
        for number, text in enumerate(texts):
            for way in ((0, 1), (1, 0))[(turn + number) % 2]:
                start = time.perf_counter()
                (ours, peer)[way](text, number)
                took[way].append((time.perf_counter() - start) * 1000)
        rows.append([tuple(np.percentile(each, [50, 95]).tolist()) for each in took])
        tell(f"aspect p50 {rows[-1][0][0]:.1f} ms, plain p50 {rows[-1][1][0]:.1f} ms")
    return {
        percentile: summarize([(row[0][at], row[1][at]) for row in rows[1:]], "ms")
        for at, percentile in enumerate(("p50", "p95"))
    }
