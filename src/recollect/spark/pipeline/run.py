"""Run the stages of a pipeline."""

import time
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from recollect.errors import InputError
from recollect.report.page import require_page
from recollect.spark.pipeline.config import Config
from recollect.spark.pipeline.context import NoWatch, Run, Watch
from recollect.spark.pipeline.failures import SPARK_ERRORS, failure
from recollect.spark.pipeline.layout import Layout, write_json
from recollect.spark.pipeline.stages import STAGES, Stage
from recollect.spark.pipeline.together import ingest_and_join

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = tuple(stage.name for stage in STAGES)
BOTH = ("ingest", "join")
"""These run at the same time if they do not end by themselves."""


def run_pipeline(
    config: Config,
    session: "Callable[[], SparkSession]",
    stages: Collection[str] = (),
    watch: Watch | None = None,
) -> dict[str, dict[str, Any]]:
    """Run a pipeline, or some of its stages.

    A run that was cut short is continued by running it again.

    Parameters
    ----------
    config
        What is to be done, from :func:`~recollect.spark.pipeline.config.read_config`.
    session
        Makes the session when it is needed.
    stages
        Their names; all if left out.
    watch
        Told about progress.

    Returns
    -------
    dict
        The numbers of each stage that ran.
    """
    chosen = _chosen(config, stages)
    run = Run(config, session, watch or NoWatch())
    run.layout.make()
    _require_earlier(chosen, run.layout)
    if any(stage.name == "report" for stage in chosen):
        require_page(run.layout.report)
    try:
        return _run(run, chosen)
    finally:
        run.stop_queries()


def _chosen(config: Config, names: Collection[str]) -> list[Stage]:
    for name in names:
        if name not in NAMES:
            raise InputError(f"unknown stage {name!r}; the stages are {', '.join(NAMES)}")
    if names:
        return [stage for stage in STAGES if stage.name in names]
    optional = {
        "profile": config.profile.run,
        "compare": config.compare is not None,
        "quality": config.quality.run,
    }
    return [stage for stage in STAGES if optional.get(stage.name, True)]


def _require_earlier(chosen: Sequence[Stage], layout: Layout) -> None:
    by_name = {stage.name: stage for stage in STAGES}
    names = [stage.name for stage in chosen]
    for stage in chosen:
        if stage.needs is None or stage.needs in names:
            continue
        if not by_name[stage.needs].has_run(layout):
            raise InputError(
                f"stage {stage.name!r} needs what {stage.needs!r} leaves in {layout.out}, where"
                f" nothing is yet; run {stage.needs!r} first, or both"
            )


def _run(run: Run, chosen: Sequence[Stage]) -> dict[str, dict[str, Any]]:
    numbers: dict[str, dict[str, Any]] = {}
    rest = list(chosen)
    if run.config.sink.trigger is not None and set(BOTH) <= {stage.name for stage in rest}:
        numbers |= _recorded(run, BOTH, ingest_and_join)
        rest = [stage for stage in rest if stage.name not in BOTH]
    for stage in rest:
        numbers |= _recorded(run, [stage.name], stage.numbers)
    return numbers


def _recorded(
    run: Run, names: Sequence[str], work: Callable[[Run], dict[str, dict[str, Any]]]
) -> dict[str, dict[str, Any]]:
    """Do the work of stages; their numbers are there only if and when they are complete."""
    for name in _outdated(names):
        run.layout.record(name).unlink(missing_ok=True)
    for name in names:
        run.watch.begin(name)
    begun = time.monotonic()
    try:
        done = work(run)
    except SPARK_ERRORS as error:
        raise failure(" and ".join(names), error) from error
    seconds = round(time.monotonic() - begun, 1)
    for name in names:
        done[name]["seconds"] = seconds
        write_json(done[name], run.layout.record(name))
        run.watch.end(name, done[name])
    return done


def _outdated(names: Sequence[str]) -> list[str]:
    """The stages that speak of what these leave behind, and these."""
    found = list(names)
    for stage in STAGES:
        if stage.name not in found and {stage.needs, *stage.reads} & {*found}:
            found.append(stage.name)
    return found
