"""The page and the picture: everything in them, nothing from outside, and no text of others that acts."""

from __future__ import annotations

import base64
import hashlib
import html
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
QUOTED = """a "quoted" title's \\ <!-- \u2028 end"""


def drawn(title: str = "trials") -> VectorMap:
    """Three documents in two clusters; what people wrote is as bad as can be."""
    return VectorMap(
        title,
        ["NCT1", "NCT2", "<i>3</i>"],
        [EVIL, LINK, QUOTED],
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
        self.scripts: list[str] = []
        self.policy = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [value or "" for name, value in attrs if name in {"src", "href"}]
        if dict(attrs).get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(attrs)["content"] or ""

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            self.scripts.append(data)


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
    assert parser.policy.startswith("default-src 'none'; script-src ")
    assert "http" not in parser.policy


def test_the_page_may_run_its_own_scripts_and_no_others(page: str) -> None:
    parser = Tags()
    parser.feed(page)
    (allowed,) = re.findall("script-src ([^;]*);", parser.policy)
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in parser.scripts]
    assert len(digests) == parser.tags.count("script") == 3
    assert allowed.split() == [*(f"'sha256-{digest}'" for digest in digests), "'unsafe-eval'"]
    # a browser looks for the encoding in the first 1,024 bytes; line breaks become one character
    assert b'charset="utf-8"' in page.encode()[:1024]
    assert "\r" not in page


def test_a_title_with_quotes_and_line_separators_arrives_as_it_is(page: str) -> None:
    (text,) = traces(page)[1]["text"]  # type: ignore[misc]
    lines = ["<i>3</i>", QUOTED, "cluster 1: a name"]
    assert html.unescape(text.replace("<br>", "\n")) == "\n".join(lines)


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
        "title": QUOTED,
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


def test_long_texts_are_cut(tmp_path: Path) -> None:
    """A field may hold a whole article: the legend and the hover show how it begins."""
    long = "w" * 30_000
    found = VectorMap(
        "trials",
        ["a", "b"],
        [long, "short"],
        np.array([[0, 0], [1, 2]], dtype=np.float32),
        np.array([0, 0]),
        ["one"],
        Colouring([long], [0, 0]),
    )
    write_page(found, tmp_path / "map.html")
    assert "w" * 201 not in (tmp_path / "map.html").read_text(encoding="utf-8").replace("<br>", "")
    assert found.hover(0) == ("a", "w" * 199 + "…", "cluster 0: one")
    assert found.hover(1)[1] == "short"
