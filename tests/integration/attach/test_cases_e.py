"""The cases from the field about encoding, on indexes of other writers.

Attach and sync carry to a document what its encoder says of it. The models are a few kB, so that each vector
in the index can be worked out by hand.
"""

from __future__ import annotations

import gc
import json
import runpy
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch
from typer.testing import CliRunner

from trifuse.deploy.cli.app import app
from trifuse.deploy.errors import ServiceDied
from trifuse.encoder import load_encoder
from trifuse.encoder.description import read_model
from trifuse.encoder.encode import OnnxEncoder
from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.registry import DEFAULT_ENCODER
from trifuse.encoder.types import Encoder
from trifuse.indexer.attach import apply_attach, plan_attach
from trifuse.indexer.counts import counts
from trifuse.indexer.embedded import embedded_field
from trifuse.indexer.failures import FAILED_INDEX, failure_pages
from trifuse.indexer.hints import Hint
from trifuse.indexer.sync import sync
from trifuse.ranker import HybridRanker, Profile
from trifuse.worker.embedding import EmbedReport, embed
from trifuse.worker.metrics import CountedEncoder, Metrics

BUILDER = Path(__file__).parents[3] / "benchmarks" / "tiny_model.py"
WORDS = {"a": (4.0, 1.0), "b": (1.0, 8.0), "c": (12.0, 4.0)}
"""Special tokens are zeros: a mean is over [CLS], the words and [SEP]."""


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., OnnxEncoder]:
    """Makes encoders: `tiny(words, **options)`, options as `make_model` takes them."""
    make_model = runpy.run_path(str(BUILDER))["make_model"]

    def made(words: Any = WORDS, *, token_budget: int | None = None, **options: Any) -> OnnxEncoder:
        folder = make_model(tmp_path_factory.mktemp("model"), words, **options)
        return OnnxEncoder(read_model(folder), token_budget=token_budget)

    return made


@pytest.fixture
def carried(client: OpenSearch, make: Any) -> Callable[..., tuple[str, EmbedReport]]:
    """Attaches an index of these titles, and embeds what sync queues, in one batch: its name, the report."""

    def carry(encoder: Encoder, *titles: str, name: str = "") -> tuple[str, EmbedReport]:
        made = name or make(docs=[{"title": title} for title in titles])
        apply_attach(client, plan_attach(client, made, ["title"], encoder.space, accept_version_bump=True))
        reports: list[EmbedReport] = []

        def queue(index: str, field: str, space: Any, ids: Sequence[Hint], /) -> None:
            reports.append(embed(client, encoder, index, field, ids))

        sync(client, made, queue)
        client.indices.refresh(index=made)
        (report,) = reports
        return made, report

    return carry


@pytest.fixture
def vector(client: OpenSearch) -> Callable[..., list[float]]:
    """The vector of a document, as it stands in the index."""

    def read(name: str, doc_id: str = "0") -> list[float]:
        found: list[float] = client.get(index=name, id=doc_id)["_source"][VECTOR_FIELD]
        return found

    return read


@pytest.mark.parametrize(
    ("inputs", "added"),
    [
        (("input_ids", "attention_mask"), 0.0),
        (("input_ids", "attention_mask", "token_type_ids"), 0.0),
        # Positions 0, 1, 2 of [CLS] a [SEP]: 1 on average.
        (("input_ids", "attention_mask", "position_ids"), 1.0),
    ],
)
def test_e1_models_with_and_without_types_and_positions(
    tiny: Any, carried: Any, vector: Any, inputs: tuple[str, ...], added: float
) -> None:
    name, report = carried(tiny(inputs=inputs), "a")
    assert report.embedded == 1
    assert vector(name) == pytest.approx([4 / 3 + added, 1 / 3 + added])


@pytest.mark.parametrize(("pooling", "expected"), [("mean", [16 / 4, 5 / 4]), ("cls", [3.0, 4.0])])
def test_e2_pooling_is_the_models_and_stands_in_the_space(
    client: OpenSearch, tiny: Any, carried: Any, vector: Any, pooling: str, expected: list[float]
) -> None:
    words = {**WORDS, **({"[CLS]": (3.0, 4.0)} if pooling == "cls" else {})}
    name, _ = carried(tiny(words, pooling=pooling), "a c")
    assert vector(name) == pytest.approx(expected)
    assert embedded_field(client, name, VECTOR_FIELD).space.encoder.pooling == pooling


