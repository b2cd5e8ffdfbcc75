"""The aggregate report: what the aggregates of a temporal relation did over time."""

import html
from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa

from recollect.intervals import Aggregation
from recollect.report.aggregate_charts import MOST_PANELS, NAMES, aggregate_chart, shown
from recollect.report.aggregate_curves import Curve, axis_times, curves_of
from recollect.report.origin import FOOTER, origin
from recollect.report.page import facts, header, render_page, section, terms, write_page
from recollect.report.table import group_of, row_of, table

_HEAD = ["", "Intervals", "Least", "Mean over time", "Greatest", "First at"]
_MEANINGS = {
    "count": "how many tuples were active",
    "sum": "the sum of their values",
    "avg": "the mean of their values",
    "min": "the least of their values",
    "max": "the greatest of their values",
}
_TERMS = {
    "Interval": "A stretch of time on which the aggregate does not change. COUNT is 0 and the"
    " others are empty where no tuple is active.",
    "Line and band": "A curve with very many intervals is drawn in slices of time: the line is"
    " the mean over each slice, the band reaches from its least to its greatest value.",
}


def write_aggregate_report(
    title: str,
    answer: Aggregation,
    question: Mapping[str, Any],
    path: str | PathLike[str],
) -> None:
    """Write an answer as one HTML page that needs no network.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from recollect.intervals import aggregate
    >>> stays = pa.table({"from": [1, 3], "till": [9, 5]})
    >>> answer = aggregate(stays, "from", "till", agg="count")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pathlib.Path(folder, "stays.html")
    ...     write_aggregate_report("Stays", answer, {}, page)
    ...     "Up to 2 tuples were active at once" in page.read_text(encoding="utf-8")
    True
    """
    kind = answer.table.schema.field("start").type
    curves = {name: curves_of(answer, name) for name in answer.aggregates}
    drawn = {name: shown(of_name) for name, of_name in curves.items()}
    charts = {name: aggregate_chart(name, some, kind) for name, some in drawn.items() if some}
    sections = [header(title, _headline(curves, kind), _lead(curves, kind))]
    for name, chart in charts.items():
        note = _note(len(drawn[name]), sum(curve.has_values for curve in curves[name]))
        heading = f"{NAMES[name]}: {_MEANINGS[name]}"
        sections.append(section(heading, note + chart.element))
    sections += [
        section("All numbers", _table(curves, kind)),
        section("How to read this", terms(_TERMS, "terms"), "half"),
        section("The run", facts(_facts(answer, question)), "half"),
        FOOTER,
    ]
    write_page(render_page(title, "\n".join(sections), list(charts.values())), path)


def _headline(curves: Mapping[str, list[Curve]], kind: pa.DataType) -> str:
    name, candidates = next(iter(curves.items()))
    candidates = [curve for curve in candidates if curve.has_values]
    if not candidates:
        return "There is no tuple, so there is nothing to aggregate."
    top = max(candidates, key=lambda curve: curve.highest)
    when = _moment(top.peak[0], kind)
    whose = "" if len(candidates) == 1 else f" for {_group(top)}"
    if name == "count":
        plural = "tuple was" if top.highest == 1 else "tuples were"
        return f"Up to {top.highest:,.0f} {plural} active at once{whose}, first at {when}."
    return f"{NAMES[name]} reached {_number(top.highest)}{whose}, first at {when}."


def _lead(curves: Mapping[str, list[Curve]], kind: pa.DataType) -> str:
    every = [curve for of_name in curves.values() for curve in of_name]
    if not every:
        return ""
    first = min(int(curve.start[0]) for curve in every)
    last = max(int(curve.end[-1]) for curve in every)
    return f"From {_moment(first, kind)} to {_moment(last, kind)}."


def _note(drawn: int, all_: int) -> str:
    if drawn == all_:
        return ""
    return f'<p class="note">The {MOST_PANELS} groups that reach highest, of {all_}.</p>\n'


def _table(curves: Mapping[str, list[Curve]], kind: pa.DataType) -> str:
    bodies = []
    for name, of_name in curves.items():
        if [curve.group for curve in of_name] == [None]:
            bodies.append(_row(NAMES[name], of_name[0], kind))
            continue
        rows = [_row(_group(curve), curve, kind) for curve in of_name]
        bodies.append(group_of(NAMES[name], len(_HEAD), rows))
    return table("All numbers", _HEAD, bodies)


def _group(curve: Curve) -> str:
    return "NULL" if curve.group is None else str(curve.group)


def _row(title: str, curve: Curve, kind: pa.DataType) -> str:
    numbers = [_number(value) for value in (curve.lowest, curve.mean, curve.highest)]
    when = _moment(curve.peak[0], kind) if curve.has_values else "–"
    cells = [f"{len(curve.value):,}", *numbers, when]
    return row_of(title, "".join(f"<td>{html.escape(cell)}</td>" for cell in cells))


def _number(value: float) -> str:
    if np.isnan(value):
        return "–"
    whole = float(value).is_integer() or 1e6 <= abs(value) < 1e15
    return f"{value:,.0f}" if whole else f"{value:,.6g}"


def _moment(time: int, kind: pa.DataType) -> str:
    (moment,) = axis_times(np.array([time]), kind)
    return f"{moment:,.0f}" if isinstance(moment, float) else str(moment)


def _facts(answer: Aggregation, question: Mapping[str, Any]) -> dict[str, str]:
    stats = answer.stats
    given = {name.capitalize(): str(value) for name, value in question.items() if value is not None}
    pages = {
        "Page reads": f"{stats.page_reads:,}",
        "Found in the buffer": f"{stats.buffer_hits:,}",
    }
    return {
        **given,
        "Tuples": f"{stats.tuples:,}",
        "Kept": {"memory": "in memory", "disk": "on disk"}[stats.plan],
        **(pages if stats.plan == "disk" else {}),
        "Seconds": f"{stats.seconds:.2f}",
        **origin("recollect", "numba", "numpy", "pyarrow", "plotly"),
    }
