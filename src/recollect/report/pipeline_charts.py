"""The pictures of a pipeline report, as plain plotly dictionaries."""

from collections.abc import Callable
from typing import Any

from recollect.report.canvas import (
    BEST,
    INK,
    OTHERS,
    QUIET,
    axis,
    axis_title,
    bottom_axis,
    hover_texts,
    layout,
    legend,
    share_axis,
    short,
    width,
)
from recollect.report.page import Chart, chart_text
from recollect.report.pipeline_run import Kept, Step
from recollect.report.units import round_size, size
from recollect.report.wording import percent

FORGOTTEN = {"evicted": OTHERS[0], "refused": OTHERS[3], "late": OTHERS[2], "expired": QUIET}
"""Colours of what may happen to a tuple; expiry costs no results and is as quiet as it gets."""
WIDE, HALF, NARROW = 1000, 440, 290
"""Pixels for the labels of an axis: over the page, over half of it and on a telephone."""
MARKERS_UP_TO = 40


def recall_chart(parts: list[Kept]) -> Chart:
    """Draw recall over time, and below it the exact results and those that were kept."""
    day, labels = _without_day([part.label for part in parts])
    hover = [
        f"<b>{chart_text(part.label)}</b><br>recall {percent(part.recall, 2)}"
        f"<br>{part.results:,} of {part.exact:,} results"
        for part in parts
    ]
    shown = hover_texts(hover)
    recall = _line([part.recall if part.exact else None for part in parts], BEST) | shown
    exact = _bars([part.exact for part in parts], QUIET, "exact") | shown
    kept = _bars([part.results for part in parts], BEST, "kept") | shown
    summary = "Recall in each slice of time, and how many exact results there were and were kept."
    wide, narrow = layout(520, l=62, r=60, t=14, b=84), layout(470, l=56, r=24, t=12, b=84)
    for drawing, room in ((wide, WIDE), (narrow, NARROW)):
        drawing["barmode"] = "overlay"
        drawing["bargap"] = 0.15
        drawing["showlegend"] = True
        drawing["legend"] = legend(2, 24) | {"entrywidth": 90, "entrywidthmode": "pixels"}
        drawing["xaxis"] = _places_axis(labels, room, day) | {"anchor": "y2"}
        drawing["yaxis"] = share_axis(steps=4, domain=[0.52, 1])
        drawing["yaxis2"] = _amounts(max(part.exact for part in parts)) | {"domain": [0, 0.42]}
    wide["yaxis"]["title"], wide["yaxis2"]["title"] = axis_title("recall"), axis_title("results")
    data = [recall | {"showlegend": False}, exact | {"yaxis": "y2"}, kept | {"yaxis": "y2"}]
    return Chart("recall", summary, data, wide, narrow)


def tuples_chart(steps: list[Step], budget: int | None) -> Chart:
    """Draw the tuples in memory against the budget."""
    values = [step.buffered for step in steps]
    return _level("tuples", "Tuples in memory", steps, values, budget, "{:,} tuples".format)


def bytes_chart(steps: list[Step], budget: int | None) -> Chart:
    """Draw the memory against the budget."""
    values = [step.buffered_bytes for step in steps]
    chart = _level("bytes", "Memory", steps, values, budget, round_size)
    for drawing in (chart.layout, chart.narrow):
        drawing["yaxis"]["ticksuffix"] = "B"
    return chart


