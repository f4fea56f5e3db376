"""An adapter from labelled documents: learned, exported, resumed; refused where nothing can be learned."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trifuse.encoder import load_encoder
from trifuse.encoder.adapters import load_adapter
from trifuse.encoder.errors import CheckpointInvalid, TrainingInvalid
from trifuse.encoder.onnx import quantize_graph
from trifuse.encoder.training.aspects.given import base_of, usable
from trifuse.encoder.training.aspects.graph import DOWN, UP, with_updates
from trifuse.encoder.training.aspects.labelled import LabelledDocument
from trifuse.encoder.training.aspects.recipe import Recipe
from trifuse.encoder.training.aspects.report import Learned
from trifuse.encoder.training.aspects.train import train_aspects

pytestmark = pytest.mark.train

RECIPE = Recipe(
    epochs=12,
    batch=2,
    rank=4,
    trained_layers=1,
    learning_rate=1e-2,
    temperature=0.05,
    instructions={"population": "disease {text}", "intervention": "treatment {text}", "outcome": "{text}"},
)


class _Stopped(Exception):
    """A run that is ended from outside."""


def _stopped_run(base: Path, documents: list[LabelledDocument], folder: Path) -> None:
    """Begin a run, and end it after its third step; each step is saved."""

    def stop(stage: str, done: int, of: int, said: str) -> None:
        if (stage, done) == ("training", 3):
            raise _Stopped

    with pytest.raises(_Stopped):
        train_aspects(str(base), documents, RECIPE, folder, name="a", save_every=1, progress=stop)


def test_an_adapter_asks_for_what_it_learned(
    base: Path, organs: list[LabelledDocument], tmp_path: Path
) -> None:
    stages: dict[str, tuple[int, int, str]] = {}
    report = train_aspects(
        str(base),
        [*organs[:6], LabelledDocument("empty", "", ())],
        RECIPE,
        tmp_path / "aspects",
        name="organs",
        dev=organs[6:],
        progress=lambda stage, done, of, said: stages.update({stage: (done, of, said)}),
    )
    (trained,) = report.trained
    assert (report.documents, report.unusable, report.dev_documents) == (6, 1, 2)
    assert trained.aspects == ("population", "intervention")  # no document tells of an outcome
    assert report.parity >= 0.9999
    assert len(trained.loss) == 12 * 3
    assert len(trained.dev) == 13
    assert trained.dev[trained.best_epoch or 0][1] == 1.0  # all first sentences have the aspect alone
    assert trained.dev[0][1] < 1.0
    # A minibatch's texts and the vectors of both splits: 8 organs, of which "a trial" is the same.
    assert report.sentences == 3 * 8 + 1
    assert [(stage, done, of) for stage, (done, of, _) in stages.items()] == [
        ("sentences", 25, 25),
        ("training", 36, 36),
    ]
    dev = " / ".join(f"{100 * share:.1f}" for share in trained.dev[-1])
    assert stages["training"][2] == f"epoch 12 of 12, loss {trained.loss[-1]:.3f}, dev {dev} %"

    encoder = load_adapter(str(tmp_path / "aspects"))
    plain = load_encoder(str(base))
    assert encoder.space == plain.space
    assert report.revision == encoder.revision
    for document in organs:
        vectors = plain.encode_documents([each.text for each in document.candidates])
        for aspect, place in (("intervention", 0), ("population", 1)):
            query = encoder.encode_queries([document.title], aspect)[0]
            assert int((vectors @ query).argmax()) == place

    written = json.loads((tmp_path / "aspects" / "training.json").read_text())
    assert written == json.loads(json.dumps(report.as_dict()))
    assert not (tmp_path / "aspects" / "state").exists()
    described = encoder.adapter.description
    assert described.files == {"adapter.onnx_adapter": trained.sha256}
    assert (described.rank, described.seed, described.licence) == (4, 0, "MIT")


def test_the_same_run_gives_the_same_file_and_another_seed_another_one(
    base: Path, organs: list[LabelledDocument], tmp_path: Path
) -> None:
    def sha256(name: str, recipe: Recipe) -> str:
        report = train_aspects(str(base), organs, recipe, tmp_path / name, name=name)
        return report.trained[0].sha256

    recipe = replace(RECIPE, epochs=1)
    first = sha256("first", recipe)
    assert sha256("second", recipe) == first
    assert sha256("third", replace(recipe, seed=1)) != first


def test_updates_for_each_aspect_alone(base: Path, organs: list[LabelledDocument], tmp_path: Path) -> None:
    recipe = replace(RECIPE, epochs=2, per_aspect=True)
    report = train_aspects(str(base), organs, recipe, tmp_path / "aspects", name="organs")
    assert [each.aspects for each in report.trained] == [("population",), ("intervention",)]
    assert [each.best_epoch for each in report.trained] == [None, None]
    encoder = load_adapter(str(tmp_path / "aspects"))
    assert encoder.aspects == ("population", "intervention")
    files = encoder.adapter.description.files
    assert list(files) == ["population.onnx_adapter", "intervention.onnx_adapter"]
    assert len(set(files.values())) == 2


def test_each_aspect_is_learned_from_what_labels_it(
    base: Path, organs: list[LabelledDocument], tmp_path: Path
) -> None:
    """Four documents are asked for one aspect, four for another; their sentences are labelled for both."""
    documents = [
        each._replace(asked=("intervention",), source="a")
        if place < 4
        else each._replace(asked=("population",), source="b")
        for place, each in enumerate(organs)
    ]
    report = train_aspects(
        str(base),
        [*documents[:3], *documents[4:7]],
        replace(RECIPE, epochs=1),
        tmp_path / "aspects",
        name="organs",
        dev=[documents[3], documents[7]],
    )
    (trained,) = report.trained
    assert trained.aspects == ("population", "intervention")
    assert report.learned == (
        Learned(("intervention",), ("a",), documents=3, dev_documents=1),
        Learned(("population",), ("b",), documents=3, dev_documents=1),
    )
    assert report.sizes.requests == 6
    assert len(trained.loss) == 2 + 2  # three documents in minibatches of two, apart
    assert {aspect: of.requests for aspect, of in trained.dev_of_aspects.items()} == {
        "population": 1,
        "intervention": 1,
    }
    written = json.loads((tmp_path / "aspects" / "training.json").read_text())
    assert written["learned"][1]["sources"] == ["b"]
    assert set(written["trained"][0]["dev_of_aspects"]["population"]) == {"requests", "top1", "specific"}


def test_a_resumed_run_gives_what_it_would_have_given(
    base: Path, organs: list[LabelledDocument], tmp_path: Path
) -> None:
    recipe = replace(RECIPE, epochs=3)
    options: dict[str, Any] = {"dev": organs[6:], "save_every": 2}
    whole = train_aspects(str(base), organs[:6], recipe, tmp_path / "whole", name="organs", **options)

    def stop(stage: str, done: int, of: int, said: str) -> None:
        if (stage, done) == ("training", 5):
            raise _Stopped

    with pytest.raises(_Stopped):
        train_aspects(
            str(base), organs[:6], recipe, tmp_path / "parts", name="organs", progress=stop, **options
        )
    told: list[int] = []
    resumed = train_aspects(
        str(base),
        organs[:6],
        recipe,
        tmp_path / "parts",
        name="organs",
        resume=True,
        progress=lambda stage, done, of, said: told.append(done) if stage == "training" else None,
        **options,
    )
    assert told == [5, 6, 7, 8, 9]
    assert resumed.trained == whole.trained


def test_a_run_is_not_resumed_on_something_else(
    base: Path, organs: list[LabelledDocument], tmp_path: Path
) -> None:
    _stopped_run(base, organs, tmp_path / "a")
    for documents, recipe, said in (
        (organs[1:], RECIPE, "documents"),
        (organs, replace(RECIPE, rank=2), "rank 4"),
    ):
        with pytest.raises(CheckpointInvalid, match=f"was begun with .*{said}"):
            train_aspects(str(base), documents, recipe, tmp_path / "a", name="a", resume=True)


def test_a_run_is_not_resumed_for_other_aspects(
    base: Path, organs: list[LabelledDocument], tmp_path: Path
) -> None:
    """Its state would stand there unread, and be deleted at the end."""

    _stopped_run(base, organs, tmp_path / "a")
    state = tmp_path / "a" / "state" / "population-intervention"
    before = sorted(path.name for path in state.iterdir())
    fewer = replace(RECIPE, instructions={"population": "{text}"})
    for recipe, said in (
        (fewer, "for population-intervention (now population)"),
        (replace(RECIPE, per_aspect=True), "for population-intervention (now intervention, population)"),
    ):
        with pytest.raises(CheckpointInvalid, match=re.escape(said)):
            train_aspects(str(base), organs, recipe, tmp_path / "a", name="a", resume=True)
    assert sorted(path.name for path in state.iterdir()) == before


def test_a_state_without_its_random_numbers_is_damaged(
    base: Path, organs: list[LabelledDocument], tmp_path: Path
) -> None:
    """Dropout would be drawn anew: another result, without a word."""

    _stopped_run(base, organs, tmp_path / "a")
    (file,) = (tmp_path / "a" / "state").rglob("random_states_0.pkl")
    file.write_bytes(file.read_bytes()[:20])
    with pytest.raises(CheckpointInvalid, match=r"step-\d+ is damaged .*: delete it"):
        train_aspects(str(base), organs, RECIPE, tmp_path / "a", name="a", resume=True)


def test_an_adapter_for_vectors_that_are_rounded_runs_over_both_graphs(
    base: Path, organs: list[LabelledDocument], make_bert: Callable[..., Path], tmp_path: Path
) -> None:
    documents = make_bert(tmp_path / "documents", name="tiny-bert-int8", precision="int8")
    quantize_graph(base / "model.onnx", documents / "model.onnx")
    recipe = replace(RECIPE, epochs=1)
    with pytest.raises(TrainingInvalid, match=r"are rounded, so that nothing can be trained .*\(--base\)"):
        train_aspects(str(documents), organs, recipe, tmp_path / "aspects", name="organs")
    report = train_aspects(
        str(documents), organs, recipe, tmp_path / "aspects", name="organs", base=str(base)
    )
    encoder = load_adapter(str(tmp_path / "aspects"))
    assert encoder.space == load_encoder(str(documents)).space
    graphs = encoder.adapter.description.graphs
    assert {precision: graph.base for precision, graph in graphs.items()} == {
        "fp32": str(base),
        "int8": str(documents),
    }
    assert report.base == str(base)
    assert report.rounded is not None
    assert report.rounded >= 0.99
    assert encoder.precision == "int8"
    assert load_adapter(str(tmp_path / "aspects"), precision="fp32").revision != encoder.revision
    with pytest.raises(ValueError, match="has no graph in fp16: take one of fp32, int8"):
        load_adapter(str(tmp_path / "aspects"), precision="fp16")


def test_a_base_of_another_kind_of_vectors_is_refused(
    base: Path, organs: list[LabelledDocument], make_model: Callable[..., Path], tmp_path: Path
) -> None:
    other = make_model(tmp_path / "other", {"heart": (1.0, 2.0)})
    with pytest.raises(
        TrainingInvalid, match=r"has dimension 32, the documents' space 'tiny-.*' has 2: give"
    ):
        train_aspects(str(other), organs, RECIPE, tmp_path / "aspects", name="a", base=str(base))


def test_documents_without_an_aspect_teach_nothing(
    base: Path, labelled: Callable[..., LabelledDocument], tmp_path: Path
) -> None:
    with pytest.raises(TrainingInvalid, match="there is nothing to learn from"):
        train_aspects(str(base), [labelled("1", "", "C")], RECIPE, tmp_path / "aspects", name="a")


def test_only_the_aspects_of_the_recipe_count(labelled: Callable[..., LabelledDocument]) -> None:
    documents = [labelled("1", "PC", ""), labelled("2", "C"), labelled("3")]
    found, unusable = usable(documents, RECIPE)
    assert [each.id for each in found] == ["1"]
    assert found[0].candidates[0].aspects == {"population"}
    assert unusable == 2


def test_the_model_that_a_known_one_was_rounded_from() -> None:
    assert base_of("bge-small-en-v1.5-int8") == "bge-small-en-v1.5"
    assert base_of("e5-small-v2") == "e5-small-v2"


def test_a_recipe_refuses_what_nothing_can_be_trained_by() -> None:
    for change, said in (
        ({"epochs": 0}, "epochs=0"),
        ({"dropout": 1.0}, "dropout=1.0"),
        ({"warmup": float("nan")}, "warmup=nan"),
        ({"instructions": {"outcome": "results"}}, r"outcome is 'results', and lacks \{text\}"),
    ):
        with pytest.raises(TrainingInvalid, match=said):
            Recipe(**change)  # type: ignore[arg-type]


def test_a_graph_that_is_no_plain_export_is_refused(make_model: Callable[..., Path], tmp_path: Path) -> None:
    model = make_model(tmp_path / "model", {"heart": (1.0, 2.0)})
    with pytest.raises(TrainingInvalid, match=r"no nodes of the matrices encoder.layer.0.output.dense"):
        with_updates(model / "model.onnx", ["encoder.layer.0.output.dense"])


@pytest.mark.parametrize("rounded", [False, True])
def test_the_graph_without_updates_gives_what_the_base_gives(
    base: Path, tmp_path: Path, rounded: bool
) -> None:
    import onnxruntime

    source, graph = base / "model.onnx", tmp_path / "graph.onnx"
    if rounded:
        source = tmp_path / "rounded.onnx"
        quantize_graph(base / "model.onnx", source)
    matrices = ["encoder.layer.1.output.dense", "encoder.layer.0.attention.self.query"]
    graph.write_bytes(with_updates(source, matrices))
    ids = np.array([[2, 12, 5, 3], [2, 13, 3, 0]])
    feed = {"input_ids": ids, "attention_mask": (ids > 0).astype(np.int64), "token_type_ids": ids * 0}
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    sessions = [onnxruntime.InferenceSession(str(path), options) for path in (graph, source)]
    found, expected = (session.run(None, feed)[0] for session in sessions)
    assert found == pytest.approx(expected, abs=1e-6)
    updates = {each.name for each in sessions[0].get_overridable_initializers()}
    assert updates == {f"{matrix}{end}" for matrix in matrices for end in (DOWN, UP)}
