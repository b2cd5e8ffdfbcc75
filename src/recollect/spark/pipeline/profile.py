"""Stage two: what kind of locality both sources have, and so what a policy can make of it."""

from functools import reduce
from operator import and_
from typing import Any

from pyspark.sql import functions as F  # noqa: N812

from recollect.join.query import SIDES
from recollect.spark.pipeline import ingested
from recollect.spark.pipeline.context import Run
from recollect.spark.profile import profile as measure
from recollect.spark.words import quoted


def profile(run: Run) -> dict[str, Any]:
    """Profile the keys of each side, in the order of time."""
    return {side: _profile_of(run, side) for side in SIDES}


def _profile_of(run: Run, side: str) -> dict[str, Any]:
    keys, time = run.config.join.keys_of(side), run.config.join.time_of(side)
    rows = ingested.rows(run, side)
    if rows.where(reduce(and_, (F.col(quoted(key)).isNotNull() for key in keys))).isEmpty():
        return {"tuples": 0}
    return measure(rows, keys, order_by=time, h=run.config.profile.h).to_dict()
