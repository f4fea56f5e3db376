"""A map as one HTML file that needs nothing else: no server, no network.

plotly shows a text's tags, links among them: everything that comes from documents is escaped.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
import textwrap
from collections.abc import Iterable
from pathlib import Path

from trifuse.deploy.extra import trials_extra
from trifuse.deploy.map.drawing import LONGEST, VectorMap, short

_LINE = 60

_SCRIPT = re.compile("<script[^>]*>(.*?)</script>", re.DOTALL)


def write_page(drawn: VectorMap, path: Path) -> None:
    """Write the page: hover for id and title, click on the legend to hide and show.

    Raises:
        TrialsMissing: plotly isn't installed.
    """
    with trials_extra("a page"):
        from plotly.graph_objects import Figure, Layout, Scattergl
    traces = []
    for place, name in enumerate(drawn.colouring.legend):
        rows = [row for row, colour in enumerate(drawn.colouring.of) if colour == place]
        traces.append(
            Scattergl(
                x=drawn.places[rows, 0],
                y=drawn.places[rows, 1],
                mode="markers",
                marker={"size": 6, "opacity": 0.75, "color": drawn.colouring.colour(place)},
                name=shown([short(name, LONGEST)]),
                text=[shown(drawn.hover(row)) for row in rows],
                hoverinfo="text",
            )
        )
    notes = [
        {
            "x": x,
            "y": y,
            "text": shown([name]),
            "showarrow": False,
            "font": {"size": 11},
            "bgcolor": "rgba(255,255,255,0.7)",
        }
        for name, (x, y) in ((name, drawn.middle(number)) for number, name in enumerate(drawn.names))
    ]
    hidden = {"visible": False}
    layout = Layout(
        title={"text": shown([drawn.title])},
        xaxis=hidden,
        yaxis={**hidden, "scaleanchor": "x"},
        annotations=notes,
        hovermode="closest",
        plot_bgcolor="white",
        legend={"itemsizing": "constant"},
        margin={"l": 10, "r": 10, "t": 50, "b": 10},
    )
    page: str = Figure(traces, layout).to_html(
        include_plotlyjs=True,
        include_mathjax=False,
        full_html=True,
        default_height="100vh",
        div_id="map",
        config={"displaylogo": False, "responsive": True, "scrollZoom": True},
    )
    head = (
        f'<head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_policy(page)}">'
        f"<title>{html.escape(drawn.title)}</title>"
    )
    path.write_text(page.replace("<head>", head, 1), encoding="utf-8")


def _policy(page: str) -> str:
    """What the page may do: run the scripts that are in it, and no others; it can't load or send anything.

    plotly makes functions of strings where it draws by WebGL, writes styles, and saves pictures by way of
    `data:` and `blob:`.
    """
    digests = (hashlib.sha256(script.encode()).digest() for script in _SCRIPT.findall(page))
    scripts = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {scripts} 'unsafe-eval'; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def shown(texts: Iterable[str]) -> str:
    """Texts as plotly shows them as they are: escaped, each on lines of its own.

    >>> shown(["NCT1", "<b>bold</b> & more"])
    'NCT1<br>&lt;b&gt;bold&lt;/b&gt; &amp; more'
    """
    lines = (line for text in texts for line in textwrap.wrap(text, _LINE))
    return "<br>".join(html.escape(line) for line in lines)
