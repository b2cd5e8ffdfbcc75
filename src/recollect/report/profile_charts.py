"""The pictures of a profile, as plain plotly dictionaries."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.locality import Distances, Profile
from recollect.report.canvas import (
    BEST,
    OTHERS,
    QUIET,
    bars,
    bottom_axis,
    hover_texts,
    layout,
    legend,
    share_axis,
)
from recollect.report.page import Chart
from recollect.report.profile_curves import popular_hits
from recollect.report.wording import percent

POINTS = 240
"""More than these are not told apart in a chart."""
AS_IT_COMES, SHUFFLED, POPULAR = "as it comes", "shuffled", "most popular"
STYLES: dict[str, dict[str, str]] = {
    AS_IT_COMES: {"colour": BEST},
    SHUFFLED: {"colour": QUIET},
    POPULAR: {"colour": OTHERS[0], "dash": "dash"},
}
TINT = "rgba(0, 114, 178, 0.12)"

Floats = NDArray[Any]


def popularity_chart(profile: Profile) -> Chart:
    """Draw the tuples of each key by rank, both axes logarithmic, and the power law."""
    counts, fit = profile.popularity.counts, profile.popularity.zipf
    ranks = 1 + thinned(np.arange(1, len(counts) + 1))
    hover = [f"rank {rank:,}<br>{counts[rank - 1]:,} tuples" for rank in ranks]
    data = [_line("keys", ranks, counts[ranks - 1], BEST) | hover_texts(hover)]
    data[0] |= {"mode": "markers", "marker": {"color": BEST, "size": 5}, "showlegend": False}
    highest = float(counts[0])
    summary = f"Tuples per key by rank, from {counts[0]:,} down to {counts[-1]:,}."
    if fit is not None:
        ends = np.array([1, fit.last_rank])
        error = "" if fit.error is None else f" ± {fit.error:.2g}"
        name = f"Zipf, slope {fit.slope:.3f}{error}"
        law = fit.scale * profile.popularity.tuples * ends**-fit.slope
        highest = max(highest, float(law[0]))
        data.append(_line(name, ends, law, **STYLES[POPULAR]) | {"hoverinfo": "skip"})
        summary += f" A power law of {name} is fitted to the first {fit.last_rank:,}."
    wide, narrow = _layouts(1)
    for drawing in (wide, narrow):
        drawing["xaxis"] = _log_axis("rank of the key", 1, len(counts))
        drawing["yaxis"] = _log_axis("tuples", float(counts[-1]), highest)
    return Chart("popularity", summary, data, wide, narrow)


def interarrival_chart(profile: Profile) -> Chart:
    """Draw the share of the tuples whose key came within the last k tuples."""
    title = "tuples since the key last came"
    texts = "came at most {:,} tuples before"
    return _shares("interarrival", title, texts, profile, _both(profile, "interarrival"))


def stack_chart(profile: Profile) -> Chart:
    """Draw the hits of a memory of so many keys."""
    title = "keys in memory"
    data = _both(profile, "stack")
    keys = 1 + thinned(np.arange(1, profile.popularity.distinct + 1))
    data[POPULAR] = (keys, popular_hits(profile.popularity, keys))
    return _shares("stack", title, "with room for {:,} keys", profile, data)


def b_chart(profile: Profile) -> Chart:
    """Draw the share of the tuples left to popularity, by how far back the model looks."""
    data = []
    for name, order in ((AS_IT_COMES, profile.stream), (SHUFFLED, profile.permuted)):
        if order.fitted is None:
            continue
        found = order.fitted.b_by_h
        hover = [f"<b>{name}</b><br>h = {h}<br>b = {b:.3f}" for h, b in found.items()]
        line = _line(name, np.array([*found]), np.array([*found.values()]), **STYLES[name])
        data.append(line | {"mode": "lines+markers", "marker": {"size": 6}} | hover_texts(hover))
    wide, narrow = _layouts(len(data))
    for drawing in (wide, narrow):
        title = "h: how many tuples the model looks back"
        drawing["xaxis"] = bottom_axis(title, range=[0, 1.03 * profile.h], nticks=6)
        drawing["yaxis"] = share_axis()
    return Chart("b", "b by h, for the stream and shuffled.", data, wide, narrow)


def entropy_chart(profile: Profile) -> Chart:
    """Draw the entropy without and with the model."""
    values = {"popularity alone": profile.entropy_iid}
    for name, order in ((AS_IT_COMES, profile.stream), (SHUFFLED, profile.permuted)):
        if order.fitted is not None:
            values[name] = order.fitted.entropy
    drawn = {name: (bits, f"{bits:.2f} bits") for name, bits in values.items()}
    summary = ", ".join(f"{name}: {text}" for name, (_, text) in drawn.items())
    hover = [f"{name}<br>{bits:.4f} bits per tuple" for name, bits in values.items()]
    return bars("entropy", f"Entropy per tuple. {summary}.", drawn, AS_IT_COMES, hover)


def thinned(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Which of many ascending places to draw on a logarithmic axis: all, or well spread ones.

    >>> thinned(np.arange(1, 10**6 + 1))[[0, 1, -1]].tolist()
    [0, 1, 999999]
    """
    if len(places) <= POINTS:
        return np.arange(len(places))
    wanted = np.geomspace(places[0], places[-1], POINTS)
    return np.unique(np.minimum(np.searchsorted(places, wanted), len(places) - 1))


