"""An encoder of parts on indexes that exist: attached to, changed to and from another, detached."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.deploy.cli.reembed_output import say_of_parts
from trifuse.encoder import Encoder, load_encoder
from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.spaces import Space, serving_field, spaces_in_meta
from trifuse.indexer.attach import apply_attach, detach, plan_attach
from trifuse.indexer.attach.plan import AttachPlan
from trifuse.indexer.errors import IndexNotOurs, ReembedRefused
from trifuse.indexer.hints import Enqueue
from trifuse.indexer.load import load
from trifuse.indexer.part_fields import add_part_fields
from trifuse.indexer.readers import Record
from trifuse.indexer.reembed import abandon, begin, fill, finish, roll_back, switch
from trifuse.indexer.reembed.parts import PartVectors
from trifuse.indexer.reembed.standing import part_vectors
from trifuse.indexer.trial import Trial
from trifuse.indexer.trial_parts import template_for
from trifuse.ranker.similar import similar


@pytest.fixture
def notes(client: OpenSearch, index_name: str) -> str:
    """An index of somebody's, with k-NN on."""
    fields = {"name": {"type": "text"}, "label": {"type": "keyword"}, "body": {"type": "text"}}
    client.indices.create(
        index=index_name,
        body={"settings": {"index": {"knn": True}}, "mappings": {"dynamic": "strict", "properties": fields}},
    )
    documents = [
        {"name": "aspirin", "label": "asthma", "body": "pain"},
        {"label": ["pain", "pain"]},
        {"body": " "},
    ]
    for number, document in enumerate(documents):
        client.index(index=index_name, id=str(number), body=document)
    client.indices.refresh(index=index_name)
    return index_name


@pytest.fixture
def plain_encoder(tmp_path: Path, tiny_model: Callable[..., Path]) -> Encoder:
    """An encoder of plain texts."""
    words = {"asthma": (1.0, 0.0), "aspirin": (0.0, 1.0), "pain": (1.0, 1.0)}
    return load_encoder(str(tiny_model(tmp_path / "plain", words, name="plain", normalized=True)))


def _spaces(client: OpenSearch, index: str) -> dict[str, Space]:
    return spaces_in_meta(client.indices.get_mapping(index=index)[index]["mappings"]["_meta"])


def _attached(client: OpenSearch, index: str, encoder: Encoder) -> AttachPlan:
    plan = plan_attach(
        client,
        index,
        ["name", "label", "body", "body"],
        encoder.space,
        parts=["title", "condition", "context", "context"],
        accept_version_bump=True,
    )
    apply_attach(client, plan)
    return plan


def test_attach_by_the_command(
    client: OpenSearch,
    notes: str,
    run: Callable[..., Any],
    model: Path,
    parts_encoder: Encoder,
    embed_all: Callable[..., Any],
    lonely_broker: str,
) -> None:
    nobody = {"TRIFUSE_BROKER_URL": lonely_broker}
    attach = ["attach", notes, "--encoder", str(model), "--accept-version-bump", "--part-vectors"]
    ended = run(*attach, "--text", "name,body", COLUMNS="300", **nobody)
    assert ended.returncode == 2
    assert "write PART=FIELD for each field, such as title=name" in " ".join(ended.stderr.split())
    text = ["--text", "title=name,condition=label,context=body"]
    ended = run(*attach, *text, "--dry-run", "--json", **nobody)
    assert ended.returncode == 0, ended.stderr
    plan = json.loads(ended.stdout)["plan"]
    assert (plan["text"], plan["parts"]) == (["name", "label", "body"], ["title", "condition", "context"])
    assert plan["estimates"]["sample"]["with_text"] == 2
    assert '{"title": "aspirin", "condition": "asthma", "context": "pain"}' in str(plan["estimates"])
    # 3 documents by the whole, title and condition: 3 numbers of 4 bytes, 141 of links; in a hit 38 of JSON
    assert plan["estimates"]["disk_bytes"] == 3 * 3 * (12 + 141)
    assert plan["estimates"]["bytes_per_hit"] == 3 * 38
    ended = run(*attach, *text, **nobody)
    assert ended.returncode == 0, ended.stderr
    assert sorted(_spaces(client, notes)) == [
        "trifuse_vector",
        "trifuse_vector_condition",
        "trifuse_vector_title",
    ]
    assert embed_all(notes, parts_encoder).pending == 0
    found = [client.get(index=notes, id=str(number))["_source"] for number in range(3)]
    assert found[0]["trifuse_vector"] == pytest.approx([3 / 35**0.5, 1 / 35**0.5, 5 / 35**0.5], abs=1e-6)
    assert found[0]["trifuse_vector_title"] == pytest.approx([0, 1, 0])
    assert found[1]["trifuse_vector_condition"] == pytest.approx([0, 0, 1])
    assert "trifuse_vector" not in found[2]


