"""docs/tuning.md as a team follows it: every block, in its order, on the made-up sample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from opensearchpy import OpenSearch

from trifuse.ranker import ProfileStore

ROOT = Path(__file__).parents[3]


def test_the_page_from_nothing_to_a_served_profile(runner: Any, read_blocks: Any, client: OpenSearch) -> None:
    python: list[str] = []
    said: dict[str, str] = {}
    for kind, block in read_blocks(ROOT / "docs" / "tuning.md"):
        if kind == "sh":
            said[block.split("#")[0].strip()] = runner.sh(block)
        else:
            python.append(block)
            said[block] = runner.python(python)
    text = "\n".join(said.values())
    name = runner.names["mine"]
    assert f"{name}@1 is current." in text
    assert f"stored as {name}@2" in text
    assert "difference from" in text
    assert f"{name} 4" in text  # the search of section 6, after two rollbacks

    # What the page promises of its files.
    folder = runner.folder
    for picture in ("tuning.png", "evaluation.png"):
        assert (folder / picture).read_bytes().startswith(b"\x89PNG")
    assert len((folder / "values.tsv").read_text("utf-8").splitlines()) == 1 + 2 * 60
    assert (folder / "new.txt").read_text("utf-8").startswith("q01 Q0 ")
    assert (folder / "clicked.jsonl").read_text("utf-8").startswith('{"_id"')

    # Version 2 is a significant gain, by the evidence that is stored with it; the last came from Python.
    history = {each.version: each for each in ProfileStore(client).history(name)}
    assert sorted(history) == [1, 2, 3, 4, 5]
    evidence = json.loads(json.dumps(history[2].evidence))
    assert evidence["p_value"] < 0.05
    assert evidence["heldout"]["mean"] > evidence["baseline"]["mean"]
    assert history[4].profile == history[2].profile
    assert history[2].profile.body == history[1].profile.body
