"""How many sentences an index has, from a sample of its documents."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from opensearchpy import OpenSearch

from trifuse.indexer.behind import indexes_behind
from trifuse.indexer.reading import result_window, search
from trifuse.indexer.sentences.attach import holds_trials
from trifuse.indexer.sentences.origin import Origin
from trifuse.indexer.sentences.texts import parent_of, source_fields

SAMPLE = 100


class SentenceEstimate(msgspec.Struct, frozen=True):
    """How much there is to split.

    Args:
        documents: of the index.
        sentences: of all of them, if the rest is like the sample.
    """

    documents: int
    sentences: int


def estimate(client: OpenSearch, index: str, text: Sequence[str]) -> SentenceEstimate:
    """Count the sentences of up to `SAMPLE` documents of each index behind the name, drawn by chance.

    Args:
        text: paths of the fields to split; trials have their own sections.

    Raises:
        IndexMissing: there is no such index.
    """
    documents, sentences = 0, 0.0
    for parent in indexes_behind(client, index):
        origin = Origin(parent.name, parent.uuid, trials=holds_trials(parent), text=tuple(text))
        count = int(client.count(index=parent.name)["count"])
        chance = {
            "function_score": {"random_score": {"seed": 1, "field": "_seq_no"}, "boost_mode": "replace"}
        }
        size = min(SAMPLE, result_window(client, parent.name))
        body = {"query": chance, "size": size, "_source": source_fields(origin), "track_total_hits": False}
        hits = search(client, parent.name, body)["hits"]["hits"]
        found = sum(len(parent_of("", None, hit["_source"], origin).documents) for hit in hits)
        documents += count
        sentences += count * found / max(1, len(hits))
    return SentenceEstimate(documents, round(sentences))
