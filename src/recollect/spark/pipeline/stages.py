"""The stages of a pipeline, in their order.

To add one: write a file with a function that takes a :class:`~.context.Run` and returns its
numbers, and put it into the list at its place.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.spark.pipeline.compare import compare
from recollect.spark.pipeline.context import Run
from recollect.spark.pipeline.ingest import ingest
from recollect.spark.pipeline.join import join
from recollect.spark.pipeline.layout import Layout
from recollect.spark.pipeline.profile import profile
from recollect.spark.pipeline.quality import quality
from recollect.spark.pipeline.report import report


@dataclass(frozen=True)
class Stage:
    """A step of the pipeline, which can be run by itself once those it needs have run."""

    name: str
    work: Callable[[Run], dict[str, Any]]
    needs: str | None = None
    """The stage that must have run."""
    reads: tuple[str, ...] = ()
    """Stages whose numbers it takes if they are there."""
    trace: Callable[[Layout], Path] | None = None
    """The file by which others see that it has; its numbers if left out."""

    def numbers(self, run: Run) -> dict[str, dict[str, Any]]:
        """Do the work, and return the numbers by the name of the stage."""
        return {self.name: self.work(run)}

    def has_run(self, layout: Layout) -> bool:
        """Whether a stage that needs this one can run."""
        return (self.trace(layout) if self.trace else layout.record(self.name)).exists()


STAGES = (
    # The join may follow while ingesting is still under way: all it must know are the columns.
    Stage("ingest", ingest, trace=lambda layout: layout.schema("right")),
    Stage("profile", profile, needs="ingest"),
    Stage("compare", compare, needs="ingest"),
    Stage("join", join, needs="ingest"),
    Stage("quality", quality, needs="join"),
    Stage("report", report, needs="join", reads=("profile", "compare", "quality")),
)