def _both(profile: Profile, what: str) -> dict[str, tuple[Floats, Floats]]:
    curves = {}
    for name, order in ((SHUFFLED, profile.permuted), (AS_IT_COMES, profile.stream)):
        distances: Distances = getattr(order, what)
        places, counts = distances.curve()
        chosen = thinned(places)
        curves[name] = (places[chosen], counts[chosen])
    return curves


def _shares(
    name: str, title: str, texts: str, profile: Profile, curves: dict[str, tuple[Floats, Floats]]
) -> Chart:
    data = []
    for label, (places, counts) in curves.items():
        shares = counts / profile.popularity.tuples
        hover = [
            f"<b>{label}</b><br>{texts.format(int(place))}:<br>{percent(share, 1)} of the tuples"
            for place, share in zip(places, shares, strict=True)
        ]
        data.append(_line(label, places, shares, **STYLES[label]) | hover_texts(hover))
    # What lies between the first two is what short-term correlation does.
    data[1] |= {"fill": "tonexty", "fillcolor": TINT, "legendrank": 1}
    longest = max([1, *(int(places[-1]) for places, _ in curves.values() if len(places))])
    wide, narrow = _layouts(len(data))
    for drawing in (wide, narrow):
        drawing["xaxis"] = _log_axis(title, 1, longest) | {"showgrid": False}
        drawing["yaxis"] = share_axis()
    summary = f"Share of the tuples by {title}: {', '.join(curves)}."
    return Chart(name, summary, data, wide, narrow)


def _line(name: str, x: Floats, y: Floats, colour: str, dash: str = "solid") -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines" if len(x) > 1 else "markers",
        "name": name,
        "x": x.tolist(),
        "y": y.tolist(),
        "line": {"color": colour, "width": 2.4, "dash": dash},
        "cliponaxis": False,
    }


def _layouts(entries: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Layouts for half of the page and for a telephone, with a legend below."""
    drawings = []
    for columns, left, height in ((entries, 52, 330), (min(entries, 2), 48, 300)):
        room = 19 * -(-entries // columns) + 12
        drawing = layout(height + room, l=left, r=20, t=12, b=62 + room)
        drawing["showlegend"] = True
        drawing["legend"] = legend(columns, room) | {"traceorder": "normal"}
        drawings.append(drawing)
    return drawings[0], drawings[1]


def _log_axis(title: str, low: float, high: float) -> dict[str, Any]:
    """An axis over whole powers of ten, in k and M."""
    first, last = math.log10(low), math.log10(max(high, 10 * low))
    air = 0.03 * (last - first)
    return bottom_axis(
        title, type="log", range=[first - air, last + air], dtick=1, tickformat="~s", showgrid=True
    )
