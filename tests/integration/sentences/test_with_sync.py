"""A sync splits what was written since, then queues the sentences beside their parents."""

from __future__ import annotations

from collections.abc import Sequence

from opensearchpy import OpenSearch

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer.hints import Hint
from trifuse.indexer.mapping import index_body
from trifuse.indexer.sentences import attach_sentences
from trifuse.indexer.sync import sync

ENCODER = EncoderSpace("tiny", "r1", "fp32", "cls", 4, True, "cosine")


def test_sync_queues_sentences_of_what_was_written_since(client: OpenSearch, index_name: str) -> None:
    space = Space(ENCODER, TextTemplate(("body",)))
    client.indices.create(
        index=index_name, body=index_body({"body": {"type": "text"}}, spaces={VECTOR_FIELD: space})
    )
    (name,) = attach_sentences(client, index_name, text=["body"], encoder=ENCODER)
    queued: list[tuple[str, str]] = []

    def enqueue(index: str, field: str, space: Space, ids: Sequence[Hint]) -> None:
        queued.extend((index, document) for document, _ in ids)

    client.index(index=index_name, id="1", body={"body": "One. Two."})
    report = sync(client, index_name, enqueue)
    assert sorted(queued) == [(index_name, "1"), (name, "1#body#0"), (name, "1#body#1")]
    assert report.pending == 3
    client.delete(index=index_name, id="1")
    queued.clear()
    assert sync(client, index_name, enqueue).pending == 0
    assert queued == []
