"""How parts are given to `trifuse similar`, and its table."""

from __future__ import annotations

from io import StringIO

import pytest
import typer
from rich.console import Console

from trifuse.deploy.cli.similar import given_parts, similar_table


def test_parts_have_options_of_their_own_and_a_general_one() -> None:
    named = {"title": None, "condition": ["asthma", "gout"], "outcome": []}
    assert given_parts(named, ["context=a = b", "condition=pain"]) == {
        "condition": ["asthma", "gout", "pain"],
        "context": ["a = b"],
    }


def test_no_parts_are_no_parts() -> None:
    assert given_parts({"title": None}, []) == {}


def test_an_argument_that_is_no_text_is_made_one() -> None:
    assert given_parts({"title": ["a\udcff"]}, []) == {"title": ["a?"]}


@pytest.mark.parametrize("given", ["context", "=adults", ""])
def test_a_part_without_a_name_or_a_text_is_wrong_usage(
    given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as ended:
        given_parts({}, [given])
    assert ended.value.exit_code == 2
    assert "give PART=TEXT" in capsys.readouterr().err


def test_a_row_has_the_title_the_id_and_the_similarity() -> None:
    hit = {"_id": "NCT1", "_source": {"brief_title": "[red]Relief"}, "trifuse": {"similarity": 0.98765}}
    shown_on = StringIO()
    console = Console(width=60, file=shown_on)
    console.print(similar_table({"hits": {"hits": [hit, {**hit, "_id": "NCT2", "_source": {}}]}}, "like [x]"))
    shown = shown_on.getvalue()
    assert "like [x]" in shown
    assert "[red]Relief" in shown
    assert "NCT1" in shown and "NCT2" in shown
    assert "0.9877" in shown
