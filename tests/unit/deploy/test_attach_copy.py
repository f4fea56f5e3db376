"""How `trifuse attach --copy` ends; what it does is tested on an OpenSearch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import typer

from trifuse.deploy.cli import attach
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer.attach import AttachPlan
from trifuse.indexer.copying.complete import CopyReport
from trifuse.indexer.copying.copies import Copy, Standing

SPACE = Space(EncoderSpace("tiny", "r1", "fp32", "cls", 4, True, "cosine"), TextTemplate(("title",)))
COPY = Copy("a-trifuse-2", "u2", "a", "u1", "a-dense", "trifuse_vector", SPACE, (), (), Standing())


PLAN = AttachPlan(
    name="a",
    mode="copy",
    field="trifuse_vector",
    space=SPACE,
    indexes=(),
    findings=(),
    estimates=None,
    alias="a-dense",
)


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Makes a copy of three documents of which so many failed; its alias was moved."""

    def run(failed: int) -> None:
        report = CopyReport("a-trifuse-2", 3, 0, 0, 3 - failed, 0, failed, True)
        monkeypatch.setattr(attach, "begin", lambda *args, **options: COPY)
        monkeypatch.setattr(attach, "complete", lambda *args, **options: report)
        nothing: Any = None
        attach._copy(nothing, PLAN, nothing, nothing, filters=None, as_json=True)

    return run


def test_all_went_well(copied: Callable[[int], None]) -> None:
    copied(0)


def test_b4_documents_that_failed_are_said_by_the_exit_status(
    copied: Callable[[int], None], capfd: pytest.CaptureFixture[str]
) -> None:
    """The alias has moved all the same: what failed is found by its words."""
    with pytest.raises(typer.Exit) as ended:
        copied(2)
    assert ended.value.exit_code == 1
    said = capfd.readouterr()
    assert '"switched": true' in said.out
    assert "2 documents can't be embedded" in said.err
    assert "trifuse sync a-dense --retry-failed" in said.err
