"""Where points are measured: in processes of this machine, or on Spark."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING, Protocol

from recollect_papers.experiment import Point, Rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Task:
    """A point and the function that measures it."""

    measure: Callable[..., Rows]
    point: Point

    def __call__(self) -> Rows:
        """Measure."""
        return self.measure(**self.point)


class Place(Protocol):
    """Somewhere to measure."""

    def results(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Rows]]:
        """Give the number of each task and its rows, as they are ready."""
        ...


@dataclass(frozen=True)
class Processes:
    """Processes of this machine.

    Parameters
    ----------
    count
        How many; one per core if left out.
    """

    count: int | None = None

    def results(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Rows]]:
        """Give the number of each task and its rows, as they are ready."""
        # Spawned, because a fork of a process with threads may hang.
        with ProcessPoolExecutor(self.count or os.cpu_count(), get_context("spawn")) as pool:
            waiting = {pool.submit(task): number for number, task in enumerate(tasks)}
            try:
                for future in as_completed(waiting):
                    yield waiting[future], future.result()
            finally:
                pool.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True)
class OnSpark:
    """The executors of a Spark session.

    Parameters
    ----------
    spark
        The session. Real data must be in the same folder on every machine.
    """

    spark: "SparkSession"

    def results(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Rows]]:
        """Give the number of each task and its rows, some tasks per core at a time."""
        from recollect.spark.scatter import scatter

        share = 4 * self.spark.sparkContext.defaultParallelism
        for start in range(0, len(tasks), share):
            part = tasks[start : start + share]
            yield from enumerate(scatter(self.spark, Task.__call__, part), start)
