from __future__ import annotations

import pytest

from trifuse.ranker.errors import BodyError
from trifuse.ranker.params import REFUSED, read_params


def test_f11_each_parameter_goes_where_it_belongs() -> None:
    params = {"routing": "r", "preference": "_local", "typed_keys": "true", "ignore_unavailable": "true"}
    url = read_params(params, text="x")
    assert url.header == {"routing": "r", "preference": "_local", "ignore_unavailable": "true"}
    assert url.resolving == {"ignore_unavailable": "true"}
    assert url.naming == {"typed_keys": "true"}


def test_pythons_values_are_the_urls() -> None:
    url = read_params({"routing": ["a", "b"], "ignore_unavailable": True, "typed_keys": False}, text="x")
    assert (url.header["routing"], url.header["ignore_unavailable"]) == ("a,b", "true")
    assert url.naming == {"typed_keys": "false"}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_f11_refused_parameters_are_named(name: str) -> None:
    with pytest.raises(BodyError, match=f"the URL's '{name}' can't be used: "):
        read_params({name: "1"}, text="x")


@pytest.mark.parametrize("name", ["from", "track_total_hits", "batched_reduce_size", "nonsense"])
def test_f11_a_parameter_on_no_list_is_refused(name: str) -> None:
    with pytest.raises(BodyError, match=f"'{name}' is on no list"):
        read_params({name: "1"}, text="x")


def test_f9_pages_of_one_query_come_from_the_same_copies() -> None:
    one, two = read_params(None, text="asthma"), read_params({}, text="asthma")
    assert one.header == two.header
    assert one.header["preference"] != read_params(None, text="stroke").header["preference"]
    assert not one.header["preference"].startswith("_")
    read_params(None, text="\ud800")


def test_a_search_pipeline_goes_with_the_page() -> None:
    url = read_params({"search_pipeline": "mine"}, text="x")
    assert url.shaping == {"search_pipeline": "mine"}
    assert "search_pipeline" not in {**url.header, **url.naming, **url.resolving}