def test_e3_prefixes_by_role_and_the_role_stands_in_the_space(
    client: OpenSearch, tiny: Any, carried: Any, vector: Any
) -> None:
    encoder = tiny(query_prefix="a ", document_prefix="b ")
    name, _ = carried(encoder, "c")
    assert vector(name) == pytest.approx([13 / 4, 12 / 4])  # [CLS] b c [SEP]
    assert embedded_field(client, name, VECTOR_FIELD).space.template.role == "document"
    ranker = HybridRanker(client, encoder, profile=Profile(weights={"dense": 1}, normalization="none"))
    (hit,) = ranker.search(name, text="c")["hits"]["hits"]
    # The query is [CLS] a c [SEP]: (16 / 4, 5 / 4).
    assert hit["trifuse"]["legs"]["dense"]["similarity"] == pytest.approx(
        13 / 4 * 4 + 12 / 4 * 5 / 4, rel=1e-5
    )
    # The same files with another prefix are another space: a worker of it writes nothing here.
    with pytest.raises(SpaceMismatch):
        embed(client, tiny(query_prefix="a ", document_prefix="a "), name, VECTOR_FIELD, [("0", None)])


def test_e4_alone_and_beside_a_long_text(tiny: Any, carried: Any, vector: Any, make: Any) -> None:
    words = {name: np.random.default_rng(3).normal(size=8).tolist() for name in "abcdefgh"}
    encoder = tiny(words, attention=True, max_tokens=502, token_budget=2_000, similarity="cosine")
    alone, _ = carried(encoder, "a b")
    beside, report = carried(
        encoder, name=make(docs=[{"title": "a b"}, {"title": "a b c d e " * 100}], suffix="-beside")
    )
    assert (report.embedded, report.truncated) == (2, 0)
    assert vector(beside) == pytest.approx(vector(alone), abs=1e-5)


def test_e4_the_default_encoder_alone_and_beside_a_long_text(carried: Any, vector: Any, make: Any) -> None:
    """int8: a text is a batch of its own, so its vector depends on nothing else."""
    encoder = load_encoder(DEFAULT_ENCODER)
    alone, _ = carried(encoder, "Statins after a heart attack")
    docs = [{"title": "Statins after a heart attack"}, {"title": "knee " * 500}]
    beside, _ = carried(encoder, name=make(docs=docs, suffix="-beside"))
    assert vector(beside) == vector(alone)


def test_e5_from_one_token_to_100_000(tiny: Any, carried: Any, vector: Any, tmp_path: Path) -> None:
    """max_tokens is 16, of which [CLS] and [SEP] take two: 14 words fit. Two of the four are cut."""
    words = [1, 14, 15, 100_000]
    metrics = Metrics(tmp_path)
    encoder = CountedEncoder(tiny(), metrics)
    name, report = carried(encoder, *(" ".join(["a"] * count) for count in words))
    for doc_id, count in enumerate(words):
        kept = min(count, 14)
        assert vector(name, str(doc_id)) == pytest.approx([4 * kept / (kept + 2), kept / (kept + 2)])
    assert (report.embedded, report.truncated, report.failed) == (4, 2, 0)
    assert metrics.counters.truncated == 2


def test_e6_what_is_rejected_is_named_and_the_rest_goes_on(
    client: OpenSearch, tiny: Any, carried: Any, make: Any
) -> None:
    """By the model, whose vector can't be used; by OpenSearch, which wouldn't take the owner's own now."""
    encoder = tiny({**WORDS, "nan": (float("nan"), 0.0)}, similarity="cosine")
    year = {"type": "integer", "ignore_malformed": True}
    name = make(
        {"properties": {"title": {"type": "text"}, "year": year}},
        docs=[{"title": "a"}, {"title": "b nan"}, {"title": ""}],
    )
    body = r'{"title": "c", "year": "\ud800"}'
    client.transport.perform_request("PUT", f"/{name}/_doc/odd", params={"refresh": "true"}, body=body)
    client.indices.put_mapping(index=name, body={"properties": {"year": {**year, "ignore_malformed": False}}})
    _, report = carried(encoder, name=name)
    assert (report.embedded, report.emptied, report.failed) == (1, 1, 2)
    client.indices.refresh(index=FAILED_INDEX)
    target = embedded_field(client, name, VECTOR_FIELD)
    reasons = {item.doc_id: item.reason for page in failure_pages(client, target) for item in page}
    assert set(reasons) == {"1", "odd"}
    assert reasons["1"] == "the model's vector can't be used: it has NaN"
    assert "failed to parse field [year] of type [integer]" in reasons["odd"]
    assert "'?'" in reasons["odd"]  # half a surrogate pair, which can't be written down
    counted = counts(client, name)
    assert counted["documents"] == 4
    assert [counted[key] for key in ("current", "empty", "failed", "missing", "stale")] == [1, 1, 2, 0, 0]


