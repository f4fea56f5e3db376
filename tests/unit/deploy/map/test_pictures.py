"""The page and the picture: everything in them, nothing from outside, and no text of others that acts."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from trifuse.deploy.errors import TrialsMissing
from trifuse.deploy.map import VectorMap, write_page, write_picture
from trifuse.deploy.map.colours import Colouring

EVIL = "<script>alert(1)</script></script><img src=x onerror=alert(2)>"
LINK = '<a href="javascript:alert(3)">x</a> & $\\frac{1}$ %{x} \u8a66\u9a13'


def drawn(title: str = "trials") -> VectorMap:
    """Three documents in two clusters; what people wrote is as bad as can be."""
    return VectorMap(
        title,
        ["NCT1", "NCT2", "<i>3</i>"],
        [EVIL, LINK, "plain"],
        np.array([[0, 0], [1, 2], [3, 4]], dtype=np.float32),
        np.array([0, 1, 1]),
        [EVIL, "a name"],
        Colouring([LINK, "_hidden"], [0, 0, 1]),
    )


class Tags(HTMLParser):
    """The tags of a page and what they load, as a browser would see them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [value or "" for name, value in attrs if name in {"src", "href"}]


@pytest.fixture
def page(tmp_path: Path) -> str:
    pytest.importorskip("plotly")
    write_page(drawn(f"trials {EVIL}"), tmp_path / "map.html")
    return (tmp_path / "map.html").read_text("utf-8")


def traces(page: str) -> list[dict[str, object]]:
    """What plotly is told to draw."""
    told = page[page.rindex("Plotly.newPlot(") :]
    found, _ = json.JSONDecoder().raw_decode(told[told.index("[") :])
    return list(found)


def test_titles_of_others_make_no_tag(page: str) -> None:
    parser = Tags()
    parser.feed(page)
    assert set(parser.tags) <= {"html", "head", "meta", "title", "body", "div", "script", "style"}
    assert "<script>alert" not in page
    assert "onerror=alert(2)>" not in page


def test_plotly_gets_no_tag_but_line_breaks(page: str) -> None:
    """It shows tags in texts and names, links among them: all are escaped."""
    for trace in traces(page):
        for text in [trace["name"], *trace["text"]]:  # type: ignore[misc]
            assert set(re.findall("<[^>]*>", text)) <= {"<br>"}
    first = traces(page)[0]
    assert first["text"][0].startswith("NCT1<br>&lt;script&gt;alert(1)&lt;/script&gt;")  # type: ignore[index]
    assert first["hoverinfo"] == "text"


def test_the_page_loads_nothing_and_may_not(page: str) -> None:
    parser = Tags()
    parser.feed(page)
    assert parser.loads == []
    policy = re.search('http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy.group(1).startswith("default-src 'none';")
    assert "http" not in policy.group(1)


def test_the_page_has_every_document_and_the_legend(page: str) -> None:
    found = traces(page)
    assert [len(trace["text"]) for trace in found] == [2, 1]  # type: ignore[arg-type]
    assert found[1]["name"] == "_hidden"


def test_the_same_map_gives_the_same_page(page: str, tmp_path: Path) -> None:
    write_page(drawn(f"trials {EVIL}"), tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text("utf-8") == page


def test_the_picture_is_drawn_with_dollars_and_letters_that_the_font_lacks(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    write_picture(drawn("costs $1 and $2_"), tmp_path / "map.png")
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


def test_coordinates_and_clusters_as_json() -> None:
    told = drawn().as_dict()
    assert told["clusters"] == [
        {"number": 0, "name": EVIL, "documents": 1},
        {"number": 1, "name": "a name", "documents": 2},
    ]
    assert told["points"][2] == {
        "id": "<i>3</i>",
        "title": "plain",
        "x": 3.0,
        "y": 4.0,
        "cluster": 1,
        "color": "_hidden",
    }


def test_a_name_stands_in_the_middle_of_its_cluster() -> None:
    assert drawn().middle(1) == (2, 3)


def test_without_plotly_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "plotly"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(TrialsMissing, match=r"pip install 'trifuse\[trials\]'"):
        write_page(drawn(), tmp_path / "map.html")
