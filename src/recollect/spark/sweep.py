"""Every policy at every budget over the same two tables, in parallel over the cluster."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema

from recollect.errors import BudgetError, InputError
from recollect.hashing import code_of_columns, missing
from recollect.join.budget import Budget, capacity_of, parse_budget
from recollect.join.engine import Engine
from recollect.join.feed import keys_of
from recollect.join.query import SIDES, Bound, Query, bind
from recollect.join.stats import Stats
from recollect.join.whole import Inputs, quiet, survey
from recollect.policies import Policy, parse_policy
from recollect.spark.columns import JoinColumns, quoted, require_hashable
from recollect.spark.scatter import scatter
from recollect.streams.checks import require_whole

COLUMNS = (
    "policy string, budget string, seed long, budget_tuples long, results long,"
    " exact_results long, mean_alive double, recall double, evicted long, expired long,"
    " refused long, peak_tuples long, seconds double, tuples_per_second double"
)
"""The columns of the table: the seed, what the exact join holds, and what
:class:`recollect.join.stats.Stats` has."""

Plan = tuple[Policy, Budget, int]
"""A policy, a budget in tuples and a seed."""


def sweep(
    left: DataFrame,
    right: DataFrame,
    on: str | Sequence[Any],
    time: Any,
    window: Any,
    policies: Sequence[str | Policy | type[Policy]],
    budgets: Sequence[Any],
    seeds: Sequence[int] = (0,),
) -> DataFrame:
    """Try every policy with every budget and every seed, and count what each would have found.

    The join runs in order of time (rows of equal time in the order of the DataFrame, the left side
    first) and counts its results without making them, as :func:`recollect.compare` does, with the
    same numbers. For that only a code for the key and the time of each row are needed, 16 bytes
    together: they are collected, sorted and broadcast, so driver and Python workers must each have
    room for them, and ``spark.driver.maxResultSize`` must allow it. Then each combination is a task
    of its own. The work is done when this function returns.

    Parameters
    ----------
    left, right
        Not streaming.
    on, time, window
        As for :func:`~recollect.spark.bounded_join`.
    policies
        Names such as ``"prob"``, ``"clock:w0=2"``, ``"my_module:MyPolicy"``, or policies; a module
        of one's own must be known to the executors (``spark.addArtifact``, ``--py-files``).
    budgets
        Numbers of tuples, ``"unlimited"``, or shares such as ``"10%"`` of the tuples that the exact
        join holds in the mean. Not bytes: rows stay where they are, so their sizes are not known.
    seeds
        For policies that draw random numbers.

    Returns
    -------
    DataFrame
        One row per combination, in the order given: policy, budget, seed, budget_tuples, results,
        exact_results, mean_alive (tuples that the exact join holds in the mean), recall, evicted,
        expired, refused, peak_tuples, seconds (of the engine alone), tuples_per_second.

    Examples
    --------
    Which policy needs the least memory for nine results out of ten::

        table = sweep(clicks, views, on="ad", time="ts", window="10 minutes",
                      policies=["fifo", "prob", "clock"], budgets=["5%", "10%", "20%", "40%"])
        table.where("recall >= 0.9").orderBy("budget_tuples").show()
    """
    spark = left.sparkSession
    combinations = _combinations(policies, budgets, seeds)
    columns = JoinColumns.parse(left, right, on, time, window)
    if columns.streaming:
        raise InputError("a sweep needs to read its input to the end, but it is a stream")
    frames = _keys_and_times(columns, (left, right))
    zone = spark.conf.get("spark.sql.session.timeZone")
    bound = bind(columns.query, *(to_arrow_schema(frame.schema, timezone=zone) for frame in frames))
    tables = _collected(frames[0], bound, 0), _collected(frames[1], bound, 1)

    query = replace(columns.query, on=(("key",), ("key",)), time=("time", "time"))
    known = survey(Inputs.of_pair(*tables, query, whole_rows=False))
    plans = [(policy, budget.of(known.mean_alive), seed) for policy, budget, seed in combinations]
    broadcast = spark.sparkContext.broadcast(tables)

    def run(plan: Plan) -> dict[str, Any]:
        stats = replace(_counted(broadcast.value, query, plan), exact_results=known.exact_results)
        return stats.as_dict() | {"seed": plan[2], "mean_alive": known.mean_alive}

    try:
        rows = scatter(spark, run, plans)
    finally:
        broadcast.destroy()
    return spark.createDataFrame(rows, COLUMNS)


def _combinations(
    policies: Sequence[Any], budgets: Sequence[Any], seeds: Sequence[int]
) -> list[Plan]:
    asked = [parse_budget(budget, elsewhere=True) for budget in budgets]
    for budget in asked:
        if budget.bytes is not None:
            raise BudgetError(
                f"budget {budget} is in bytes, but a sweep sees only keys and times;"
                " give a number of tuples or a share such as 10%"
            )
    for seed in seeds:
        require_whole("seed", seed, least=0)
    plans = list(product([parse_policy(policy) for policy in policies], asked, map(int, seeds)))
    if not plans:
        raise InputError("a sweep needs at least one policy, one budget and one seed")
    return plans


def _keys_and_times(columns: JoinColumns, frames: Sequence[DataFrame]) -> list[DataFrame]:
    narrow = []
    for frame, keys, names, time in zip(
        frames, columns.keys, columns.query.on, columns.query.time, strict=True
    ):
        require_hashable(*(frame.schema[position] for position in keys))
        narrow.append(frame.select([quoted(name) for name in dict.fromkeys([*names, time])]))
    return narrow


def _collected(frame: DataFrame, bound: Bound, side: int) -> pa.Table:
    """One side in order of time: codes for its keys, NULL where these match nothing, and times."""
    name = bound.query.time[side]
    kind = frame.schema[name].dataType.simpleString()
    table = frame.mapInArrow(_encoder(bound, side), f"key bigint, time {kind}").toArrow()
    if nulls := table["time"].null_count:
        raise InputError(
            f"time column {name!r} of the {SIDES[side]} DataFrame is NULL in {nulls} rows"
        )
    return table.sort_by("time")  # keeps the order of equal times


def _encoder(
    bound: Bound, side: int
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def encode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            keys = keys_of(bound, side, batch)
            codes = pa.array(code_of_columns(keys), mask=missing(keys))
            times = batch.column(bound.query.time[side])
            yield pa.RecordBatch.from_arrays([codes, times], names=["key", "time"])

    return encode


def _counted(tables: tuple[pa.Table, pa.Table], query: Query, plan: Plan) -> Stats:
    """Run one plan over the broadcast tables."""
    policy, budget, seed = plan
    inputs = Inputs.of_pair(*tables, query, whole_rows=False)
    engine = Engine(policy, inputs.bound.setting, capacity_of(budget, None), seed=seed)
    (seconds,) = inputs.count([engine], quiet, "")
    return Stats.of(query.window_text, budget, engine, inputs.lanes, seconds)
