"""Whole streams enriched from a relation: :func:`lookup`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from recollect.errors import InputError
from recollect.hashing import code_of_columns, missing
from recollect.join.whole import Progress, quiet
from recollect.lookup.online import DEFAULT_POLICY, Lookup, require_keys
from recollect.lookup.stats import LookupStats
from recollect.policies import Policy, parse_cache_policy
from recollect.streams import Source, open_source

BATCH_ROWS = 65_536
"""Rows of the stream per batch, and so per query."""


@dataclass(frozen=True)
class Enriched:
    """What :func:`lookup` found."""

    table: pa.Table | None
    """The enriched rows; None if they were only counted."""
    stats: LookupStats


class WholeLookup:
    """A lookup for a whole stream whose results come batch by batch; see :func:`lookup`."""

    def __init__(
        self,
        stream: Any,
        relation: Any,
        *,
        on: str | Sequence[Any],
        cache: int,
        table: str | None = None,
        policy: str | Policy | type[Policy] = DEFAULT_POLICY,
        how: str = "left",
        ttl: Any = None,
        retries: int = 5,
        seed: int = 0,
        count_only: bool = False,
        batch_rows: int = BATCH_ROWS,
        progress: Progress = quiet,
    ) -> None:
        self._source = open_source(stream)
        made = parse_cache_policy(policy)
        self._lookup = Lookup(
            relation, on=on, table=table, cache=cache, policy=made, how=how, ttl=ttl,
            retries=retries, seed=seed, count_only=count_only,
        )  # fmt: skip
        require_keys(self._source.schema, self._lookup.on)
        self._batch_rows, self._progress = batch_rows, progress
        trace = self._trace(self._source, made) if made.offline else None
        self._columns = list(self._lookup.on) if count_only else self._source.schema.names
        self._lookup.expect(pa.schema([self._source.schema.field(c) for c in self._columns]), trace)
        schema = self._lookup.schema
        assert schema is not None
        self.schema: pa.Schema = schema

    def _trace(self, source: Source, policy: Policy) -> np.ndarray:
        """Read the keys beforehand."""
        if not source.replayable:
            raise InputError(
                f"policy {policy.spec} must know the whole stream beforehand, but {source.name} can"
                " be read only once"
            )
        parts = [np.empty(0, np.int64)]
        for batch in source.batches(self._lookup.on, self._batch_rows):
            codes, nulls = code_of_columns(batch.columns), missing(batch.columns)
            parts.append(codes if nulls is None else codes[~nulls])
            self._progress("looking ahead", batch.num_rows)
        return np.concatenate(parts)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Run the lookup."""
        try:
            for batch in self._source.batches(self._columns, self._batch_rows):
                result = self._lookup.feed(batch)
                self._progress("lookup", batch.num_rows)
                if result.num_rows:
                    yield result
        finally:
            self._lookup.close()

    @property
    def stats(self) -> LookupStats:
        """What has happened so far."""
        return self._lookup.stats


def lookup(stream: Any, relation: Any, **arguments: Any) -> Enriched:
    """Enrich a stream with the rows of a relation, through a cache of bounded size.

    Parameters
    ----------
    stream
        A path (Parquet, CSV, Arrow IPC, JSON lines), an Arrow table, a pandas or Polars frame, or
        anything else with ``__arrow_c_stream__``.
    relation, on, table, cache, policy, how, ttl, retries, seed, count_only
        As for :class:`~recollect.lookup.online.Lookup`. The policy may also be ``lfd``, the offline
        optimum, for which the stream is read twice.
    batch_rows
        Rows of the stream per batch: for each there is at most one query.
    progress
        Called with the name of the stage and the number of rows just read.

    Examples
    --------
    >>> from recollect.streams import LocalityStream
    >>> stream = LocalityStream(5_000, keys=1_000, seed=1)
    >>> goods = pa.table({"key": range(1_000), "price": [0.5 * i for i in range(1_000)]})
    >>> answer = lookup(stream, goods, on="key", cache=200, policy="lru")
    >>> answer.table.schema.names, answer.table.num_rows
    (['time', 'key', 'price'], 5000)
    >>> best = lookup(stream, goods, on="key", cache=200, policy="lfd", count_only=True)
    >>> 0.5 < answer.stats.hit_rate < best.stats.hit_rate < 0.9
    True
    """
    run = WholeLookup(stream, relation, **arguments)
    batches = list(run)
    table = None if arguments.get("count_only") else pa.Table.from_batches(batches, run.schema)
    return Enriched(table, run.stats)
