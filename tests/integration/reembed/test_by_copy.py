"""An alias embedded anew by a copy of its index."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace, serving_field, spaces_in_meta
from trifuse.indexer.attach import detach
from trifuse.indexer.errors import CopyRefused, ReembedRefused
from trifuse.indexer.reembed import abandon, begin, fill, finish, roll_back, stage_of, switch
from trifuse.indexer.reembed.standing import candidate_of
from trifuse.indexer.sentences import attach_sentences

SECOND = "trifuse_vector_2"
OLD = EncoderSpace("test-old", "1", "fp32", "cls", 4, True, "cosine")
NEW = EncoderSpace("test-new", "1", "fp32", "cls", 8, True, "cosine")


@pytest.fixture
def alias(client: OpenSearch, titles: str) -> Iterator[str]:
    name = f"{titles}-alias"
    client.indices.put_alias(index=titles, name=name)
    yield name
    for index in client.indices.get(index=f"{titles}*", params={"expand_wildcards": "all"}):
        client.indices.delete(index=index)


def _behind(client: OpenSearch, alias: str) -> str:
    (index,) = client.indices.get_alias(name=alias)
    return str(index)


def test_the_alias_moves_when_the_copy_is_complete_and_back_with_what_was_written(
    client: OpenSearch, titles: str, alias: str, workers: Any
) -> None:
    assert begin(client, alias, NEW) == "begin"
    filled = fill(client, alias, workers)
    assert (filled.pending, filled.embedded, filled.failed, filled.switched) == (0, 3, 0, False)
    assert _behind(client, alias) == titles
    stage = stage_of(client, alias)
    assert (stage.step, stage.space.encoder, stage.other) == ("filling", OLD, SECOND)
    client.update(index=alias, id="1", body={"doc": {"title": "The mole"}})  # meanwhile, by the owner
    assert begin(client, alias, NEW) == "resume"
    assert fill(client, alias, workers, switch=True).switched

    copy = _behind(client, alias)
    assert copy != titles
    meta = client.indices.get_mapping(index=copy)[copy]["mappings"]["_meta"]
    assert spaces_in_meta(meta)[SECOND].encoder == NEW
    assert spaces_in_meta(meta).keys() == {SECOND}
    assert serving_field(meta) == SECOND
    source = client.get(index=alias, id="1")["_source"]
    assert source[SECOND] == pytest.approx(workers.new.vector("The mole"))
    assert VECTOR_FIELD not in source

    client.update(index=alias, id="2", body={"doc": {"title": "The dock"}})
    roll_back(client, alias)
    assert _behind(client, alias) == titles
    source = client.get(index=alias, id="2")["_source"]
    assert source["title"] == "The dock"
    assert SECOND not in source


def test_finishing_leaves_the_new_index_alone_and_abandoning_the_old_one(
    client: OpenSearch, titles: str, alias: str, workers: Any
) -> None:
    begin(client, alias, NEW)
    with pytest.raises(CopyRefused):
        finish(client, alias)
    abandon(client, alias)
    assert _behind(client, alias) == titles
    assert stage_of(client, alias).step == "none"
    begin(client, alias, NEW)
    fill(client, alias, workers)
    client.index(index=alias, id="9", body={"title": "The mole"})  # since it was filled, by the owner
    assert switch(client, alias, workers).switched
    assert client.get(index=alias, id="9")["_source"][SECOND] == pytest.approx(workers.new.vector("The mole"))
    assert stage_of(client, alias).step == "switched"
    with pytest.raises(
        ReembedRefused, match=r"by 'test-new' of title, with a way .* --finish` or `--rollback"
    ):
        begin(client, alias, OLD)
    finish(client, alias)
    assert stage_of(client, alias).step == "none"
    assert not client.indices.exists(index=titles)
    assert begin(client, alias, NEW) == "current"


def test_detaching_deletes_sentences_that_the_copy_has_not_taken_over_yet(
    client: OpenSearch, titles: str, alias: str, workers: Any
) -> None:
    """No sync has run since the index was deleted that they name."""
    (sentences,) = attach_sentences(client, alias, text=["title"], encoder=OLD)
    begin(client, alias, NEW)
    assert fill(client, alias, workers, switch=True).switched
    finish(client, alias)
    meta = client.indices.get_mapping(index=sentences)[sentences]["mappings"]["_meta"]
    assert meta["trifuse"]["of"]["index"] == titles
    assert detach(client, alias).deleted == (sentences,)
    assert not client.indices.exists(index=sentences)


def test_the_copied_index_is_deleted_only_after_a_yes(
    services: Any, client: OpenSearch, titles: str, alias: str, workers: Any
) -> None:
    begin(client, alias, NEW)
    assert fill(client, alias, workers, switch=True).switched

    def step(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [Path(sys.executable).with_name("trifuse"), "reembed", alias, *arguments],
            env=os.environ | services.environ(),
            input="n\n",
            capture_output=True,
            text=True,
            timeout=60,
        )

    done = step("--switch")  # again: it says what owners must know
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"the alias {alias} stands for {_behind(client, alias)}: have readers and")
    assert f"{titles} takes no writes any more" in done.stdout
    with pytest.raises(ReembedRefused, match="--rollback`, then compare"):
        candidate_of(client, alias)
    done = step("--finish")
    assert done.returncode == 1
    assert titles in done.stderr
    assert client.indices.exists(index=titles)
    assert step("--finish", "--yes").returncode == 0
    assert not client.indices.exists(index=titles)


def test_an_alias_may_be_done_in_place_as_well(
    client: OpenSearch, titles: str, alias: str, workers: Any
) -> None:
    assert begin(client, alias, NEW, in_place=True) == "begin"
    assert begin(client, alias, NEW) == "resume"  # goes on where it is
    assert fill(client, alias, workers, switch=True).switched
    assert _behind(client, alias) == titles
    assert stage_of(client, titles).serving == SECOND


def test_failed_documents_of_a_copy_are_named(
    client: OpenSearch, titles: str, alias: str, workers: Any
) -> None:
    workers.new.rejects["The quay"] = "too odd"
    begin(client, alias, NEW)
    filled = fill(client, alias, workers, switch=True)
    assert (filled.switched, filled.failed, filled.failures) == (True, 1, ("2: too odd",))
