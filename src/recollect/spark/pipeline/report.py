"""Stage five: everything on one page."""

from typing import Any

from recollect.join.budget import parse_budget
from recollect.join.query import SIDES
from recollect.report.page import require_page
from recollect.report.pipeline import write_pipeline_report
from recollect.spark.pipeline.context import Run
from recollect.spark.pipeline.join import batches
from recollect.spark.pipeline.layout import read_json


def report(run: Run) -> dict[str, Any]:
    """Write the page from what the other stages left behind; profile and quality may be missing."""
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
    budget = parse_budget(config.join.budget)
    write_pipeline_report(
        layout.report,
        title=config.pipeline.name,
        facts=_facts(run),
        batches=batches(run, query),
        profiles={side: profiles[side] for side in SIDES if side in profiles},
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
        "Window": " and ".join(words.window) if isinstance(words.window, tuple) else words.window,
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


def _source(run: Run, side: str) -> str:
    source = run.config.source(side)
    settings = [f"{name} = {value}" for name, value in source.options.items()]
    return ", ".join([source.format, *([source.path] if source.path else []), *settings])
