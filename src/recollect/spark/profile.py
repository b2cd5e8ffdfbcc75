"""The locality of a stream as aggregations on Spark: the numbers of :func:`recollect.profile`.

Rows are numbered in their order; from then on only the number counts, not the executor.
Popularity and inter-arrival distances are aggregations by key. Coincidences and entropy look at
the h rows before each row; for these the positions are cut into blocks, each of which also gets
the last h rows of the block before, and the kernels of the local profile run on each block.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import LongType

from recollect.errors import InputError
from recollect.hashing import code_of_columns, missing
from recollect.locality import (
    Coincidences,
    Distances,
    Fitted,
    KeyNumbers,
    LocalityModel,
    Order,
    Popularity,
    Profile,
    conditional_entropy,
    entropy_iid,
    fit_locality,
)
from recollect.locality.coincidences import MOST_LAGS
from recollect.locality.distances import STEPS
from recollect.locality.permutation import shuffle_ranks
from recollect.locality.profile import shorter_models
from recollect.spark.columns import find, require_hashable
from recollect.spark.numbered_rows import POSITION, by_block, numbered
from recollect.streams.checks import require_whole


def profile(
    df: DataFrame,
    key: str | Sequence[str],
    order_by: str | Sequence[str],
    h: int = 50,
    seed: int = 0,
) -> Profile:
    """Measure the locality of the rows of a DataFrame, and of a permutation of them.

    On the same rows in the same order, everything is what :func:`recollect.profile` measures. Stack
    distances and the fit of the permutation are left out. The rows are sorted twice over all
    executors, as numbers of 8 bytes, which stay there until the profile is done; only counts by
    distance, by lag and by popularity come to the driver.

    Parameters
    ----------
    df
        Not streaming.
    key
        The key column, or several. Rows in which one is NULL or NaN are left out and counted.
    order_by
        The columns, such as the time, in whose order the rows came. Where rows tie, Spark is free
        to take any first; add columns until none do to have the same numbers each time.
    h
        How many rows the locality model looks back, at most 1,000.
    seed
        Which permutation.

    Examples
    --------
    How much of a stream of clicks is left to popularity::

        profile(clicks, key="ad_id", order_by=["ts", "click_id"]).to_dict()["b"]
    """
    require_whole("h", h, least=1, most=MOST_LAGS)
    rows = _coded(df, key, order_by)
    order = [F.col(name) for name in rows.columns if name != "code"]
    # Those without a key come last, so that the positions of the others have no gaps.
    everything, total = numbered(rows, F.col("code").isNull(), *order)
    stream = everything.where("code IS NOT NULL").select(POSITION, "code")
    keys = stream.groupBy("code").agg(F.count("*").alias("times"))
    popularity = _popularity(keys)
    tuples = popularity.tuples
    if not tuples:
        raise InputError(f"there is nothing to profile: none of {total:,} rows has a key")

    one_draw = entropy_iid(popularity.counts)
    pairs = _coincidences(stream, h)
    model = fit_locality(pairs, tuples, popularity.counts)
    entropy = _entropy(stream.join(keys, "code"), model, tuples, one_draw) / tuples
    shuffled, _ = numbered(stream.select("code", _shuffle_rank(seed).alias("rank")), F.col("rank"))
    return Profile(
        popularity=popularity,
        stream=Order(
            interarrival=interarrival(stream),
            stack=None,
            fitted=Fitted(model, shorter_models(pairs, tuples, popularity.counts), entropy),
        ),
        permuted=Order(interarrival=interarrival(shuffled), stack=None, fitted=None),
        entropy_iid=one_draw,
        h=h,
        null_keys=total - tuples,
    )


def _coded(df: DataFrame, key: str | Sequence[str], order_by: str | Sequence[str]) -> DataFrame:
    """The codes of the keys, NULL where a key is, and the columns that the rows are ordered by."""
    if df.isStreaming:
        raise InputError("a stream has no end to its profile; write it out and read that")
    found = []
    for given, what in ((key, "key"), (order_by, "order_by")):
        names = [given] if isinstance(given, str) else list(given)
        if not names:
            raise InputError(f"{what} names no column")
        found.append([find(df, name, "the DataFrame") for name in names])
    places, ordered = found
    require_hashable(*(df.schema[place] for place in places))
    # By position, because names may need quotes, and other columns may have the same.
    plain = df.toDF(*(f"column{place}" for place in range(len(df.columns))))
    return plain.select(
        *(F.col(f"column{place}").alias(f"order{n}") for n, place in enumerate(ordered)),
        _code(*(F.col(f"column{place}") for place in places)).alias("code"),
    )


@arrow_udf(LongType())  # type: ignore[call-overload]
def _code(*keys: pa.Array) -> pa.Array:
    columns = list(keys)
    return pa.array(code_of_columns(columns), mask=missing(columns))


def _shuffle_rank(seed: int) -> Column:
    @arrow_udf(LongType())  # type: ignore[call-overload]
    def rank(positions: pa.Array) -> pa.Array:
        return pa.array(shuffle_ranks(positions.to_numpy(), seed))

    return rank(POSITION)


def _popularity(keys: DataFrame) -> Popularity:
    """How many keys came how often: far fewer numbers than keys."""
    rows = keys.groupBy("times").agg(F.count("*").alias("keys")).collect()
    times, count = (np.array([row[i] for row in rows], np.int64) for i in (0, 1))
    return Popularity.of(np.repeat(times, count))


def interarrival(stream: DataFrame) -> Distances:
    """Count how far each row is from the one before it with the same code."""
    before = F.lag(POSITION).over(Window.partitionBy("code").orderBy(POSITION))
    # The shortest distance of the same bin: only the first bits are kept.
    distances = stream.select((F.col(POSITION) - before).alias("distance")).selectExpr(
        "distance", f"greatest(length(bin(distance)) - {STEPS.bit_length()}, 0) AS shift"
    )
    bins = distances.groupBy(
        F.expr("shiftleft(shiftright(distance, shift), shift)").alias("distance")
    ).agg(F.count("*").alias("rows"))
    found = {row.distance: row.rows for row in bins.collect()}
    firsts = found.pop(None, 0)
    return Distances.of([*found], firsts, [*found.values()])


def _coincidences(stream: DataFrame, h: int) -> np.ndarray:
    """How many rows have the key of the row 1, 2, … h places before."""

    def count(rows: pa.Table, own: int) -> pa.Table:
        codes, pairs = rows["code"].to_numpy(), Coincidences(h)
        pairs.add(codes[:own])
        before = pairs.counts.copy()
        pairs.add(codes[own:])
        return pa.table({"lag": np.arange(1, h + 1), "pairs": pairs.counts - before})

    blocks = by_block(stream, h, count, "lag bigint, pairs bigint")
    counts = np.zeros(h, np.int64)
    for row in blocks.groupBy("lag").agg(F.sum("pairs").alias("pairs")).collect():
        counts[row.lag - 1] = row.pairs
    return counts


def _entropy(stream: DataFrame, model: LocalityModel, tuples: int, one_draw: float) -> float:
    """The sum of the entropies of all forecasts."""

    def forecast(rows: pa.Table, own: int) -> pa.Table:
        keys = KeyNumbers()
        numbers = keys.add(rows["code"].to_numpy())
        shares = np.empty(keys.distinct)
        shares[numbers] = rows["times"].to_numpy() / tuples
        bits = conditional_entropy(numbers, shares, model, one_draw, start=own)
        return pa.table({"bits": [bits]})

    blocks = by_block(stream, model.h, forecast, "bits double")
    return float(blocks.agg(F.sum("bits")).collect()[0][0])
