"""`trifuse aspect evaluate`, on a model whose numbers are worked out by hand."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from trifuse.deploy.cli import aspect
from trifuse.deploy.errors import UnreadableCorpus
from trifuse.encoder.aspects import INSTRUCTIONS
from trifuse.encoder.errors import AspectUnknown, LabelsInvalid, ModelNotFound, SpaceMismatch
from trifuse.ranker.errors import NothingToEvaluate

BUILDER = Path(__file__).parents[3] / "benchmarks" / "tiny_model.py"
# "Zinc trial . Men . Drug . Pain ." by sentence: the title, then a sentence of each aspect.
ROW = {
    "pmid": "1",
    "tokens": ["Zinc", "trial", ".", "Men", ".", "Drug", ".", "Pain", "."],
    "labels": ["I", "N", "N", "P", "N", "I", "N", "O", "N"],
    "sent_ends": [3, 5, 7, 9],
    "split": "test",
}


def _word_of(aspect: str) -> str:
    """The first word of its wording that no other aspect's has."""
    others = {word for name, said in INSTRUCTIONS.items() if name != aspect for word in said.split()}
    return next(word for word in INSTRUCTIONS[aspect].split() if word not in others)


WORDS: dict[str, tuple[float, ...]] = {
    **{
        "Men.": (1.0, 0.0, 0.0),
        "Drug.": (0.0, 1.0, 0.0),
        "Pain.": (0.0, 0.0, 1.0),
        "Zinc": (0.0, 0.5, 0.1),
    },
    "[UNK]": (0.01, 0.01, 0.01),
    _word_of("population"): (5.0, 0.0, 0.0),
    _word_of("intervention"): (0.0, 5.0, 0.0),
    _word_of("outcome"): (0.0, 0.0, 5.0),
}


@pytest.fixture
def model(tmp_path: Path) -> str:
    """Each aspect has an axis; the title's `Zinc` is nearest to `Drug.`, and a wording is longer than it."""
    make_model = runpy.run_path(str(BUILDER))["make_model"]
    return str(make_model(tmp_path / "tiny", WORDS, max_tokens=64))


