"""The pictures of an aggregate report, as plain plotly dictionaries."""

from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types

from recollect.report.aggregate_curves import Curve, axis_times, slice_length
from recollect.report.canvas import BEST, INK, QUIET, axis, layout, short
from recollect.report.page import Chart, chart_text

MOST_PANELS = 6
BAND = "rgba(0, 114, 178, 0.2)"
"""The colour of the line, faint."""
NAMES = {"count": "COUNT", "sum": "SUM", "avg": "AVG", "min": "MIN", "max": "MAX"}


def shown(curves: list[Curve]) -> list[Curve]:
    """The curves that are drawn: those that reach highest, in the order they came."""
    candidates = [curve for curve in curves if curve.has_values]
    highest = sorted(candidates, key=lambda curve: -curve.highest)[:MOST_PANELS]
    return [curve for curve in candidates if curve in highest]


def aggregate_chart(aggregate: str, curves: list[Curve], kind: pa.DataType) -> Chart:
    """Draw one aggregate over time, each group in a panel of its own."""
    first = min(int(curve.start[0]) for curve in curves)
    last = max(int(curve.end[-1]) for curve in curves)
    length = slice_length(last - first, kind)
    low, high = min(curve.lowest for curve in curves), max(curve.highest for curve in curves)
    low = min(low, 0.0) if aggregate == "count" else low
    air = 0.06 * (high - low) or 1.0
    wide, narrow = (
        _panels(len(curves), height, [low - (low != 0) * air, high + air])
        for height in ((320, 190), (260, 150))
    )
    data: list[dict[str, Any]] = []
    for place, curve in enumerate(curves):
        suffix = str(place + 1) if place else ""
        for trace in _traces(curve, kind, length):
            data.append(trace | {"yaxis": f"y{suffix}"})
    for drawing in (wide, narrow):
        drawing["xaxis"] |= {"type": "linear" if types.is_integer(kind) else "date"}
        if len(curves) > 1:
            drawing["annotations"] = [
                _label(curve, drawing[f"yaxis{place + 1 if place else ''}"]["domain"][1])
                for place, curve in enumerate(curves)
            ]
    summary = f"{NAMES[aggregate]} over time; the table below has the extremes."
    return Chart(f"chart-{aggregate}", summary, data, wide, narrow)


def _panels(count: int, heights: tuple[int, int], bounds: list[float]) -> dict[str, Any]:
    """Panels above each other with the same axes; one alone is higher."""
    height = heights[0] if count == 1 else heights[1] * count
    drawing = layout(height + 54, l=70, r=20, t=14, b=40)
    gap = 0 if count == 1 else 26 / height
    for place in range(count):
        top = 1 - place / count
        drawing[f"yaxis{place + 1 if place else ''}"] = axis(
            range=bounds, domain=[top - 1 / count, top - gap], nticks=5
        )
    drawing["xaxis"] = axis(
        showgrid=False, showline=True, linecolor=QUIET, ticks="outside", tickcolor=QUIET,
        anchor=f"y{count}" if count > 1 else "y",
    )  # fmt: skip
    return drawing


def _label(curve: Curve, top: float) -> dict[str, Any]:
    return {
        "text": f"<b>{chart_text(short('NULL' if curve.group is None else str(curve.group)))}</b>",
        "xref": "paper", "x": 0, "xanchor": "left", "yref": "paper", "y": top, "yanchor": "bottom",
        "showarrow": False, "font": {"size": 12, "color": INK},
    }  # fmt: skip


def _traces(curve: Curve, kind: pa.DataType, length: int) -> list[dict[str, Any]]:
    line = {
        "type": "scatter",
        "mode": "lines",
        "line": {"color": BEST, "width": 1.6},
        "hovertemplate": "%{x}: %{y:,.6~g}<extra></extra>",
    }
    if curve.drawn_exactly:
        times, values = curve.steps()
        steps = {"color": BEST, "width": 1.6, "shape": "hv"}
        return [line | {"x": axis_times(times, kind), "y": _values(values), "line": steps}]
    times, low, mean, high = curve.slices(length)
    x = axis_times(times, kind)
    edge = {"type": "scatter", "mode": "lines", "x": x, "line": {"width": 0}, "hoverinfo": "skip"}
    return [
        edge | {"y": _values(low)},
        edge | {"y": _values(high), "fill": "tonexty", "fillcolor": BAND},
        line | {"x": x, "y": _values(mean)},
    ]


def _values(values: np.ndarray) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]
