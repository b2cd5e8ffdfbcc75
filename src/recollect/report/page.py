"""The frame of every report: one HTML file that needs nothing but a browser."""

import html
import json
import os
import secrets
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from recollect.errors import InputError, MissingExtraError

NO_PLOTLY = "a report needs plotly, which is not installed: pip install 'recollect[report]'"

# The browser itself is told to load nothing, so that no library can change its mind about it.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:"
)
_FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
{scripts}</body>
</html>
"""
_SCRIPTS = """<script type="application/json" id="charts">{charts}</script>
<script>{plotly}</script>
<script>
{draw}</script>
"""


@dataclass(frozen=True)
class Chart:
    """A plotly figure for the page, as plain dictionaries.

    Texts in it are plotly's: it understands a little HTML, so foreign text goes through
    :func:`chart_text`.
    """

    name: str
    """The id of its element, unique in the page."""
    summary: str
    """What a person hears who cannot see it."""
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    """Has a ``height``; the width is that of the page."""
    narrow: dict[str, Any]
    """The layout for telephones."""

    @property
    def element(self) -> str:
        """The HTML that keeps the chart's place."""
        height = f"--height:{self.layout['height']}px;--narrow:{self.narrow['height']}px"
        return (
            f'<div class="chart" id="{self.name}" role="img" style="{height}" '
            f'aria-label="{html.escape(self.summary)}"></div>\n'
            "<noscript><p>The chart needs JavaScript.</p></noscript>"
        )


def chart_text(text: str) -> str:
    """Protect text from being read as markup by plotly, which knows no named quotes.

    >>> chart_text('<b>"A & B"</b>')
    '&lt;b&gt;"A &amp; B"&lt;/b&gt;'
    """
    return html.escape(text, quote=False)


def section(title: str, body: str, kind: str = "") -> str:
    """Put a heading over HTML.

    The title is plain text; ``kind`` is a class of the style sheet, such as ``half``.

    Examples
    --------
    >>> print(section("Q & A", "<p>…</p>"))
    <section>
    <h2>Q &amp; A</h2>
    <p>…</p>
    </section>
    """
    attribute = f' class="{kind}"' if kind else ""
    return f"<section{attribute}>\n<h2>{html.escape(title)}</h2>\n{body}\n</section>"


def facts(pairs: dict[str, str]) -> str:
    """List names and values, both plain text."""
    items = (
        f"<div><dt>{html.escape(name)}</dt><dd>{html.escape(value)}</dd></div>"
        for name, value in pairs.items()
    )
    return '<dl class="facts">' + "".join(items) + "</dl>"


def terms(meanings: dict[str, str], kind: str) -> str:
    """List words and what they mean, both plain text, in a class of the style sheet."""
    items = (f"<dt>{html.escape(t)}</dt><dd>{html.escape(m)}</dd>" for t, m in meanings.items())
    return f'<dl class="{kind}">' + "\n".join(items) + "</dl>"


def header(kicker: str, headline: str, lead: str) -> str:
    """Begin the page with what it is about and what was learnt; the lead may be empty."""
    lines = [
        f'<p class="kicker">{html.escape(kicker)}</p>',
        f"<h1>{html.escape(headline)}</h1>",
        f'<p class="lead">{html.escape(lead)}</p>' if lead else "",
    ]
    return "<header>\n" + "\n".join(filter(None, lines)) + "\n</header>"


def render_page(title: str, body: str, charts: list[Chart], style: str = "") -> str:
    """Make the page.

    The title is plain text; the body is HTML with the :attr:`Chart.element` of each chart in it.
    Without charts, plotly is neither needed nor included. The style comes after that of all pages.
    """
    scripts = ""
    if charts:
        drawings = [
            {"name": c.name, "data": c.data, "layout": c.layout, "narrow": c.narrow} for c in charts
        ]
        scripts = _SCRIPTS.format(
            # A text with "</script>" in it would end the element; in JSON a < may be written so.
            charts=json.dumps(drawings, allow_nan=False).replace("<", "\\u003c"),
            plotly=_plotly(),
            draw=_resource("page.js"),
        )
    return _FRAME.format(
        policy=_POLICY,
        title=html.escape(title),
        style=_resource("page.css") + style,
        body=body,
        scripts=scripts,
    )


def require_page(path: str | os.PathLike[str]) -> None:
    """Raise if a report could not be written there: to be asked before long work, not after."""
    _require_place(Path(path))
    if find_spec("plotly") is None:
        raise MissingExtraError(NO_PLOTLY)


def _require_place(target: Path) -> None:
    if not target.parent.is_dir():
        raise InputError(f"{target} cannot be written: there is no folder {target.parent}")
    if target.is_dir():
        raise InputError(f"{target} is a folder, not a file")


def write_page(page: str, path: str | os.PathLike[str]) -> None:
    """Write a file that is either complete or not there at all."""
    target = Path(path)
    _require_place(target)
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(4)}.unfinished")
    try:
        unfinished.write_text(page, encoding="utf-8", newline="\n")
        os.replace(unfinished, target)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def _plotly() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise MissingExtraError(NO_PLOTLY) from None
    source: str = get_plotlyjs()
    return source


def _resource(name: str) -> str:
    return files("recollect.report").joinpath(name).read_text(encoding="utf-8")
