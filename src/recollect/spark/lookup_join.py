"""A DataFrame enriched from a database, through one bounded cache per worker: :func:`lookup_join`.

Spark runs Python in worker processes that live on from task to task, so a cache in one of them
serves all tasks it will run, of every micro-batch. Nothing depends on it but the number of queries:
a worker that is new begins with an empty cache.
"""

import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkTypeError, UnsupportedOperationException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import LongType, StructField, StructType

from recollect.errors import InputError, PolicyError
from recollect.lookup.online import DEFAULT_POLICY, Lookup
from recollect.policies import Policy, parse_cache_policy
from recollect.spark.packing import Stage, arrow_schema, conform

OBSERVATION = "recollect-lookup."
"""What the names of our observations begin with; the name of the lookup follows."""
NUMBERS = "recollect_numbers"
"""The column of the rows that carry numbers."""
MOST_CACHES = 8
"""The most that a worker keeps, because it does not learn when a query has ended."""


FIELDS = (
    "rows_in", "hits", "misses", "queries", "negative_hits", "not_found", "null_keys", "evicted",
    "refused", "expired",
)  # fmt: skip
"""What a task did. Spark sums it up over a micro-batch with ``observe``."""

_caches: dict[str, Lookup] = {}
"""The caches of this process, by the lookup they belong to."""


def lookup_join(
    stream: DataFrame,
    relation: str,
    on: str | Sequence[Any],
    cache: int,
    policy: str | Policy = DEFAULT_POLICY,
    table: str | None = None,
    how: str = "left",
    ttl: Any = None,
    retries: int = 5,
    seed: int = 0,
    name: str = "lookup_join",
) -> DataFrame:
    """Join a DataFrame, stream or not, with a relation of a database through bounded caches.

    Rows are looked up in the batches in which Spark hands them to Python
    (``spark.sql.execution.arrow.maxRecordsPerBatch``), with at most one query for each. To let each
    worker see all rows of a key, and so hit more often, repartition the stream by the key first.

    Parameters
    ----------
    stream
        The DataFrame.
    relation
        The URL of a database that every worker can reach: ``postgresql://user@host/database``, or
        ``sqlite:///…``, ``duckdb:///…`` or any file for one that every worker has.
    on, policy, table, how, ttl, retries, seed
        As for :class:`recollect.lookup.Lookup`. The relation's columns follow those of the stream.
    cache
        How many rows each worker process may cache.
    name
        Under ``recollect-lookup.<name>`` numbers of each micro-batch are observed (rows_in, hits,
        misses, queries, …); they are in ``observedMetrics`` of the query's progress. Each lookup of
        a query needs its own.

    Examples
    --------
    >>> from recollect.spark import lookup_join, session
    >>> spark = session()  # doctest: +SKIP
    >>> orders = spark.readStream.table("orders")  # doctest: +SKIP
    >>> lookup_join(
    ...     orders, "postgresql://shop@db/shop", on="customer_id=id", table="customers",
    ...     cache=100_000, policy="s3-fifo", ttl="10min",
    ... )  # doctest: +SKIP
    """
    if not isinstance(relation, str):
        raise InputError(
            "on Spark a relation is named by the URL of a database, or the path of a file, that"
            f" every worker can open; it cannot be a {type(relation).__name__}"
        )
    made = parse_cache_policy(policy)
    if made.offline:
        raise PolicyError(f"policy {made.spec} must know the whole stream beforehand; take another")
    settings: dict[str, Any] = {
        "relation": relation, "on": on, "table": table, "cache": cache, "policy": made,
        "how": how, "ttl": ttl, "retries": retries, "seed": seed,
    }  # fmt: skip
    schema = _arrow_schema(stream.schema)
    # Opened here as well, because mistakes should show before a query runs.
    here = Lookup(**settings)
    try:
        here.expect(schema)
        assert here.schema is not None
        result = _spark_schema(here.schema)
    finally:
        here.close()
    numbers = StructField(NUMBERS, StructType([StructField(n, LongType()) for n in FIELDS]))
    joined = stream.mapInArrow(
        _stage(str(uuid.uuid4()), settings, schema, _arrow_schema(result)),
        StructType([*result, numbers]),
    )
    sums = [F.sum(f"{NUMBERS}.{field}").alias(field) for field in FIELDS]
    rows = joined.observe(OBSERVATION + name, *sums).where(F.col(NUMBERS).isNull())
    return rows.drop(NUMBERS)


def _stage(token: str, settings: dict[str, Any], schema: pa.Schema, result: pa.Schema) -> Stage:
    kind = pa.struct([(field, pa.int64()) for field in FIELDS])
    out = pa.schema([*result, (NUMBERS, kind)])

    def enrich(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        lookup = cache_of(token, settings)
        before = _numbers(lookup)
        for batch in batches:
            rows = conform(lookup.feed(conform(batch, schema)), result)
            nulls = pa.nulls(rows.num_rows, kind)
            yield pa.RecordBatch.from_arrays([*rows.columns, nulls], schema=out)
        after = _numbers(lookup)
        done = {name: after[name] - before[name] for name in FIELDS}
        nulls = [pa.nulls(1, field.type) for field in result]
        yield pa.RecordBatch.from_arrays([*nulls, pa.array([done], kind)], schema=out)

    return enrich


def cache_of(token: str, settings: dict[str, Any]) -> Lookup:
    """The lookup of this process that belongs to a token; made if there is none."""
    if token not in _caches:
        while len(_caches) >= MOST_CACHES:
            _caches.pop(next(iter(_caches))).close()
        _caches[token] = Lookup(**settings)
    return _caches[token]


def _numbers(lookup: Lookup) -> dict[str, int]:
    stats = lookup.stats.as_dict()
    return {name: stats["tuples_in" if name == "rows_in" else name] for name in FIELDS}


def _arrow_schema(struct: StructType) -> pa.Schema:
    """Spark's columns in Arrow's terms; all may be NULL, as they are in rows with numbers."""
    return pa.schema([f.with_nullable(True) for f in arrow_schema(struct, "the stream")])


def _spark_schema(schema: pa.Schema) -> StructType:
    try:
        return from_arrow_schema(schema)
    except (PySparkTypeError, UnsupportedOperationException) as error:
        raise InputError(f"Spark has no type for a column of the relation: {error}") from None
