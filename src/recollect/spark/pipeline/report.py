"""Stage six: everything on one page."""

from typing import Any

from recollect.join.budget import parse_budget
from recollect.join.query import SIDES
from recollect.report.comparison import comparison_from
from recollect.report.page import require_page
from recollect.report.pipeline import write_pipeline_report
from recollect.spark.pipeline.join import batches
from recollect.spark.pipeline.run import Run, read_json


def report(run: Run) -> dict[str, Any]:
    """Write the page from what the other stages left behind; the optional ones may be missing."""
    config = run.config
    require_page(run.report)
    ingested, profiles, compared, joined, quality = (
        read_json(run.record(stage))
        for stage in ("ingest", "profile", "compare", "join", "quality")
    )
    if quality and quality["recall"] is None:  # there was nothing to find, and all of it was found
        quality["recall"] = 1.0
    by_slice, by_key = (
        [tuple(row.values()) for row in quality[name]] if quality else []
        for name in ("by_slice", "worst_keys")
    )
    budget = parse_budget(config.join.budget)
    comparison = None
    if compared:
        comparison = comparison_from(
            {
                "title": config.pipeline.name,
                "left": _source(run, "left"),
                "right": _source(run, "right"),
                "window": str(config.join.window),
                "on": str(config.join.on),
                "tuples_in": compared["tuples_in"],
                "exact_results": compared["rows"][0]["exact_results"],
                "mean_alive": compared["rows"][0]["mean_alive"],
                "seed": config.join.seed,
                "rows": compared["rows"],
            }
        )
    write_pipeline_report(
        run.report,
        title=config.pipeline.name,
        facts=_facts(run, ingested or {}),
        batches=batches(run, joined["query_id"]),
        profiles={side: profiles[side] for side in SIDES if side in profiles} if profiles else {},
        comparison=comparison,
        quality=quality,
        by_slice=by_slice,
        by_key=by_key,
        budget_tuples=budget.tuples,
        budget_bytes=budget.bytes,
    )
    return {"html": str(run.report)}


def _facts(run: Run, ingested: dict[str, Any]) -> dict[str, Any]:
    asked = run.config.join
    windows = asked.window if isinstance(asked.window, tuple) else (asked.window,)
    facts = {
        "Left": _source(run, "left"),
        "Right": _source(run, "right"),
        "On": asked.on if isinstance(asked.on, str) else ", ".join(asked.on),
        "Time": asked.time,
        "Window": " and ".join(map(str, windows)),
        "Budget": asked.budget or "unlimited",
        "Policy": asked.policy,
        "Lateness": asked.lateness or "none",
        "Results": run.results or run.config.sink.format,
    }
    for side in SIDES:
        counts = ingested.get(side, {}).items()
        if counts:
            facts[f"Rows of the {side} source"] = ", ".join(
                f"{count:,} {name.replace('_', ' ')}" for name, count in counts if count
            )
    return facts


def _source(run: Run, side: str) -> str:
    source = run.config.source(side)
    settings = [f"{name} = {value}" for name, value in source.options.items()]
    return ", ".join([source.format, *([source.path] if source.path else []), *settings])
