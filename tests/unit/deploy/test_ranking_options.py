"""What the commands that rank say of a body before anything is searched."""

from __future__ import annotations

from typing import Any

import pytest

from trifuse.deploy.cli.ranking import check_template
from trifuse.ranker import BodyError


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"query": {"match": {"title": "stroke"}}}, True),
        ({"query": {"match": {"title": "{{text}}"}}}, False),
        (
            {"query": {"bool": {"must": [{"match": {"title": "{{text}}"}}], "filter": {"term": {"a": 1}}}}},
            False,
        ),
        ({"highlight": {"fields": {"title": {}}}}, False),  # without a query the text is searched as ever
        ({}, False),
        (None, False),
    ],
)
def test_a_query_that_is_the_same_for_every_text(
    body: dict[str, Any] | None, says: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    check_template(body, "--body")
    told = capsys.readouterr()
    assert told.out == ""
    assert ("the query of --body has no {{text}}" in told.err) is says


def test_a_place_that_is_none() -> None:
    with pytest.raises(BodyError, match="must be the whole of a string"):
        check_template({"query": {"match": {"title": "about {{text}}"}}}, "--body")
