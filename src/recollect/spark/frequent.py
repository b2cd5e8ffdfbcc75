"""Frequent values on Spark: Lossy Counting in every partition, and one sum."""

from collections.abc import Callable, Iterator
from math import ceil
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructType

from recollect.counting import ValueCounter
from recollect.counting.lossy import LEAST_EPSILON, as_typed
from recollect.errors import InputError
from recollect.spark.columns import find, quoted, require_hashable
from recollect.streams.checks import require_real

KEY, COUNT, ERROR = "key", "count", "max_error"


def frequent(df: DataFrame, key: str, support: float, epsilon: float | None = None) -> DataFrame:
    """Find all values that make up a share of a DataFrame, in bounded memory per partition.

    Each partition is counted by Lossy Counting with the same error, and what they have counted is
    added up. The sum keeps the promises of its parts. Let partition i have N_i rows, and let it
    have counted f_i of the n_i occurrences of a value (f_i = 0 if it has no entry there). Then

    - 0 <= n_i - f_i <= e_i, where e_i is the error of its entry, or, if there is none, what a value
      without an entry may have missed; both are at most ε·N_i;
    - so with f = Σ f_i, n = Σ n_i, N = Σ N_i the sum is low by at most Σ e_i <= ε·N, never high;
    - so a value with n >= s·N has f >= (s - ε)·N and is found, and one that is found has
      n >= (s - ε)·N.

    Which rows are in which partition, and in which order, may change the counts, not the promises.

    Parameters
    ----------
    df
        Not streaming.
    key
        The column, of any type that Spark can compare. NULL and NaN are not counted.
    support
        The share of all rows with a value that makes a value frequent.
    epsilon
        By which share of these a count may be low; a tenth of the support if left out.

    Returns
    -------
    DataFrame
        The key, ``count`` and ``max_error`` (Σ e_i: it came at least ``count`` times, and at most
        ``max_error`` times more), the most frequent first. The partitions are counted when this
        function returns; their entries, about 1/ε each at most, stay with the executors until the
        answer is no longer in use.

    Examples
    --------
    Users behind more than one request in a hundred::

        frequent(requests, "user", support=0.01).show()
    """
    require_real("support", support, least=LEAST_EPSILON, most=1)
    if epsilon is None:
        epsilon = support / 10
    require_real("epsilon", epsilon, least=LEAST_EPSILON, most=1)
    if epsilon >= support:
        raise InputError(f"epsilon {epsilon} is not less than support {support}")
    if df.isStreaming:
        raise InputError("frequent values need the whole input, but the DataFrame is a stream")
    field = df.schema[find(df, key, "the DataFrame")]
    require_hashable(field)
    columns = StructType().add(KEY, field.dataType).add(COUNT, "long").add(ERROR, "long")
    parts = df.select(quoted(field.name)).mapInArrow(_counter(epsilon), columns).localCheckpoint()
    total = parts.where(F.col(KEY).isNull()).agg(F.sum(COUNT), F.sum(ERROR)).first()
    assert total is not None
    rows, missed = total[0] or 0, total[1] or 0
    least = ceil((as_typed(support) - as_typed(epsilon)) * rows)
    return (
        parts.where(F.col(KEY).isNotNull())
        .groupBy(KEY)
        .agg(F.sum(COUNT).alias(COUNT), (F.sum(ERROR) + F.lit(missed)).alias(ERROR))
        .where(F.col(COUNT) >= least)
        .orderBy(F.desc(COUNT), KEY)
        .select(F.col(KEY).alias(field.name), COUNT, ERROR)
    )


def _counter(epsilon: float) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Count a partition.

    An entry becomes a line with its key, its count, and by how much its error differs from what a
    value without an entry has missed. A last line without a key has the rows and what was missed.
    """

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        values = None
        for batch in batches:
            if values is None:
                values = ValueCounter(batch.column(0).type, epsilon)
            values.add(batch.column(0))
        if values is not None:
            counter = values.counter
            keys, entries = values.all_entries()
            yield _lines(keys, entries.counts, entries.errors - counter.missed)
            yield _lines(pa.nulls(1, keys.type), [counter.tuples], [counter.missed])

    return count


def _lines(keys: pa.Array, counts: Any, errors: Any) -> pa.RecordBatch:
    numbers = [pa.array(column, pa.int64()) for column in (counts, errors)]
    return pa.RecordBatch.from_arrays([keys, *numbers], names=[KEY, COUNT, ERROR])