def forgotten_chart(steps: list[Step]) -> Chart | None:
    """Draw what happened to tuples in each batch, if anything did."""
    happened = [name for name in FORGOTTEN if any(step.counts[name] for step in steps)]
    if not happened:
        return None
    hover = [
        "<br>".join([f"<b>{step.name}</b>", *(f"{step.counts[n]:,} {n}" for n in happened)])
        for step in steps
    ]
    data = [
        _bars([step.counts[name] for step in steps], FORGOTTEN[name], name) | hover_texts(hover)
        for name in happened
    ]
    summary = "Tuples evicted, refused, late and expired in each batch."
    drawings = _batch_layouts(steps)
    for drawing, most in zip(drawings, (4, 3), strict=True):
        columns = min(len(happened), most)
        room = 24 * -(-len(happened) // columns)
        drawing["barmode"] = "stack"
        drawing["bargap"] = 0.15
        drawing["margin"]["b"] += 4 + room
        drawing["height"] += 4 + room
        drawing["showlegend"] = True
        drawing["legend"] = legend(columns, room) | {"traceorder": "normal"}
        highest = max(sum(step.counts[name] for name in happened) for step in steps)
        drawing["yaxis"] = _amounts(highest)
    return Chart("forgotten", summary, data, *drawings)


def speed_chart(steps: list[Step]) -> Chart | None:
    """Draw the rows per second of each batch that had rows."""
    rates = [step.rows / step.seconds if step.rows and step.seconds else None for step in steps]
    known = [rate for rate in rates if rate is not None]
    if not known:
        return None
    hover = [
        f"<b>{step.name}</b><br>{step.rows:,} rows in {step.seconds:,.1f} s"
        + ("" if rate is None else f"<br>{rate:,.0f} rows/s")
        for step, rate in zip(steps, rates, strict=True)
    ]
    data = _line(rates, BEST) | hover_texts(hover) | {"connectgaps": True}
    drawings = _batch_layouts(steps)
    for drawing in drawings:
        drawing["yaxis"] = _amounts(max(known))
    return Chart("speed", "Rows per second in each batch.", [data], *drawings)


def _level(
    name: str,
    title: str,
    steps: list[Step],
    values: list[int],
    budget: int | None,
    text: Callable[[int], str],
) -> Chart:
    hover = [
        f"<b>{step.name}</b><br>{step.buffered:,} tuples<br>{size(step.buffered_bytes)}"
        for step in steps
    ]
    line = _line(values, BEST) | {"fill": "tozeroy", "fillcolor": "rgba(0, 114, 178, 0.12)"}
    data = [line | hover_texts(hover)]
    drawings = _batch_layouts(steps)
    for drawing in drawings:
        drawing["yaxis"] = _amounts(max([*values, budget or 0]))
        if budget is not None:
            drawing["shapes"] = [
                {
                    "type": "line",
                    "xref": "paper",
                    "x0": 0,
                    "x1": 1,
                    "y0": budget,
                    "y1": budget,
                    "line": {"color": INK, "dash": "dash", "width": 1.5},
                }
            ]
            drawing["annotations"] = [
                {
                    "xref": "paper",
                    "x": 1,
                    "xanchor": "right",
                    "y": budget,
                    "yanchor": "bottom",
                    "text": f"budget {text(budget)}",
                    "font": {"size": 12, "color": INK},
                    "showarrow": False,
                }
            ]
    against = "" if budget is None else f", against the budget of {text(budget)}"
    return Chart(name, f"{title} at the end of each batch{against}.", data, *drawings)


def _batch_layouts(steps: list[Step]) -> tuple[dict[str, Any], dict[str, Any]]:
    wide, narrow = layout(300, l=56, r=20, t=14, b=56), layout(280, l=56, r=20, t=14, b=56)
    many = steps[0].last - steps[0].first + 1
    title = "batch" if many == 1 else f"batch, {many} in a row drawn as one"
    for drawing, room in ((wide, HALF), (narrow, NARROW)):
        drawing["xaxis"] = _places_axis([f"{step.first:,}" for step in steps], room, title)
    return wide, narrow


def _without_day(labels: list[str]) -> tuple[str, list[str]]:
    """Take the day out of labels that all begin with the same one.

    >>> _without_day(["2026-01-01 10:00", "2026-01-01 10:05"])
    ('2026-01-01', ['10:00', '10:05'])
    """
    days = {label.partition(" ")[0] for label in labels}
    if len(days) > 1 or not all(" " in label for label in labels):
        return "", labels
    return days.pop(), [label.partition(" ")[2] for label in labels]


def _places_axis(labels: list[str], room: int, title: str) -> dict[str, Any]:
    """Give each label a place, and write as many as there is room for."""
    most = max(1, room // (width(labels) + 22))
    shown = range(0, len(labels), -(-len(labels) // most))
    return bottom_axis(
        chart_text(title),
        range=[-0.6, len(labels) - 0.4],
        tickvals=list(shown),
        ticktext=[chart_text(short(labels[place])) for place in shown],
        tickangle=0,
    )


def _amounts(highest: float) -> dict[str, Any]:
    """Begin an axis from nothing to a little more than the highest value, in k and M."""
    drawn = axis(range=[0, 1.15 * highest or 1], tickformat="~s", nticks=6)
    # Left alone, plotly would write the halves of small numbers as 500m.
    return drawn | {"dtick": 1} if highest < 6 else drawn


def _line(values: list[Any], colour: str) -> dict[str, Any]:
    few = len(values) <= MARKERS_UP_TO
    return {
        "type": "scatter",
        "mode": "lines+markers" if few else "lines",
        "x": list(range(len(values))),
        "y": values,
        "line": {"color": colour, "width": 2.4},
        "marker": {"size": 6},
        "cliponaxis": False,
    }


def _bars(values: list[int], colour: str, name: str) -> dict[str, Any]:
    return {
        "type": "bar",
        "x": list(range(len(values))),
        "y": values,
        "name": name,
        "marker": {"color": colour, "line": {"width": 0}},
    }