@pytest.fixture
def run() -> Callable[..., tuple[int, str, str]]:
    app = typer.Typer()
    aspect.register(app)

    @app.callback()
    def _group() -> None: ...

    def invoke(*arguments: str) -> tuple[int, str, str]:
        result = CliRunner().invoke(app, ["aspect", "evaluate", *arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout, result.stderr

    return invoke


def _file(folder: Path, *rows: dict[str, Any]) -> str:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_json_has_each_way_of_asking(run, model: str, tmp_path: Path) -> None:
    """The title finds the drug for all three requests; a wording finds each its own."""
    file = _file(tmp_path, ROW, ROW | {"pmid": "2", "tokens": ["Title"], "labels": ["N"], "sent_ends": [1]})
    status, output, said = run(file, "--encoder", model, "--json")
    found = json.loads(output)
    assert status == 0
    assert (found["encoder"], found["adapter"]) == ("tiny", None)
    assert found["aspects"] == ["population", "intervention", "outcome"]
    assert found["left_out"] == {"incomplete": 0, "without_candidates": 1, "unreadable_sentences": 0}
    generic, instruction = found["methods"]["generic"], found["methods"]["instruction"]
    assert [generic[key] for key in ("specific", "switching", "pairs", "documents")] == [
        pytest.approx(100 / 3), 0, 3, 1,
    ]  # fmt: skip
    assert [instruction[key] for key in ("top1", "specific", "switching", "possible")] == [100, 100, 100, 100]
    assert generic["per_aspect"]["intervention"]["top1"] == 100
    assert generic["per_aspect"]["outcome"]["top1"] == 0
    assert instruction["ci95"]["top1"] == [100, 100]
    assert "1 documents have no sentence after their title" in said
    assert "no adapter is known for tiny" in said


def test_an_adapter_is_measured_beside_its_base(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_adapter: Any
) -> None:
    """The title points to the drug; the adapter turns it to men for one aspect, to pain for another."""
    monkeypatch.setenv("TRIFUSE_CACHE", str(tmp_path / "cache"))
    # What is along the drug's axis is put nine times on another one.
    along_drug = [[0.0], [1.0], [0.0]]
    turns = {
        "population": (along_drug, [[9.0, 0.0, 0.0]]),
        "intervention": (along_drug, [[0.0, 0.0, 0.0]]),
        "outcome": (along_drug, [[0.0, 0.0, 9.0]]),
    }
    base = tiny_adapter.make_base(tmp_path / "base", WORDS, max_tokens=64)
    adapter = tiny_adapter.make_adapter(tmp_path / "aspects", base, turns, name="tiny-aspects")
    file = _file(tmp_path, ROW)
    status, output, said = run(file, "--encoder", str(base), "--adapter", str(adapter), "--json")
    found = json.loads(output)
    assert (status, found["adapter"]) == (0, "tiny-aspects")
    assert found["methods"]["lora"]["switching"] == 100
    assert found["methods"]["instruction"]["switching"] == 0  # its wording is the text alone
    assert "no adapter" not in said
    assert "not asked for" not in said
    assert "lora" in run(file, "--encoder", str(base), "--adapter", str(adapter))[1]
    other = runpy.run_path(str(BUILDER))["make_model"](tmp_path / "other", WORDS, name="other")
    with pytest.raises(SpaceMismatch, match="tiny-aspects"):
        run(file, "--encoder", str(other), "--adapter", str(adapter))
    file = _file(tmp_path, ROW | {"labels": ["I", "N", "N", "P", "N", "C", "N", "O", "N"]})
    said = run(file, "--encoder", str(base), "--adapter", str(adapter))[2]
    told = "not asked for, though labelled: comparator, which tiny-aspects doesn't know"
    assert told in " ".join(said.split())
    file = _file(tmp_path, ROW | {"labels": ["N", "N", "N", "C", "N", "N", "N", "N", "N"]})
    with pytest.raises(AspectUnknown, match=r"'tiny-aspects' knows .*, and .* is labelled for comparator"):
        run(file, "--encoder", str(base), "--adapter", str(adapter))


def test_a_table_for_people(run, model: str, tmp_path: Path) -> None:
    status, output, _ = run(_file(tmp_path, ROW), "--encoder", model)
    assert status == 0
    assert "1 documents, 3 requests (100.0 % have a sentence of that aspect alone), 3 pairs" in output
    assert {"generic", "instruction", "population", "100.0"} <= set(output.split())


def test_documents_of_the_test_split_or_of_another(run, model: str, tmp_path: Path) -> None:
    other = ROW | {"pmid": "2", "split": "train"}
    file = _file(tmp_path, ROW, other, other | {"pmid": "3"})

    def documents(*arguments: str) -> int:
        found = json.loads(run(file, "--encoder", model, "--json", *arguments)[1])
        return int(found["methods"]["generic"]["documents"])

    assert documents() == 1
    assert documents("--split", "train") == 2
    with pytest.raises(UnreadableCorpus, match=r"no document is of the split 'dev': .* test, train"):
        documents("--split", "dev")
    file = _file(tmp_path, other, ROW | {"split": ""})
    assert documents() == 2


def test_the_comparator_is_asked_for_where_it_is_labelled(run, model: str, tmp_path: Path) -> None:
    file = _file(tmp_path, ROW | {"labels": ["I", "N", "N", "P", "N", "C", "N", "O", "N"]})
    found = json.loads(run(file, "--encoder", model, "--json")[1])
    assert found["aspects"] == ["population", "intervention", "outcome", "comparator"]


def test_the_comparator_alone_is_asked_for_where_prompts_name_it(run, model: str, tmp_path: Path) -> None:
    """The methods name the comparator beside the intervention, the results neither."""
    folder = tmp_path / "evidence_inference"
    folder.mkdir()
    table = "PromptID,PMCID,Outcome,Intervention,Comparator\n9,1,pain,zinc,placebo\n"
    (folder / "prompts_merged.csv").write_text(table)
    row = {"pmcid": "1", "split": "test", "title": "A trial", "abstract": [{"text": "Zinc or placebo."}]}
    (folder / "articles_abstracts.jsonl").write_text(json.dumps(row))
    found = json.loads(run(str(folder), "--encoder", model, "--json")[1])
    assert found["aspects"] == ["comparator"]
    generic = found["methods"]["generic"]
    assert (generic["top1"], generic["specific"], generic["possible"]) == (100, 0, 0)
    assert (generic["switching"], generic["pairs"]) == (None, 0)


def test_a_release_is_read_from_its_folder(run, model: str, tmp_path: Path) -> None:
    root = tmp_path / "ebm_nlp_2_00"
    (root / "documents").mkdir(parents=True)
    labels = {"participants": "000100000", "interventions": "000001000", "outcomes": "000000010"}
    for part, name in (("train", "1"), ("test/gold", "2")):
        (root / "documents" / f"{name}.tokens").write_text("\n".join(ROW["tokens"]))
        for folder, of_tokens in labels.items():
            path = root / "annotations/aggregated/starting_spans" / folder / part / f"{name}.AGGREGATED.ann"
            path.parent.mkdir(parents=True)
            path.write_text("\n".join(of_tokens))
    found = json.loads(run(str(root), "--encoder", model, "--json")[1])
    assert found["methods"]["generic"]["documents"] == 1
    assert found["methods"]["instruction"]["switching"] == 100


def test_a_long_document_and_one_that_is_not_english(run, model: str, tmp_path: Path) -> None:
    """10,000 sentences more, and a text whose full stops are others: both are asked as any."""
    long = ROW | {
        "tokens": [*ROW["tokens"], *["Nothing", "."] * 10_000],
        "labels": [*ROW["labels"], *["N", "N"] * 10_000],
        "sent_ends": None,
    }
    tokens = ["亜鉛の試験。", "患者は百人。", "痛みが減った。"]
    other = {"pmid": "2", "tokens": tokens, "labels": ["I", "P", "O"], "split": "test"}
    status, output, _ = run(_file(tmp_path, long, other), "--encoder", model, "--json")
    found = json.loads(output)
    assert status == 0
    assert found["methods"]["instruction"]["documents"] == 2
    assert found["methods"]["instruction"]["pairs"] == 4  # three of the first, population and outcome here


def test_what_cannot_be_evaluated_is_said(run, model: str, tmp_path: Path) -> None:
    with pytest.raises(LabelsInvalid, match="line 1: 1 labels for 9 tokens"):
        run(_file(tmp_path, ROW | {"labels": ["N"]}), "--encoder", model)
    with pytest.raises(LabelsInvalid, match="no sentence after a title is labelled"):
        run(_file(tmp_path, ROW | {"labels": ["I", "N", "N", *["N"] * 6]}), "--encoder", model)
    with pytest.raises(NothingToEvaluate, match="none of 1 documents"):
        run(_file(tmp_path, ROW | {"tokens": [], "labels": [], "sent_ends": []}), "--encoder", model)
    with pytest.raises(ModelNotFound, match="nowhere"):
        run(_file(tmp_path, ROW), "--encoder", model, "--adapter", "nowhere")
    assert run(str(tmp_path / "nowhere.jsonl"))[0] == 2
