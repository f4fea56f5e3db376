from __future__ import annotations

from typing import Any

import pytest

from trifuse.ranker.body_template import fill_template
from trifuse.ranker.errors import BodyError

EVIL = '"}}, "size": 10000, "x": {"y": "\\'


def test_the_text_is_put_in_as_a_value_wherever_it_stands() -> None:
    template = {
        "query": {"bool": {"should": [{"match": {"title": "{{text}}"}}, {"term": {"code": "{{text}}"}}]}}
    }
    assert fill_template(template, EVIL) == {
        "query": {"bool": {"should": [{"match": {"title": EVIL}}, {"term": {"code": EVIL}}]}}
    }
    assert template["query"]["bool"]["should"][0] == {"match": {"title": "{{text}}"}}


def test_the_texts_own_place_is_left_alone() -> None:
    assert fill_template({"q": "{{text}}", "n": 3, "b": None}, "{{text}}") == {
        "q": "{{text}}",
        "n": 3,
        "b": None,
    }


@pytest.mark.parametrize("template", [{"q": "title:({{text}})"}, {"{{text}}": 1}, {"a": [" {{text}}"]}])
def test_a_place_inside_a_string_is_refused(template: Any) -> None:
    with pytest.raises(BodyError, match="must be the whole of a string"):
        fill_template(template, "x")
