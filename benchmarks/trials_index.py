"""The trials in OpenSearch: loaded and embedded by the code that a team would use."""

from __future__ import annotations

from pathlib import Path

from nfcorpus_index import embed_all, tell
from opensearchpy import OpenSearch
from opensearchpy.helpers import scan

from trifuse.encoder.spaces import Space
from trifuse.encoder.templates import TextTemplate
from trifuse.encoder.types import Encoder
from trifuse.indexer import load, read_trials

TEMPLATE = TextTemplate(("brief_title", "conditions"), max_chars=400)
"""What of a trial is embedded: a note tells of a disease, and so do these two.

Beside BM25 over all of a trial, vectors of title and conditions served the notes of TREC 2021 better than
vectors that also hold the summary, or that hold the inclusion criteria; and they take a tenth of the time.
"""


def load_trials(client: OpenSearch, encoder: Encoder, index: str, path: Path) -> list[str]:
    """Make the index, and embed its trials; their ids."""
    report = load(client, read_trials([path]), index, space=Space(encoder.space, TEMPLATE))
    tell(f"{index}: {report.indexed} trials loaded, {len(report.rejected)} records rejected")
    present = [hit["_id"] for hit in scan(client, index=index, query={"_source": False})]
    embed_all(client, encoder, index, present)
    return present
