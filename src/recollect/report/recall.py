"""The recall report: how much of the exact result each policy kept in each budget."""

import html
import sys
from collections.abc import Mapping
from os import PathLike
from typing import Any

from recollect.report.charts import recall_chart, speed_chart
from recollect.report.comparison import OPTIMUM, Comparison, Row, comparison_from
from recollect.report.origin import FOOTER, origin
from recollect.report.page import facts, header, render_page, section, terms, write_page
from recollect.report.scale import budget_label, memory, scale_of
from recollect.report.table import group_of, number_cells, share_cell, table
from recollect.report.wording import headline, standing

__all__ = ["Comparison", "Row", "write_recall_report"]

_HEAD = ["Policy", "Recall", "Results", "Evicted", "Refused", "Expired", "Tuples/s"]
_TERMS = {
    "Recall": "The share of the exact join's results that were found. Nothing is ever found that"
    " the exact join does not find, so what is missing was lost by forgetting.",
    "Budget": "How much may be remembered at any moment. A share such as 10 % is taken of the"
    " mean number of tuples that the exact join holds.",
    "Evicted, refused, expired": "Tuples forgotten to make room for others; tuples not remembered"
    " on arrival; tuples that left their window, which costs no results.",
}


def write_recall_report(
    comparison: Comparison | Mapping[str, Any], path: str | PathLike[str]
) -> None:
    """Write a comparison of policies as one HTML page that needs no network.

    Parameters
    ----------
    comparison
        What was measured, or a mapping with the same names: the facts of
        :class:`~recollect.report.comparison.Comparison` and as ``rows`` mappings with the names of
        :class:`~recollect.report.comparison.Row`. The policy named ``opt`` is taken for the offline
        optimum, with which the others are compared.
    path
        The file; its folder must exist. It appears when it is complete.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> row = Row("gdj", "10%", results=73, recall=0.73, budget_tuples=20)
    >>> run = Comparison("Ads", "a.csv", "b.csv", "10s", "ad", 999, 100, 200.0, 1, (row,))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pathlib.Path(folder, "recall.html")
    ...     write_recall_report(run, page)
    ...     "gdj keeps 73\u00a0% of the 100 exact results" in page.read_text(encoding="utf-8")
    True
    """
    run = comparison_from(comparison)
    curves, speeds = recall_chart(run), speed_chart(run)
    sections = [
        header(run.title, headline(run), standing(run)),
        section(_title(run), curves.element),
    ]
    if speeds:
        several = len({row.budget for row in run.rows}) > 1
        middle = ", the median over the budgets" if several else ""
        note = f'<p class="note">Tuples per second{middle}.</p>\n'
        sections.append(section("Speed", note + speeds.element, "half"))
    sections += [
        section("How to read this", terms(_TERMS, "terms"), "half" if speeds else ""),
        section("All numbers", _table(run)),
        section("The policies", terms(_policies(run), "policies")),
        section("The run", facts(_facts(run))),
        FOOTER,
    ]
    charts = [curves, speeds] if speeds else [curves]
    write_page(render_page(run.title, "\n".join(sections), charts), path)


def _title(run: Comparison) -> str:
    if len({row.budget for row in run.rows}) > 1:
        return "Recall by memory budget"
    return f"Recall {memory(run.rows[0])}"


def _table(run: Comparison) -> str:
    groups = []
    for budget in scale_of(run).places:
        rows = run.at(budget)
        title = "budget " + html.escape(budget_label(budget))
        if rows[0].budget_tuples is not None and budget != str(rows[0].budget_tuples):
            title += f" <span>= {rows[0].budget_tuples:,} tuples</span>"
        winners = run.winners(budget) if len(rows) > 1 else []
        lines = (_cells(row, row.policy in winners) for row in rows)
        groups.append(group_of(title, len(_HEAD), lines))
    return table("All numbers", _HEAD, groups)


def _cells(row: Row, best: bool) -> str:
    mark = '<span class="mark">best</span>' if best else ""
    counts = (row.results, row.evicted, row.refused, row.expired, row.tuples_per_second)
    kind = ' class="best"' if best else ""
    return (
        f'<tr{kind}><td class="policy">{html.escape(row.policy)}{mark}</td>'
        f"{share_cell(row.recall)}{number_cells(*counts)}</tr>"
    )


def _policies(run: Comparison) -> dict[str, str]:
    meanings = {name: _meaning(name) for name in run.policies}
    return {name: text or "No description." for name, text in meanings.items()}


def _meaning(spec: str) -> str:
    """Return the first line of the documentation of a policy's class, if there is any."""
    if spec == OPTIMUM:
        return "The offline optimum: the best that anybody could do who knows the future."
    try:
        from recollect.policies.base import registry
    except ImportError:
        return ""
    name, _, rest = spec.partition(":")
    cls = registry.get(name) or getattr(sys.modules.get(name), rest.partition(":")[0], None)
    text = (getattr(cls, "__doc__", None) or "").strip()
    # What a dataclass says of itself if nobody documents it is no help.
    return "" if text.startswith(f"{getattr(cls, '__name__', '')}(") else text.partition("\n")[0]


def _facts(run: Comparison) -> dict[str, str]:
    return {
        "Left input": run.left,
        "Right input": run.right,
        "Join key": run.on,
        "Window": run.window,
        "Tuples in": f"{run.tuples_in:,}",
        "Exact results": f"{run.exact_results:,}",
        "Tuples the exact join holds (mean)": f"{run.mean_alive:,.1f}",
        "Seed": str(run.seed),
        **origin("recollect", "numba", "numpy", "pyarrow", "plotly"),
    }
