"""The stages of a pipeline, and how they are run."""

import time
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from recollect.errors import InputError
from recollect.report.page import require_page
from recollect.spark.pipeline.config import Config
from recollect.spark.pipeline.ingest import ingest
from recollect.spark.pipeline.join import ingest_and_join, join
from recollect.spark.pipeline.measure import compare, profile, quality
from recollect.spark.pipeline.queries import SPARK_ERRORS, failure
from recollect.spark.pipeline.report import report
from recollect.spark.pipeline.run import Run, Watch, write_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Stage(NamedTuple):
    """A step of the pipeline, which can be run by itself once the one it needs has run.

    To add one, write a function that takes a :class:`~.run.Run` and returns its numbers, and put
    it into :data:`STAGES` at its place.
    """

    work: Callable[[Run], dict[str, Any]]
    needs: str | None = None
    """The stage that must have run."""
    reads: tuple[str, ...] = ()
    """Stages whose numbers it takes if they are there."""


STAGES = {
    "ingest": Stage(ingest),
    "profile": Stage(profile, needs="ingest"),
    "compare": Stage(compare, needs="ingest"),
    "join": Stage(join, needs="ingest"),
    "quality": Stage(quality, needs="join"),
    "report": Stage(report, needs="join", reads=("profile", "compare", "quality")),
}
"""In their order."""
NAMES = tuple(STAGES)
BOTH = ("ingest", "join")
"""These run at the same time if they do not end by themselves."""


def run_pipeline(
    config: Config,
    session: "Callable[[], SparkSession]",
    stages: Collection[str] = (),
    watch: Watch | None = None,
) -> dict[str, dict[str, Any]]:
    """Run a pipeline, or some of its stages.

    A run that was cut short is continued by running it again. The session is made when it is
    needed; ``watch`` is told about progress. Returns the numbers of each stage that ran.
    """
    chosen = _chosen(config, stages)
    run = Run(config, session, watch)
    _require_earlier(run, chosen)
    if "report" in chosen:
        require_page(run.report)
    numbers: dict[str, dict[str, Any]] = {}
    try:
        if config.sink.trigger is not None and set(BOTH) <= set(chosen):
            numbers |= _recorded(run, BOTH, ingest_and_join)
        for name in chosen:
            if name not in numbers:
                numbers |= _recorded(run, [name], STAGES[name].work)
    finally:
        for query in run.queries:
            query.stop()
    return numbers


def _chosen(config: Config, names: Collection[str]) -> list[str]:
    for name in names:
        if name not in STAGES:
            raise InputError(f"unknown stage {name!r}; the stages are {', '.join(NAMES)}")
    if names:
        return [name for name in NAMES if name in names]
    optional = {
        "profile": config.profile.run,
        "compare": config.compare is not None,
        "quality": config.quality.run,
    }
    return [name for name in NAMES if optional.get(name, True)]


def _require_earlier(run: Run, chosen: Sequence[str]) -> None:
    for name in chosen:
        needed = STAGES[name].needs
        if needed is None or needed in chosen:
            continue
        # The join may follow while ingesting is still under way: all it must know are the columns.
        trace = run.schema("right") if needed == "ingest" else run.record(needed)
        if not trace.exists():
            raise InputError(
                f"stage {name!r} needs what {needed!r} leaves in {run.out}, but"
                f" that stage has not run; run {needed!r} first, or both"
            )


def _recorded(
    run: Run, names: Sequence[str], work: Callable[[Run], dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Do the work of stages; their numbers are there only if and when they are complete."""
    for name in _outdated(names):
        run.record(name).unlink(missing_ok=True)
    for name in names:
        run.watch.begin(name)
    begun = time.monotonic()
    try:
        done = work(run)
    except SPARK_ERRORS as error:
        raise failure(" and ".join(names), error) from error
    if len(names) == 1:
        done = {names[0]: done}
    seconds = round(time.monotonic() - begun, 1)
    for name in names:
        done[name]["seconds"] = seconds
        write_json(done[name], run.record(name))
        run.watch.end(name, done[name])
    return done


def _outdated(names: Sequence[str]) -> list[str]:
    """These stages, and those whose numbers depend on what these leave behind."""
    found = list(names)
    for name, stage in STAGES.items():
        if name not in found and {stage.needs, *stage.reads} & {*found}:
            found.append(name)
    return found
