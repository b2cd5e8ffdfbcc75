"""The pictures of a recall report, as plain plotly dictionaries."""

from statistics import median
from typing import Any

from recollect.report.canvas import (
    BEST,
    BOTTOM,
    DASHES,
    INK,
    LINE_HEIGHT,
    MARKERS,
    OTHERS,
    TOP,
    axis_title,
    bars,
    bottom_axis,
    hover_texts,
    layout,
    legend,
    share_axis,
    short,
    spread,
    width,
)
from recollect.report.comparison import OPTIMUM, Comparison, Row
from recollect.report.page import Chart, chart_text
from recollect.report.scale import Scale, budget_label, scale_of
from recollect.report.units import amount
from recollect.report.wording import percent


def recall_chart(comparison: Comparison) -> Chart:
    """Draw recall over budgets, one line per policy; bars if there is just one budget."""
    scale = scale_of(comparison)
    summary = "Recall of each policy at each memory budget; the table below has the numbers."
    if len(scale.places) == 1:
        (budget,) = scale.places
        rows = comparison.at(budget)
        values = {row.policy: (row.recall, percent(row.recall, 1)) for row in rows}
        hover = [_hover(row, comparison) for row in rows]
        return bars("recall", summary, values, comparison.rivals[0], hover, whole=1.0)
    data = [_line(name, rank, comparison, scale) for rank, name in enumerate(comparison.policies)]
    height = max(500, LINE_HEIGHT * len(data) + 130)
    columns = 2 if width(comparison.policies) < 150 else 1
    room = -(-len(data) // columns) * 19 + 12
    above, below = 14, 64
    wide = layout(height, l=62, r=44 + width(comparison.policies), t=above, b=below)
    wide["annotations"] = _labels(comparison, scale, data, height - above - below)
    narrow = layout(390 + room, l=46, r=30, t=12, b=76 + room)
    narrow |= {"showlegend": True, "legend": legend(columns, room)}
    for drawing, gap, title in ((wide, 0.06, scale.title), (narrow, 0.15, _broken(scale.title))):
        drawing["xaxis"] = _budget_axis(scale, gap, title)
        drawing["yaxis"] = share_axis()
    wide["yaxis"]["title"] = axis_title("recall: share of the exact results")
    return Chart("recall", summary, data, wide, narrow)


def speed_chart(comparison: Comparison) -> Chart | None:
    """Draw the tuples per second of each policy, the median over the budgets."""
    speeds = {}
    for name in comparison.policies:
        known = [
            r.tuples_per_second for r in comparison.of(name) if r.tuples_per_second is not None
        ]
        if known:
            speeds[name] = (median(known), amount(median(known)))
    if not speeds:
        return None
    hover = [f"<b>{chart_text(n)}</b><br>{v:,.0f} tuples/s" for n, (v, _) in speeds.items()]
    summary = "Tuples per second of each policy; the table below has the numbers."
    return bars("speed", summary, speeds, comparison.rivals[0], hover)


def _line(name: str, rank: int, comparison: Comparison, scale: Scale) -> dict[str, Any]:
    rows = {row.budget: row for row in comparison.of(name)}
    shown = [rows[budget] for budget in scale.places if budget in rows]
    best, optimum = name == comparison.rivals[0], name == OPTIMUM
    # The first colour belongs to the best policy alone.
    turn, number = divmod(comparison.rivals.index(name) - 1 if not optimum else 0, len(OTHERS))
    colour = INK if optimum else BEST if best else OTHERS[number]
    dash = "dot" if optimum else "solid" if best else DASHES[turn % len(DASHES)]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": chart_text(short(name)),
        "x": [scale.places[row.budget] for row in shown],
        "y": [row.recall for row in shown],
        "cliponaxis": False,
        "line": {"color": colour, "dash": dash, "width": 4 if best else 1.8},
        "marker": {"symbol": MARKERS[rank % len(MARKERS)], "size": 11 if best else 8},
        # The best line lies on top of the others.
        "zorder": len(comparison.policies) - rank,
    } | hover_texts([_hover(row, comparison) for row in shown])


def _labels(
    comparison: Comparison, scale: Scale, data: list[dict[str, Any]], height: float
) -> list[dict[str, Any]]:
    """Write each policy at the end of its line, moved up or down where there is no room."""
    span = height / (TOP - BOTTOM)
    ends = sorted((trace["y"][-1] * span, index) for index, trace in enumerate(data))
    heights = spread([end for end, _ in ends], LINE_HEIGHT, BOTTOM * span + 8, TOP * span - 8)
    at = dict(zip(scale.places.values(), scale.coordinates.values(), strict=True))
    labels = []
    for (end, index), place in zip(ends, heights, strict=True):
        trace, name = data[index], comparison.policies[index]
        best = name == comparison.rivals[0]
        labels.append(
            {
                "x": at[trace["x"][-1]],
                "y": trace["y"][-1],
                "text": f"<b>{trace['name']}</b>" if best else trace["name"],
                "font": {"size": 13 if best else 12, "color": INK},
                "xanchor": "left",
                "ax": 30,
                "ay": end - place,
                "showarrow": True,
                "arrowhead": 0,
                "arrowwidth": 1,
                "arrowcolor": trace["line"]["color"],
                "standoff": 6,
            }
        )
    return labels


def _budget_axis(scale: Scale, gap: float, title: str) -> dict[str, Any]:
    at = scale.coordinates
    low, high = min(at.values()), max(at.values())
    shown = scale.ticks(gap)
    return bottom_axis(
        title,
        type="log" if scale.log else "linear",
        range=[low - 0.03 * (high - low), high + 0.015 * (high - low)],
        tickvals=[scale.places[budget] for budget in shown],
        ticktext=[chart_text(budget_label(budget)) for budget in shown],
    )


def _broken(title: str) -> str:
    return title.replace(": ", ":<br>")


def _hover(row: Row, comparison: Comparison) -> str:
    room = "" if row.budget_tuples is None else f" ({row.budget_tuples:,} tuples)"
    lines = [
        f"<b>{chart_text(row.policy)}</b>",
        f"budget {chart_text(budget_label(row.budget))}{room}",
        f"recall {percent(row.recall, 2)}",
        f"{row.results:,} of {comparison.exact_results:,} results",
    ]
    if row.tuples_per_second is not None:
        lines.append(f"{row.tuples_per_second:,.0f} tuples/s")
    return "<br>".join(lines)