def test_attach_by_a_copy(
    client: OpenSearch, notes: str, done: Callable[..., Any], model: Path, worker_factory: Callable[..., Any]
) -> None:
    """The copy is switched to with the vectors of whole documents; those of parts follow."""
    encoder = {"TRIFUSE_ENCODER": str(model)}
    worker_factory(**encoder)
    alias = f"{notes}-dense"
    told = done(
        "attach", notes, "--copy", "--text", "title=name,condition=label", "--part-vectors", **encoder
    )
    assert told["copy"]["switched"]
    (copy,) = client.indices.get_alias(name=alias)
    assert len(_spaces(client, copy)) == 3
    synced = done("sync", alias, "--wait", **encoder)
    assert (synced["pending"], synced["failed"]) == (0, 0)
    source = client.get(index=alias, id="0")["_source"]
    assert source["trifuse_vector"] == pytest.approx([3 / 10**0.5, 1 / 10**0.5, 0], abs=1e-6)
    assert source["trifuse_vector_condition"] == pytest.approx([1, 0, 0])

    client.index(index=alias, id="0", body={**source, "name": "pain"}, refresh=True)
    done("detach", alias, "--yes", **encoder)
    assert client.get(index=notes, id="0")["_source"] == {"name": "pain", "label": "asthma", "body": "pain"}
    assert sorted(client.indices.get_mapping(index=notes)[notes]["mappings"]["properties"]) == [
        "body",
        "label",
        "name",
    ]


def test_attached_again_it_finds_its_field_and_adds_the_parts(
    client: OpenSearch, notes: str, parts_encoder: Encoder
) -> None:
    _attached(client, notes, parts_encoder)
    assert add_part_fields(client, notes, ["title", "outcome"]) == ["trifuse_vector_title"]
    plan = _attached(client, notes, parts_encoder)
    assert plan.estimates is not None
    assert plan.estimates.disk_bytes == 0
    assert (plan.attached, plan.refused, plan.field) == (True, False, "trifuse_vector")
    other = plan_attach(
        client, notes, ["name"], parts_encoder.space, parts=["title"], accept_version_bump=True
    )
    assert other.refused
    assert add_part_fields(client, notes, ["title"]) == []


def test_a_mapping_without_room_for_them_stays_as_it_was(
    client: OpenSearch, notes: str, parts_encoder: Encoder
) -> None:
    _attached(client, notes, parts_encoder)
    before = client.indices.get_mapping(index=notes)
    client.indices.put_settings(index=notes, body={"index.mapping.total_fields.limit": 10})
    with pytest.raises(IndexNotOurs, match=r"Limit of total fields \[10\].*leave out --part-vectors"):
        add_part_fields(client, notes, ["title", "condition"])
    assert client.indices.get_mapping(index=notes) == before


def test_vectors_of_parts_need_texts_of_parts(client: OpenSearch, notes: str, plain_encoder: Encoder) -> None:
    with pytest.raises(IndexNotOurs, match="has no vectors to add those of parts to"):
        add_part_fields(client, notes, ["title"])
    apply_attach(client, plan_attach(client, notes, ["name"], plain_encoder.space, accept_version_bump=True))
    with pytest.raises(SpaceMismatch, match="vectors of whole texts, by 'plain'"):
        add_part_fields(client, notes, ["title"])


def test_detaching_takes_out_the_vectors_of_parts_too(
    client: OpenSearch, notes: str, parts_encoder: Encoder, embed_all: Callable[..., Any]
) -> None:
    before = client.get(index=notes, id="0")["_source"]
    _attached(client, notes, parts_encoder)
    add_part_fields(client, notes, parts_encoder.space.parts)
    embed_all(notes, parts_encoder)
    detach(client, notes)
    assert client.get(index=notes, id="0")["_source"] == before


