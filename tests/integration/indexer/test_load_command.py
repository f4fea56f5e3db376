"""`trifuse load`, as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.indexer.refresh import LOAD_INTERVAL

TRIFUSE = Path(sys.executable).with_name("trifuse")


def _study(number: int, title: str = "A title") -> dict[str, Any]:
    identification = {"nctId": f"NCT{number:08}", "briefTitle": title}
    return {"protocolSection": {"identificationModule": identification}}


def _lines(*values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


@pytest.fixture
def environment(services: Any) -> dict[str, str]:
    """The services, and a broker that nobody listens on: the load must not need it."""
    return {**os.environ, **services.environ(), "TRIFUSE_BROKER_URL": "redis://127.0.0.1:9/0"}


def _run(
    arguments: list[str], environment: dict[str, str], folder: Path, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [TRIFUSE, "load", *arguments],
        env=environment,
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_all_well_is_status_0_and_json_alone_on_stdout(
    client: OpenSearch, index_name: str, environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "studies.ndjson").write_text(_lines(_study(1), _study(2)))
    done = _run(["studies.ndjson", "--index", index_name, "--json"], environment, tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["read"], report["indexed"], report["unchanged"], report["rejected"]) == (2, 2, 0, [])
    assert "trifuse sync" in report["hints_error"]
    assert "encoder: bge-small-en-v1.5-int8\n" in done.stderr
    client.indices.refresh(index=index_name)
    assert client.count(index=index_name)["count"] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["studies.ndjson"]


def test_b4_a_rejected_record_is_status_1_and_stands_in_the_dead_letters(
    index_name: str, environment: dict[str, str], tmp_path: Path
) -> None:
    arguments = ["-", "--index", index_name, "--report", "out.json"]
    done = _run(arguments, environment, tmp_path, stdin=_lines(_study(1), {"no": "study"}))
    assert done.returncode == 1
    assert "1 of 2 records were rejected" in done.stderr
    assert "out.rejected.ndjson" in done.stderr
    assert "read 2 = indexed 1 + unchanged 0 + rejected 1" in done.stdout
    report = json.loads((tmp_path / "out.json").read_text())
    (rejected,) = report["rejected"]
    assert set(rejected) == {"source", "line", "id", "reason"}
    (letter,) = (tmp_path / "out.rejected.ndjson").read_text().splitlines()
    assert json.loads(letter) == rejected


def test_sentences_are_estimated_first(index_name: str, environment: dict[str, str], tmp_path: Path) -> None:
    """Two trials of three sentences each; 64 a second is less than a second."""
    studies = [_study(number) for number in (1, 2)]
    for study in studies:
        study["protocolSection"]["descriptionModule"] = {"briefSummary": "One is here. Two is. Three is too."}
    arguments = ["-", "--index", index_name, "--sentences"]
    done = _run(arguments, environment, tmp_path, stdin=_lines(*studies))
    assert done.returncode == 0, done.stderr
    assert "2 records have about 6 sentences (3 each)" in done.stderr
    assert "some 1 seconds" in done.stderr
    assert "sentences: indexed 6, unchanged 0, deleted 0" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-file.json", "--index", "x"], "no-such-file.json"),
        (["."], "--index"),
        ([".", "--index", "x", "--report", "no/such/folder/r.json"], "no/such/folder"),
    ],
    ids=["path", "index", "report"],
)
def test_wrong_usage_is_status_2(
    environment: dict[str, str], tmp_path: Path, arguments: list[str], message: str
) -> None:
    done = _run(arguments, environment, tmp_path)
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize("name", ["r.json", "r.rejected.ndjson"])
def test_what_is_read_isnt_written_over(environment: dict[str, str], tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(_lines(_study(1)))
    done = _run([name, "--index", "x", "--report", "r.json"], environment, tmp_path)
    assert done.returncode == 2
    assert "--report" in done.stderr
    assert (tmp_path / name).read_text() == _lines(_study(1))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_b6_interrupted_while_it_waits_for_input(
    client: OpenSearch, index_name: str, environment: dict[str, str], tmp_path: Path, number: signal.Signals
) -> None:
    """The owner's refresh interval is back, what was written stays, and the message says how to go on."""

    def interval() -> str | None:
        settings = client.indices.get_settings(index=index_name, ignore_unavailable=True).get(index_name, {})
        value: str | None = settings.get("settings", {}).get("index", {}).get("refresh_interval")
        return value

    arguments = [TRIFUSE, "load", "-", "--index", index_name]
    with subprocess.Popen(
        arguments, env=environment, cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 60
        while interval() != LOAD_INTERVAL and time.monotonic() < deadline:
            time.sleep(0.1)
        assert interval() == LOAD_INTERVAL
        process.send_signal(number)
        assert process.wait(timeout=60) == 130
        assert process.stderr is not None
        assert "interrupted" in process.stderr.read()
    assert interval() is None
