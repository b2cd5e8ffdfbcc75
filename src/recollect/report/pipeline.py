"""The pipeline report: what a run on Spark kept and lost, and how it went batch by batch."""

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

from recollect.report.charts import recall_chart as policies_chart
from recollect.report.comparison import Comparison
from recollect.report.origin import FOOTER, origin
from recollect.report.page import Chart, header, render_page, section, terms, write_page
from recollect.report.page import facts as fact_list
from recollect.report.pipeline_charts import (
    bytes_chart,
    forgotten_chart,
    recall_chart,
    speed_chart,
    tuples_chart,
)
from recollect.report.pipeline_run import Kept, Run, kept_from
from recollect.report.pipeline_streams import STREAMS_NOTE, streams_table
from recollect.report.pipeline_wording import headline, lead
from recollect.report.table import number_cells, row_of, share_cell, table
from recollect.report.wording import headline as policies_headline

KEYS = 20
"""How many keys are listed."""
_TERMS = {
    "Recall": "The share of the exact join's results that were found.",
    "Budget": "How much may be remembered at any moment, over all shards together.",
    "Evicted, refused": "Tuples forgotten to make room for others; tuples not remembered on"
    " arrival. Both may cost results.",
    "Expired": "Tuples that left their window, which costs no results.",
    "Late": "Rows older than the watermark, which are not joined.",
}


def write_pipeline_report(
    path: str | PathLike[str],
    *,
    title: str,
    facts: Mapping[str, Any] | None = None,
    profiles: Mapping[str, Mapping[str, Any]] | None = None,
    comparison: Comparison | None = None,
    batches: Iterable[Mapping[str, Any]] = (),
    quality: Mapping[str, Any] | None = None,
    by_slice: Iterable[Sequence[Any]] = (),
    by_key: Iterable[Sequence[Any]] = (),
    budget_tuples: int | None = None,
    budget_bytes: int | None = None,
) -> None:
    """Write a run of a pipeline as one HTML page that needs no network.

    What was not measured is left out of the page.

    Parameters
    ----------
    path
        The file; its folder must exist. It appears when it is complete.
    title
        What was joined.
    facts
        Further things to be known of the run, by name.
    profiles
        By the name of a stream: its :meth:`recollect.locality.Profile.to_dict`.
    comparison
        What several policies would have kept of the same rows at several budgets.
    batches
        The records of one join, as :class:`recollect.spark.live.LiveNumbers` makes them; of a
        batch that was run again the last record counts.
    quality
        ``recall`` (None if there was nothing to find), ``exact_results`` and, if they were counted,
        ``foreign`` results, which the exact join does not have.
    by_slice
        The start of a slice of time, its exact results, results and recall.
    by_key
        The same for keys, of which those with the most lost results are shown.
    budget_tuples, budget_bytes
        The budget of the join; both None if it has none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pathlib.Path(folder, "run.html")
    ...     found = {"recall": 0.73, "exact_results": 100}
    ...     write_pipeline_report(page, title="Ads", quality=found, budget_tuples=20)
    ...     "With room for 20 tuples, the join keeps 73\u00a0% of" in page.read_text("utf-8")
    True
    """
    run = Run(
        quality=None
        if quality is None
        else Kept.of("all", quality["exact_results"], quality["recall"]),
        foreign=0 if quality is None else int(quality.get("foreign", 0)),
        slices=kept_from(by_slice),
        keys=sorted(kept_from(by_key), key=lambda key: -key.lost),
        batches=list({_name(batch): batch for batch in batches}.values()),
        budget_tuples=budget_tuples,
        budget_bytes=budget_bytes,
    )
    charts: list[Chart] = []

    def drawn(heading: str, chart: Chart | None, kind: str = "half") -> str:
        if chart is None:
            return ""
        charts.append(chart)
        return section(heading, chart.element, kind)

    sections = [header(title, headline(run), lead(run))]
    if parts := run.parts:
        sections.append(drawn("Recall over time", recall_chart(parts), ""))
    if steps := run.steps:
        sections += [
            drawn("Tuples in memory", tuples_chart(steps, budget_tuples)),
            drawn("Memory", bytes_chart(steps, budget_bytes)),
            drawn("What left or never entered memory", forgotten_chart(steps)),
            drawn("Rows per second", speed_chart(steps)),
        ]
    if comparison is not None:
        curves = replace(policies_chart(comparison), name="policies")
        charts.append(curves)
        said = f'<p class="note">{html.escape(policies_headline(comparison))}</p>\n'
        sections.append(section("Policies by memory budget", said + curves.element))
    if run.keys:
        sections.append(section("Keys with the most lost results", _keys(run.keys)))
    if streams := streams_table(profiles or {}):
        note = f'<p class="note">{html.escape(STREAMS_NOTE)}</p>\n'
        sections.append(section("The streams", note + streams))
    if charts or run.quality:
        sections.append(section("How to read this", terms(_TERMS, "terms")))
    sections += [section("The run", fact_list(_facts(facts or {}))), FOOTER]
    write_page(render_page(title, "\n".join(filter(None, sections)), charts), path)


def _name(batch: Mapping[str, Any]) -> tuple[Any, ...]:
    return batch["query_id"], batch["join"], batch["batch"]


def _keys(keys: list[Kept]) -> str:
    rows = "\n".join(
        row_of(key.label, share_cell(key.recall) + number_cells(key.exact, key.results, key.lost))
        for key in keys[:KEYS]
    )
    head = ["Key", "Recall", "Exact results", "Kept", "Lost"]
    return table("Keys with the most lost results", head, [rows])


def _facts(given: Mapping[str, Any]) -> dict[str, str]:
    texts = {
        name: f"{value:,}" if type(value) in (int, float) else str(value)
        for name, value in given.items()
    }
    return texts | origin("recollect", "pyspark", "numba", "pyarrow", "plotly")
