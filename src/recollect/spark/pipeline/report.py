"""Stage six: everything on one page."""

from typing import Any

from recollect.join.budget import parse_budget
from recollect.join.query import SIDES
from recollect.report.comparison import Comparison, comparison_from
from recollect.report.page import require_page
from recollect.report.pipeline import write_pipeline_report
from recollect.spark.pipeline.context import Run
from recollect.spark.pipeline.join import batches
from recollect.spark.pipeline.layout import read_json


def report(run: Run) -> dict[str, Any]:
    """Write the page from what the other stages left behind; the optional ones may be missing."""
    config, layout = run.config, run.layout
    require_page(layout.report)
    query = read_json(layout.record("join"))["query_id"]
    quality = None
    if layout.record("quality").exists():
        quality = read_json(layout.record("quality"))
        if quality["recall"] is None:  # there was nothing to find, and all of it was found
            quality["recall"] = 1.0
    profiles = {}
    if layout.record("profile").exists():
        profiles = read_json(layout.record("profile"))
    compared = None
    if layout.record("compare").exists():
        compared = read_json(layout.record("compare"))
    budget = parse_budget(config.join.budget)
    write_pipeline_report(
        layout.report,
        title=config.pipeline.name,
        facts=_facts(run),
        batches=batches(run, query),
        profiles={side: profiles[side] for side in SIDES if side in profiles},
        comparison=_comparison(run, compared) if compared else None,
        quality=quality,
        by_slice=[tuple(row.values()) for row in quality["by_slice"]] if quality else [],
        by_key=[tuple(row.values()) for row in quality["worst_keys"]] if quality else [],
        budget_tuples=budget.tuples,
        budget_bytes=budget.bytes,
    )
    return {"html": str(layout.report)}


def _facts(run: Run) -> dict[str, Any]:
    words = run.config.join
    facts = {
        "Left": _source(run, "left"),
        "Right": _source(run, "right"),
        "On": words.on if isinstance(words.on, str) else ", ".join(words.on),
        "Time": words.time,
        "Window": " and ".join(map(str, words.window))
        if isinstance(words.window, tuple)
        else words.window,
        "Budget": words.budget or "unlimited",
        "Policy": words.policy,
        "Lateness": words.lateness or "none",
        "Results": run.layout.results or run.config.sink.format,
    }
    record = run.layout.record("ingest")
    if record.exists():
        for side, counts in read_json(record).items():
            if isinstance(counts, dict):
                facts[f"Rows of the {side} source"] = ", ".join(
                    f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items() if count
                )
    return facts


def _comparison(run: Run, compared: dict[str, Any]) -> Comparison:
    words, rows = run.config.join, compared["rows"]
    return comparison_from(
        {
            "title": run.config.pipeline.name,
            "left": _source(run, "left"),
            "right": _source(run, "right"),
            "window": str(words.window),
            "on": str(words.on),
            "tuples_in": compared["tuples_in"],
            "exact_results": rows[0]["exact_results"],
            "mean_alive": rows[0]["mean_alive"],
            "seed": words.seed,
            "rows": rows,
        }
    )


def _source(run: Run, side: str) -> str:
    source = run.config.source(side)
    settings = [f"{name} = {value}" for name, value in source.options.items()]
    return ", ".join([source.format, *([source.path] if source.path else []), *settings])