def test_another_encoder_and_back(
    client: OpenSearch,
    index_name: str,
    parts_encoder: Encoder,
    plain_encoder: Encoder,
    enqueue_for: Callable[..., Enqueue],
) -> None:
    """Trials know their parts; with the old field its encoder's vectors of parts go."""
    enqueue = enqueue_for(parts_encoder, plain_encoder)
    trials = [
        Trial(nct_id="NCT00000001", brief_title="aspirin", conditions=("asthma",)),
        Trial(nct_id="NCT00000002", brief_summary="pain"),
    ]
    space = Space(plain_encoder.space, template_for(plain_encoder.space))
    load(client, (Record(trial, "test", None) for trial in trials), index_name, space=space, enqueue=enqueue)

    assert begin(client, index_name, parts_encoder.space) == "begin"
    assert fill(client, index_name, enqueue, switch=True).switched
    served = _spaces(client, index_name)["trifuse_vector_2"]
    assert served.template == template_for(parts_encoder.space)
    roll_back(client, index_name)
    switch(client, index_name, enqueue)
    assert finish(client, index_name) == 2
    added = add_part_fields(client, index_name, ["title", "condition"])
    assert added == ["trifuse_vector_2_title", "trifuse_vector_2_condition"]
    load(
        client,
        [Record(Trial(nct_id="NCT00000003", brief_title="aspirin"), "test", None)],
        index_name,
        space=served,
        enqueue=enqueue,
    )
    source = client.get(index=index_name, id="NCT00000003")["_source"]
    assert source["trifuse_vector_2_title"] == pytest.approx([0, 1, 0])

    assert begin(client, index_name, plain_encoder.space) == "begin"
    assert fill(client, index_name, enqueue, switch=True).switched
    assert finish(client, index_name) == 3
    spaces = _spaces(client, index_name)
    assert list(spaces) == ["trifuse_vector_3"]
    assert spaces["trifuse_vector_3"].template == template_for(plain_encoder.space)
    source = client.get(index=index_name, id="NCT00000003")["_source"]
    assert [name for name in source if name.startswith("trifuse_vector")] == ["trifuse_vector_3"]
    assert list(source["trifuse"]["fields"]) == ["trifuse_vector_3"]


def test_an_index_of_somebodys_must_say_which_field_is_which_part(
    client: OpenSearch, notes: str, parts_encoder: Encoder, plain_encoder: Encoder
) -> None:
    plan = plan_attach(client, notes, ["name", "body"], plain_encoder.space, accept_version_bump=True)
    apply_attach(client, plan)
    with pytest.raises(ReembedRefused, match="name the fields of each, such as --text title=name"):
        begin(client, notes, parts_encoder.space, accept_version_bump=True)
    begun = begin(
        client,
        notes,
        parts_encoder.space,
        text=("name", "body"),
        parts=("title", "context"),
        accept_version_bump=True,
    )
    assert begun == "begin"
    assert _spaces(client, notes)["trifuse_vector_2"].template.parts == ("title", "context")
    meta = client.indices.get_mapping(index=notes)[notes]["mappings"]["_meta"]
    assert serving_field(meta) == "trifuse_vector"


@pytest.fixture
def other(tmp_path: Path, make_parts_model: Callable[..., Path]) -> Path:
    """The folder of another encoder of parts: each word has the direction of the one before."""
    words = {"asthma": (0.0, 0.0, 6.0), "aspirin": (6.0, 0.0, 0.0), "pain": (0.0, 6.0, 0.0)}
    return make_parts_model(
        tmp_path / "other", words, name="other-parts", normalized=True, similarity="cosine"
    )


