"""Colours, axes, bars and room for labels: what the pictures of all reports have in common."""

from typing import Any

from recollect.report.page import Chart, chart_text
from recollect.report.wording import percent

# Okabe and Ito's colours for every kind of eye, without the yellow, which is lost on white.
BEST = "#0072b2"
OTHERS = ("#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b6b6b")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
MARKERS = (
    "circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "pentagon",
    "star", "hexagram", "circle-open", "square-open", "diamond-open",
)  # fmt: skip
INK, SOFT, FAINT = "#1b2430", "#55606e", "#e3e7ec"
QUIET = "#a9b4c0"
FONT = {"family": "system-ui, -apple-system, Segoe UI, Roboto, Arial, sans-serif", "color": INK}
LINE_HEIGHT = 17
LONGEST = 24
TOP, BOTTOM = 1.03, -0.01
"""The ends of an axis from 0 to 100 %, with a little air for markers."""


def short(name: str) -> str:
    """Cut the middle out of a name that would leave no room for the drawing.

    >>> short("my_company.forgetting.rules:Youngest")
    'my_compa….rules:Youngest'
    """
    return name if len(name) <= LONGEST else name[:8] + "…" + name[9 - LONGEST :]


def width(names: list[str]) -> int:
    """Estimate the pixels that the longest of some names takes."""
    return round(7.6 * max(len(short(name)) for name in names))


def layout(height: float, **margin: int) -> dict[str, Any]:
    """Begin a layout: nothing in it but the drawing, which neither zooms nor catches a finger."""
    return {
        "height": height,
        "autosize": True,
        "margin": {**margin, "pad": 0},
        "font": FONT,
        "paper_bgcolor": "#fff",
        "plot_bgcolor": "#fff",
        "showlegend": False,
        "dragmode": False,
        "hovermode": "closest",
        "hoverlabel": {"bgcolor": "#fff", "bordercolor": QUIET, "align": "left", "font": FONT},
    }


def legend(columns: int, height: int) -> dict[str, Any]:
    """Put a legend at the bottom, in columns; without a height of its own it would scroll."""
    return {
        "orientation": "h",
        "xref": "container",
        "x": 0,
        "yref": "container",
        "y": 0,
        "yanchor": "bottom",
        "maxheight": height,
        "entrywidth": 0.96 / columns,
        "entrywidthmode": "fraction",
        "font": {"size": 12},
    }


def axis(**settings: Any) -> dict[str, Any]:
    """Begin an axis with quiet lines that stays where it is."""
    return {
        "fixedrange": True,
        "zeroline": False,
        "gridcolor": FAINT,
        "tickfont": {"size": 12, "color": SOFT},
        **settings,
    }


def axis_title(text: str) -> dict[str, Any]:
    """Write below or beside an axis."""
    return {"text": text, "font": {"size": 12, "color": SOFT}, "standoff": 12}


def bottom_axis(title: str, **settings: Any) -> dict[str, Any]:
    """Begin an axis that is a line with ticks below it."""
    return axis(
        title=axis_title(title), ticks="outside", ticklen=5, tickcolor=QUIET, showline=True,
        linecolor=QUIET, **{"showgrid": False} | settings,
    )  # fmt: skip


def share_axis(steps: int = 5, **settings: Any) -> dict[str, Any]:
    """Begin an axis from 0 to 100 %, with so many steps between."""
    shares = [step / steps for step in range(steps + 1)]
    texts = [percent(share) for share in shares]
    return axis(range=[BOTTOM, TOP], tickvals=shares, ticktext=texts, **settings)


def hover_texts(texts: list[str]) -> dict[str, Any]:
    """What a pointer shows at each place of a trace, in plotly's markup."""
    return {"hovertext": texts, "hoverinfo": "text"}


def bars(
    name: str,
    summary: str,
    values: dict[str, tuple[float, str]],
    best: str,
    hover: list[str],
    whole: float | None = None,
) -> Chart:
    """Draw horizontal bars.

    The values are, by policy, the length of its bar and what stands at the end of it. The best
    policy is emphasised. ``whole`` is the length that is all there can be, by default that of the
    longest bar.
    """
    lengths = [length for length, _ in values.values()]
    ticks = [chart_text(short(policy)) for policy in values]
    data = {
        "type": "bar",
        "orientation": "h",
        "x": lengths,
        # Numbers, not names: names that became equal by being cut would share a bar.
        "y": list(range(len(values))),
        "text": [text for _, text in values.values()],
        "textposition": "outside",
        "textfont": {"size": 12, "color": INK},
        "cliponaxis": False,
        "marker": {"color": [BEST if policy == best else QUIET for policy in values]},
    } | hover_texts(hover)
    drawing = layout(26 * len(values) + 20, l=width(list(values)) + 14, r=64, t=6, b=6)
    drawing["bargap"] = 0.35
    drawing["xaxis"] = axis(visible=False, range=[0, whole or max(lengths) or 1])
    drawing["yaxis"] = axis(
        tickvals=data["y"],
        ticktext=[f"<b>{t}</b>" if p == best else t for p, t in zip(values, ticks, strict=True)],
        range=[len(values) - 0.5, -0.5],
        showgrid=False,
        ticks="outside",
        ticklen=6,
        tickcolor="#fff",
    )
    drawing["yaxis"]["tickfont"] = {"size": 12, "color": INK}
    return Chart(name, summary, [data], drawing, drawing)


def spread(places: list[float], gap: float, low: float, high: float) -> list[float]:
    """Move ascending places as little as needed to be a gap apart, between low and high.

    >>> spread([0.0, 1.0, 50.0], gap=10, low=0.0, high=100.0)
    [0.0, 10.0, 50.0]
    >>> spread([98.0, 99.0], gap=10, low=0.0, high=100.0)
    [90.0, 100.0]
    """
    # Neighbours that touch form a block around their mean; blocks that touch become one.
    blocks: list[tuple[float, int]] = []
    for place in places:
        blocks.append((place, 1))
        while True:
            middle, count = blocks[-1]
            half = gap * (count - 1) / 2
            blocks[-1] = (max(low + half, min(high - half, middle)), count)
            if len(blocks) == 1:
                break
            (before, n), (after, m) = blocks[-2:]
            if after - before >= gap * (n + m) / 2:
                break
            blocks[-2:] = [((before * n + after * m) / (n + m), n + m)]
    return [
        middle + gap * (number - (count - 1) / 2)
        for middle, count in blocks
        for number in range(count)
    ]