@pytest.fixture
def cli(services: Any, lonely_broker: str) -> Callable[..., Any]:
    """Runs a command with a broker that no worker but the test's own listens to."""

    def run(*arguments: str) -> Any:
        environ = services.environ() | {"TRIFUSE_BROKER_URL": lonely_broker}
        return CliRunner().invoke(app, [*arguments], env=environ)

    return run


def test_e5_e7_a_worker_says_how_many_texts_it_cut_and_on_what_device(
    make: Any, cli: Any, services: Any, lonely_broker: str, worker_factory: Callable[..., Any]
) -> None:
    """The default encoder takes 512 tokens: 510 words fit."""
    name = make(docs=[{"title": "knee " * count} for count in (1, 510, 511, 100_000)])
    worker_factory(services=replace(services, broker_url=lonely_broker))
    done = cli("attach", name, "--text", "title", "--accept-version-bump", "--wait", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["embedded"] == 4
    (worker,) = json.loads(cli("status", "--json").stdout)["worker_details"]
    assert worker["provider"] == "cpu"
    assert (worker["counters"]["texts"], worker["counters"]["truncated"]) == (4, 2)


def test_e7_a_device_that_is_missing_is_an_error_and_nothing_is_computed_on_another(
    client: OpenSearch,
    make: Any,
    cli: Any,
    services: Any,
    lonely_broker: str,
    worker_factory: Callable[..., Any],
) -> None:
    name = make()
    with pytest.raises(ServiceDied, match="cuda:0 was asked for"):
        worker_factory(services=replace(services, broker_url=lonely_broker), TRIFUSE_DEVICE="cuda")
    done = cli("attach", name, "--text", "title", "--accept-version-bump", "--json")
    assert "no worker is listening" in done.stderr
    assert json.loads(done.stdout)["pending"] == 3
    assert counts(client, name)["missing"] == 3


def test_e8_a_sync_holds_a_page_however_long_texts_are(client: OpenSearch, tiny: Any, make: Any) -> None:
    """50 MB of texts: read in pages of 4 MB, after the first of 25 documents."""
    name = make(docs=[{"title": "a" * 500_000}] * 100)
    apply_attach(client, plan_attach(client, name, ["title"], tiny().space, accept_version_bump=True))
    sent: list[Hint] = []

    def queue(index: str, field: str, space: Any, ids: Sequence[Hint], /) -> None:
        sent.extend(ids)

    tracemalloc.start()
    assert sync(client, name, queue).pending == 100
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(sent) == 100
    # The first page as an answer, and as what was read from it: 2 x 25 x 0.5 MB.
    assert peak < 30_000_000


def test_e8_memory_is_flat_over_many_batches(tiny: Any, carried: Any, client: OpenSearch) -> None:
    """What a process keeps of the batches that it wrote: nothing."""
    encoder = tiny()
    name, _ = carried(encoder, *("a b c " * (1 + number % 5) for number in range(32)))
    hints = [(str(number), None) for number in range(32)]
    words = cycle(WORDS)

    def batch() -> int:
        body = {"doc": {"title": f"{next(words)} {next(words)}"}}
        client.bulk(
            index=name,
            body=[line for doc_id, _ in hints for line in ({"update": {"_id": doc_id}}, body)],
        )
        return embed(client, encoder, name, VECTOR_FIELD, hints).embedded

    def held() -> int:
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    assert sum(batch() for _ in range(10)) == 10 * 32
    tracemalloc.start()
    batch()
    before = held()
    assert sum(batch() for _ in range(30)) == 30 * 32
    after = held()
    tracemalloc.stop()
    assert after - before < 30_000