def test_vectors_of_parts_are_made_anew_with_the_others(
    client: OpenSearch,
    notes: str,
    parts_encoder: Encoder,
    other: Path,
    embed_all: Callable[..., Any],
    enqueue_for: Callable[..., Enqueue],
) -> None:
    new = load_encoder(str(other))
    enqueue = enqueue_for(parts_encoder, new)
    _attached(client, notes, parts_encoder)
    before = sorted(["trifuse_vector", *add_part_fields(client, notes, ["title", "condition"])])
    embed_all(notes, parts_encoder)
    assert begin(client, notes, new.space, accept_version_bump=True) == "begin"
    assert part_vectors(client, notes) == PartVectors(follow=("title", "condition"))
    assert begin(client, notes, new.space, accept_version_bump=True) == "resume"
    filled = fill(client, notes, enqueue, switch=True)
    assert (filled.switched, filled.embedded, filled.pending) == (True, 2, 0)
    source = client.get(index=notes, id="0")["_source"]
    assert source["trifuse_vector_2_title"] == pytest.approx([1, 0, 0])
    assert source["trifuse_vector_2_condition"] == pytest.approx([0, 0, 1])
    assert source["trifuse_vector_title"] == pytest.approx([0, 1, 0])
    (hit,) = similar(client, new, notes, parts={"condition": "asthma"}, by="condition", size=1)["hits"][
        "hits"
    ]
    assert hit["_id"] == "0"

    roll_back(client, notes)
    assert abandon(client, notes) == 2
    assert sorted(_spaces(client, notes)) == before
    source = client.get(index=notes, id="0")["_source"]
    assert sorted(name for name in source if name.startswith("trifuse_")) == before


def test_what_becomes_of_vectors_of_parts_is_said(
    client: OpenSearch,
    notes: str,
    parts_encoder: Encoder,
    other: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _attached(client, notes, parts_encoder)
    say_of_parts(client, notes)
    assert capsys.readouterr().err == ""
    add_part_fields(client, notes, ["title", "condition"])
    new = load_encoder(str(other)).space
    begin(client, notes, new, text=("name", "body"), parts=("title", "context"), accept_version_bump=True)
    say_of_parts(client, notes)
    said = capsys.readouterr().err
    assert "vectors of single parts are made anew as well: of title\n" in said
    assert "there are no new vectors of condition, for the new texts have no such part" in said


def test_a_copy_has_new_vectors_of_parts_and_keeps_them_to_itself(
    client: OpenSearch,
    notes: str,
    parts_encoder: Encoder,
    other: Path,
    embed_all: Callable[..., Any],
    enqueue_for: Callable[..., Enqueue],
) -> None:
    new = load_encoder(str(other))
    enqueue = enqueue_for(parts_encoder, new)
    _attached(client, notes, parts_encoder)
    add_part_fields(client, notes, ["condition"])
    embed_all(notes, parts_encoder)
    alias = f"{notes}-alias"
    client.indices.put_alias(index=notes, name=alias)
    before = client.indices.get_mapping(index=notes)
    assert begin(client, alias, new.space) == "begin"
    assert part_vectors(client, alias) == PartVectors(follow=("condition",))
    filled = fill(client, alias, enqueue, switch=True)
    assert (filled.switched, filled.embedded, filled.pending) == (True, 2, 0)
    (copy,) = client.indices.get_alias(name=alias)
    assert sorted(_spaces(client, copy)) == ["trifuse_vector_2", "trifuse_vector_2_condition"]
    source = client.get(index=copy, id="0")["_source"]
    assert source["trifuse_vector_2_condition"] == pytest.approx([0, 0, 1])

    client.index(index=alias, id="0", body={**source, "name": "pain"}, refresh=True)
    roll_back(client, alias)
    assert client.indices.get_mapping(index=notes) == before
    source = client.get(index=notes, id="0")["_source"]
    assert (source["name"], "trifuse_vector_2_condition" in source) == ("pain", False)
    assert sorted(source["trifuse"]["fields"]) == ["trifuse_vector", "trifuse_vector_condition"]


def test_a_copy_of_an_alias_leaves_the_vectors_of_parts_behind(
    client: OpenSearch,
    notes: str,
    parts_encoder: Encoder,
    plain_encoder: Encoder,
    embed_all: Callable[..., Any],
    enqueue_for: Callable[..., Enqueue],
) -> None:
    _attached(client, notes, parts_encoder)
    add_part_fields(client, notes, parts_encoder.space.parts)
    embed_all(notes, parts_encoder)
    alias = f"{notes}-alias"
    client.indices.put_alias(index=notes, name=alias)

    enqueue = enqueue_for(parts_encoder, plain_encoder)
    assert begin(client, alias, plain_encoder.space) == "begin"
    assert fill(client, alias, enqueue, switch=True).switched
    (copy,) = client.indices.get_alias(name=alias)
    assert list(_spaces(client, copy)) == ["trifuse_vector_2"]
    source = client.get(index=copy, id="0")["_source"]
    assert [name for name in source if name.startswith("trifuse_vector")] == ["trifuse_vector_2"]
