"""`trifuse outcome` and `trifuse map` on a real index with vectors of three numbers."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch

from trifuse.deploy.errors import MapInvalid
from trifuse.deploy.map import read_documents
from trifuse.deploy.outcome.split import split_of
from trifuse.encoder.marks import VECTOR_FIELD, mark
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.templates import TextTemplate, build_text, text_hash
from trifuse.indexer.mapping import index_body
from trifuse.indexer.stored_vectors import served_vectors

pytestmark = pytest.mark.integration
for extra in ("sklearn", "plotly", "matplotlib"):
    pytest.importorskip(extra)

TRIFUSE = Path(sys.executable).with_name("trifuse")
ENCODER = EncoderSpace("tiny", "r", "fp32", "cls", 3, True, "cosine")
SPACE = Space(ENCODER, TextTemplate(("brief_title", "conditions")))
PROPERTIES = {
    "brief_title": {"type": "text"},
    "conditions": {"type": "keyword"},
    "status": {"type": "keyword"},
    "why_stopped": {"type": "text"},
}
EVIL = "<script>alert(1)</script>"


@dataclass(frozen=True)
class Trial:
    """A document; its vector tells how it ended (by the second number), and its condition (by the others)."""

    id: str
    status: str
    condition: str

    @property
    def source(self) -> dict[str, Any]:
        """What its owner wrote."""
        title = f"{self.condition} trial {self.id} {EVIL}"
        return {"brief_title": title, "conditions": [self.condition], "status": self.status}

    @property
    def vector(self) -> list[float]:
        """Unit norm: (cos, sin) by how it ended, on the axis of its condition."""
        angle = {"Completed": 0.5, "TERMINATED": -0.5}.get(self.status, 0.1) + int(self.id[3:]) / 1e4
        along, across = float(np.cos(angle)), float(np.sin(angle))
        return [along, across, 0.0] if self.condition == "asthma" else [0.0, across, along]


TRIALS = [
    Trial(
        f"NCT{number:08}",
        ("Completed", "TERMINATED", "Completed", "RECRUITING")[number % 4],
        ("asthma", "stroke")[number % 8 // 4],
    )
    for number in range(160)
]


def write(client: OpenSearch, index: str, trials: Sequence[Trial], space: Space = SPACE) -> None:
    """An index with vectors, as a worker leaves it; a last document has none."""
    body = index_body(PROPERTIES, spaces={VECTOR_FIELD: space})
    client.indices.create(index=index, body=body)
    lines: list[Mapping[str, Any]] = []
    for trial in trials:
        hash_ = text_hash(build_text(trial.source, space.template))
        document = trial.source | {VECTOR_FIELD: trial.vector} | mark(VECTOR_FIELD, space.id, hash_)
        lines += [{"index": {"_id": trial.id}}, document]
    lines += [{"index": {"_id": "NCT99999999"}}, {"brief_title": "no vector yet", "status": "COMPLETED"}]
    assert not client.bulk(index=index, body=lines, refresh=True)["errors"]


@pytest.fixture
def index(client: OpenSearch, index_name: str) -> str:
    """160 trials in two groups by condition."""
    write(client, index_name, TRIALS)
    return index_name


@pytest.fixture
def run(services: Any, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`run("map", ...)`: a command, in a folder of its own."""

    def invoke(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [TRIFUSE, *arguments],
            env=os.environ | services.environ(),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=180,
        )

    return invoke


@pytest.fixture
def done(run: Callable[..., subprocess.CompletedProcess[str]]) -> Callable[..., Any]:
    """`done("map", ...)`: the JSON of a command that goes well."""

    def invoke(*arguments: str) -> Any:
        ended = run(*arguments, "--json")
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)

    return invoke


def test_trained_and_predicted(index: str, done, run, tmp_path: Path) -> None:
    """The vectors tell how a trial ended: perfectly; who is neither positive nor negative isn't judged."""
    told = done("outcome", "train", index, "--out", "model.json", "--plot", "curve.png")
    ended = [trial for trial in TRIALS if trial.status != "RECRUITING"]
    tests = [trial for trial in ended if split_of(trial.id) == "test"]
    positive = sum(trial.status == "Completed" for trial in tests)
    assert told["trials"]["test"] == {"positive": positive, "negative": len(tests) - positive}
    assert told["methods"]["vectors"]["roc_auc"]["mean"] == 1
    assert told["methods"]["base rate"]["roc_auc"]["mean"] == 0.5
    assert told["differences"]["base rate"]["roc_auc"]["mean"] == 0.5
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    found = done("outcome", "predict", index, "model.json", "--csv", "all.csv")
    by_id = {each["id"]: each["probability"] for each in found["predictions"]}
    assert set(by_id) == {trial.id for trial in TRIALS}
    highest = max(by_id[trial.id] for trial in TRIALS if trial.status == "TERMINATED")
    assert highest < min(by_id[trial.id] for trial in TRIALS if trial.status == "Completed")
    with (tmp_path / "all.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["id"]: float(row["probability"]) for row in rows} == pytest.approx(by_id, abs=1e-6)
    some = done("outcome", "predict", index, "model.json", "--filter", '{"term": {"status": "RECRUITING"}}')
    assert len(some["predictions"]) == 40
    one = run("outcome", "predict", index, "model.json", "--id", TRIALS[0].id, "--id", "NCT99999999")
    assert one.returncode == 1
    assert TRIALS[0].id in one.stdout
    assert "no vector of NCT99999999" in one.stderr


def test_labels_and_parts_from_files(index: str, done, run, tmp_path: Path) -> None:
    """The parts are those of the files; a label without a document is counted."""
    for part, numbers in (("train", range(0, 80)), ("valid", range(80, 100)), ("test", range(100, 160))):
        rows = [f"NCT{number:08},{int(number % 4 != 1)}\n" for number in numbers]
        (tmp_path / f"{part}.csv").write_text("nct_id,label\n" + "".join(rows))
    (tmp_path / "more.csv").write_text("id,label,split\nNCT77777777,1,test\n")
    files = [f"--labels={part}={part}.csv" for part in ("train", "valid", "test")]
    told = done("outcome", "train", index, "--out", "model.json", *files, "--labels", "more.csv")
    assert told["trials"] == {
        "train": {"positive": 60, "negative": 20},
        "valid": {"positive": 15, "negative": 5},
        "test": {"positive": 45, "negative": 15},
    }
    assert told["labels_without_vector"] == 1
    wrong = run("outcome", "train", index, "--out", "model.json", "--labels", "missing.csv")
    assert wrong.returncode == 2


def test_baselines_learn_from_the_same_texts(index: str, done) -> None:
    """The texts don't tell how a trial ended; those of the flat encoder are as long as TF-IDF's."""
    told = done("outcome", "train", index, "--out", "model.json", "--baselines")
    assert list(told["methods"]) == ["base rate", "vectors", "tf-idf", "word vectors", "flat"]
    assert told["methods"]["tf-idf"]["roc_auc"]["mean"] < 0.9 < told["methods"]["vectors"]["roc_auc"]["mean"]


def test_another_space_and_texts_that_tell(client: OpenSearch, index: str, done, run) -> None:
    """The same encoder with other fields is another space; vectors of `why_stopped` are refused."""
    done("outcome", "train", index, "--out", "model.json")
    other, told = f"{index}-other", f"{index}-told"
    write(client, other, TRIALS[:20], Space(ENCODER, TextTemplate(("brief_title",))))
    write(client, told, TRIALS[:20], Space(ENCODER, TextTemplate(("brief_title", "why_stopped"))))
    ended = run("outcome", "predict", other, "model.json")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "trifuse outcome train" in ended.stderr
    ended = run("outcome", "train", told, "--out", "x.json")
    assert ended.returncode == 1
    assert "why_stopped" in ended.stderr
    ended = run("outcome", "train", index, "--out", "x.json", "--label-field", "nothing")
    assert ended.returncode == 1
    assert "--label-field" in ended.stderr


def test_a_map_of_two_groups(index: str, done, tmp_path: Path) -> None:
    """Both files; the groups are the clusters, named by what sets them apart."""
    told = done("map", index, "--out", "map.html", "--out", "map.png", "--clusters", "2")
    assert (told["documents"], told["drawn"]) == (160, 160)
    named = {point["id"]: told["clusters"][point["cluster"]]["name"] for point in told["points"]}
    for trial in TRIALS:
        assert trial.condition in named[trial.id]
    page = (tmp_path / "map.html").read_text("utf-8")
    assert EVIL not in page
    assert all(trial.id in page for trial in TRIALS)
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


def test_a_sample_coloured_by_a_field(client: OpenSearch, index: str) -> None:
    """The same sample for the same seed, another for another; a larger one holds the smaller."""
    served = served_vectors(client, index)
    found = read_documents(client, served, limit=20, seed=3, color="conditions")
    assert (found.total, len(found.ids)) == (160, 20)
    trials = {trial.id: trial for trial in TRIALS}
    assert [list(values) for values in found.values] == [[trials[each].condition] for each in found.ids]
    assert found.vectors == pytest.approx(np.array([trials[each].vector for each in found.ids]))
    assert found.titles[0] == f"{trials[found.ids[0]].condition} trial {found.ids[0]} {EVIL}"
    assert set(found.ids) < set(read_documents(client, served, limit=30, seed=3).ids)
    assert set(found.ids) != set(read_documents(client, served, limit=20, seed=4).ids)


def test_the_filter_of_an_alias(client: OpenSearch, index: str, done) -> None:
    """An alias shows only what its filter lets through."""
    body = {
        "actions": [
            {"add": {"index": index, "alias": f"{index}-a", "filter": {"term": {"conditions": "stroke"}}}}
        ]
    }
    client.indices.update_aliases(body=body)
    told = done("map", f"{index}-a", "--out", "map.png", "--color", "conditions")
    assert {point["color"] for point in told["points"]} == {"stroke"}
    assert {point["id"] for point in told["points"]} == {t.id for t in TRIALS if t.condition == "stroke"}


def test_a_map_of_nothing(client: OpenSearch, index_name: str, run) -> None:
    """No index, no vectors, too few, a file of another kind: each is said, and nothing is written."""
    ended = run("map", index_name, "--out", "map.html")
    assert (ended.returncode, "no index or alias" in ended.stderr) == (1, True)
    client.indices.create(index=index_name, body={"mappings": {"properties": PROPERTIES}})
    ended = run("map", index_name, "--out", "map.html")
    assert (ended.returncode, "trifuse attach" in ended.stderr) == (1, True)
    write(client, f"{index_name}-few", TRIALS[:3])
    ended = run("map", f"{index_name}-few", "--out", "map.html")
    assert (ended.returncode, "3 documents have a vector" in ended.stderr) == (1, True)
    ended = run("map", f"{index_name}-few", "--out", "map.pdf")
    assert (ended.returncode, ".html" in ended.stderr) == (2, True)


def test_what_cant_be_drawn_or_predicted_is_said(index: str, run, tmp_path: Path) -> None:
    """A field that nothing has, ids that nothing can have, seeds and folders that there aren't."""
    page = str(tmp_path / "map.html")
    assert run("map", index, "--out", page, "--seed", "-1").returncode == 2
    assert run("map", index, "--out", page, "--seed", str(2**32)).returncode == 2
    nothing = run("map", index, "--out", page, "--color", "nothing")
    assert nothing.returncode == 1
    assert "has a value in the field 'nothing'" in nothing.stderr
    model = str(tmp_path / "model.json")
    assert run("outcome", "train", index, "--out", model, "--seed", "-1").returncode == 2
    assert run("outcome", "train", index, "--out", model).returncode == 0
    empty = run("outcome", "predict", index, model, "--id", "", "--json")
    assert empty.returncode == 1
    assert json.loads(empty.stdout)["predictions"] == []
    nowhere = run("outcome", "predict", index, model, "--csv", str(tmp_path / "none" / "x.csv"))
    assert nowhere.returncode == 2
    assert "there is no folder" in " ".join(nowhere.stderr.split())


def test_documents_that_are_deleted_meanwhile(
    client: OpenSearch, index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the list of vectors and their reading all but one are deleted."""
    from trifuse.deploy.map import reading

    found = list(reading.places(client, served_vectors(client, index)))

    def then_deleted(*_: object, **__: object):
        for place, _ in found[1:]:
            client.delete(index=place.index, id=place.id, routing=place.routing)
        return iter(found)

    monkeypatch.setattr(reading, "places", then_deleted)
    with pytest.raises(MapInvalid, match="1 documents have a vector"):
        reading.read_documents(client, served_vectors(client, index), limit=5000)
