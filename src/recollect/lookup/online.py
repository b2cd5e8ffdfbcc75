"""A stream enriched batch by batch from a relation, through a bounded cache: :class:`Lookup`."""

import time
from collections.abc import Sequence
from datetime import timedelta
from math import isfinite
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from recollect.errors import InputError
from recollect.hashing import code_of_columns, fits_in_64_bits, missing
from recollect.join.payload import take
from recollect.join.query import key_columns
from recollect.join.result import equal_rows
from recollect.join.window import Duration, parse_duration
from recollect.lookup.cache import PENDING, Cache, Referred
from recollect.lookup.kernel import (
    COUNTS,
    EVICTED,
    EXPIRED,
    HITS,
    MISSES,
    NEGATIVE_HITS,
    REFUSED,
    SKIPPED,
)
from recollect.lookup.open_relation import open_relation
from recollect.lookup.outage import Patience, RelationLostError
from recollect.lookup.payload import Payload
from recollect.lookup.relation import Fetched
from recollect.lookup.stats import LookupStats
from recollect.policies import Policy, Room, parse_cache_policy
from recollect.streams.checks import require_whole
from recollect.streams.plain import plain_array, plain_schema

DEFAULT_POLICY = "s3-fifo"
KINDS = ("left", "inner")
LONGEST = 1 << 62
MOST_ROWS = 1 << 40
"""Nanoseconds, more than a century: a TTL beyond it is as good as none."""


class Lookup:
    """A stream joined with a relation, a batch at a time, through a cache of rows.

    References are handled in order: one is a hit if its key is cached at that moment, be it since
    earlier in the same batch. So hits do not depend on how the stream is cut into batches; the
    number of queries does, since all keys that a batch misses are fetched together. A key that the
    relation lacks is cached like a row.

    Parameters
    ----------
    relation
        The URL of a database (``sqlite:///file.db``, ``duckdb:///file.db``,
        ``postgresql://user@host/database``); or a file, table or frame that is held in memory.
    on
        The key columns: ``"key"``, ``"stream_key=relation_key"``, several separated by commas. In
        the relation a key must be unique.
    table
        The table of the database.
    cache
        How many rows may be cached.
    policy
        Which row to forget, by name (:func:`recollect.policies.cache_policy_names`) or as an
        object made from :class:`recollect.Policy`.
    how
        ``"left"`` keeps rows of the stream whose key the relation lacks, with NULL in its columns;
        ``"inner"`` leaves them out.
    ttl
        How long a row may be used before it is fetched anew: seconds, or such as ``"5min"``; for
        relations that change.
    retries
        How often a query is tried again when the database does not answer. The waits double,
        beginning at a tenth of a second.
    seed
        For policies that draw random numbers.
    count_only
        Count hits and misses instead of putting rows together. The relation is asked all the same.

    Examples
    --------
    >>> goods = pa.table({"id": [1, 2], "name": ["pen", "ink"]})
    >>> lookup = Lookup(goods, on="id", cache=10)
    >>> lookup.feed(pa.record_batch({"id": [2, 3, 2]})).to_pydict()
    {'id': [2, 3, 2], 'name': ['ink', None, 'ink']}
    >>> lookup.stats.hits, lookup.stats.misses, lookup.stats.queries
    (1, 2, 1)
    """

    def __init__(
        self,
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
    ) -> None:
        require_whole("cache", cache, least=1, most=MOST_ROWS)
        require_whole("retries", retries, least=0)
        if how not in KINDS:
            raise InputError(f"how={how!r} is neither 'left' nor 'inner'")
        self.on, relation_keys = key_columns(on)
        self._policy = parse_cache_policy(policy)
        self._ttl = nanoseconds(ttl)
        self._relation = open_relation(relation, table, relation_keys, Patience(retries))
        self._capacity, self._seed = int(cache), int(seed)
        self._inner, self._count_only = how == "inner", count_only
        self._expected: pa.Schema | None = None
        self._tuples = self._queries = self._not_found = self._null_keys = 0
        self._collisions = self._negative_hits = 0
        self._seconds = 0.0

    # -- columns -----------------------------------------------------------------------------

    def expect(self, schema: pa.Schema, trace: np.ndarray | None = None) -> None:
        """Tell the columns of the stream before its first rows come.

        Parameters
        ----------
        schema
            The columns.
        trace
            The codes of all keys to come, for policies that must know them.
        """
        schema = plain_schema(schema)
        require_keys(schema, self.on)
        key_types = [schema.field(name).type for name in self.on]
        for name, kind in zip(self.on, key_types, strict=True):
            if pa.types.is_nested(kind):
                raise InputError(
                    f"key column {name!r} is of type {kind}, which has no single value"
                )
        exact = len(key_types) == 1 and fits_in_64_bits(key_types[0])
        self._hashed = not exact
        columns = pa.schema([]) if self._count_only else self._relation.schema
        self._payload: Payload | None = None
        if not (self._count_only and exact):
            self._payload = Payload(columns, [] if exact else key_types)
        room = Room.of_cache(self._capacity, self._seed, key_types[0] if exact else None, trace)
        self._cache = Cache(self._policy, room, self._ttl)
        self._schema = enriched(schema, self._relation.schema)
        self._expected = schema

    @property
    def schema(self) -> pa.Schema | None:
        """The columns of the results: the stream's, then the relation's; None until known.

        A column of the relation whose name the stream has too gets ``relation_`` before it.
        """
        return None if self._expected is None else self._schema

    # -- joining -----------------------------------------------------------------------------

    def feed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Enrich a batch, with at most one query (another if key codes collide).

        If the database is lost, the same batch can be fed again later. What it missed is not cached
        then, and what went to make room for that is gone.
        """
        started = perf_counter()
        if self._expected is None:
            self.expect(batch.schema)
        assert self._expected is not None
        if plain_schema(batch.schema) != self._expected:
            raise InputError(
                f"a batch came with columns {batch.schema.names} after one with"
                f" {self._expected.names}, or their types differ"
            )
        columns = [plain_array(column) for column in batch.columns]
        batch = pa.RecordBatch.from_arrays(columns, schema=self._expected)
        keys = [batch.column(name) for name in self.on]
        skip = missing(keys)
        before = self._cache.ledger.counts.copy()
        now = time.monotonic_ns() if self._ttl is not None else 0
        referred = self._cache.refer(code_of_columns(keys), skip, now)
        try:
            result = self._enriched(batch, keys, referred)
        except BaseException as error:
            self._cache.take_back(before)
            if isinstance(error, RelationLostError):
                lost = RelationLostError(error.name, error.reason, self._tuples)
                raise lost from error.__cause__
            raise
        self._tuples += batch.num_rows
        self._null_keys += 0 if skip is None else int(skip.sum())
        self._seconds += perf_counter() - started
        return result

    def _enriched(
        self, batch: pa.RecordBatch, keys: list[pa.Array], referred: Referred
    ) -> pa.RecordBatch:
        rows, missed = referred
        missed_keys = _taken(keys, missed)
        fetched, wanted = self._fetch(missed_keys)
        absent = wanted < 0
        base = 0 if self._payload is None else self._payload.add(missed_keys, fetched, wanted)
        self._cache.put(base, absent)
        pending = rows >= PENDING
        # Hits on what this very batch found missing; the cache knows of it only from now on.
        self._negative_hits += int(absent[rows[pending] - PENDING].sum()) - int(absent.sum())
        if self._payload is None:
            return batch.slice(0, 0)
        rows = np.where(pending, rows - PENDING + base, rows)
        there = np.flatnonzero(rows != SKIPPED)
        taken = self._checked(self._payload, _taken(keys, there), rows[there])
        self._payload.let_go(self._cache)
        return batch.slice(0, 0) if self._count_only else self._joined(batch, taken, there)

    def _fetch(self, keys: list[pa.Array]) -> tuple[Fetched, np.ndarray]:
        """Fetch the rows of some keys, each once; tell which one belongs to each key, or -1."""
        if len(keys[0]) == 0:
            return Fetched(np.empty(0, np.int64), _nothing(self._relation.schema)), NO_ROWS
        codes = code_of_columns(keys)
        _, first, which = np.unique(codes, return_index=True, return_inverse=True)
        if self._hashed:
            other = np.flatnonzero(~_same(keys, _taken(keys, first[which])))
            which[other] = len(first) + np.arange(len(other))
            first = np.concatenate([first, other])
        self._queries += 1
        fetched = self._relation.fetch(_taken(keys, first))
        found = np.full(len(first), -1)
        found[fetched.places] = np.arange(len(fetched.places))
        self._not_found += int((found[which] < 0).sum())
        return fetched, found[which]

    def _checked(self, payload: Payload, keys: list[pa.Array], rows: np.ndarray) -> pa.RecordBatch:
        """The rows with these numbers; where the key is another one's, the right row is fetched."""
        taken = payload.take(rows)
        if not self._hashed or not len(rows):
            return taken
        wrong = np.flatnonzero(~_same(keys, payload.keys_of(taken)))
        if len(wrong) == 0:
            return taken
        self._collisions += len(wrong)
        self._negative_hits -= int((~payload.found(taken)[wrong]).sum())
        own = _taken(keys, wrong)
        return payload.exchange(taken, wrong, own, *self._fetch(own))

    def _joined(
        self, batch: pa.RecordBatch, taken: pa.RecordBatch, there: np.ndarray
    ) -> pa.RecordBatch:
        """Put the rows of the stream and those of the relation side by side."""
        assert self._payload is not None
        if self._inner:
            found = np.flatnonzero(self._payload.found(taken))
            batch, taken = take(batch, there[found]), take(taken, found)
        elif len(there) < batch.num_rows:
            order = np.full(batch.num_rows, -1)
            order[there] = np.arange(len(there))
            taken = taken.take(pa.array(order, mask=order < 0))
        columns = [*batch.columns, *self._payload.columns_of(taken)]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)

    # -- numbers -----------------------------------------------------------------------------

    @property
    def stats(self) -> LookupStats:
        """What has happened so far."""
        counts = np.zeros(COUNTS, np.int64)
        if self._expected is not None:
            counts = self._cache.ledger.counts
        negative_hits = int(counts[NEGATIVE_HITS]) + self._negative_hits
        not_found = self._not_found + negative_hits
        lost = self._null_keys + not_found if self._inner else 0
        return LookupStats(
            policy=self._policy.spec,
            cache=self._capacity,
            tuples_in=self._tuples,
            hits=int(counts[HITS]) - self._collisions,
            misses=int(counts[MISSES]) + self._collisions,
            queries=self._queries,
            negative_hits=negative_hits,
            results=self._tuples - lost,
            not_found=not_found,
            null_keys=self._null_keys,
            evicted=int(counts[EVICTED]),
            refused=int(counts[REFUSED]),
            expired=int(counts[EXPIRED]),
            cached=0 if self._expected is None else self._cache.live,
            seconds=self._seconds,
        )

    def close(self) -> None:
        """Let go of the database."""
        self._relation.close()


def require_keys(schema: pa.Schema, keys: Sequence[str]) -> None:
    """Refuse a stream that lacks a key column or has several of the name."""
    for name in keys:
        if len(schema.get_all_field_indices(name)) != 1:
            there = ", ".join(repr(column) for column in schema.names)
            raise InputError(f"the stream has no single column {name!r}; it has {there}")


def nanoseconds(ttl: Any) -> int | None:
    """How long a row may be used.

    >>> nanoseconds(2), nanoseconds("5min")
    (2000000000, 300000000000)
    """
    if ttl is None:
        return None
    span: Duration | None = None
    if isinstance(ttl, timedelta):
        span = Duration(ttl // timedelta(microseconds=1) * 1000)
    elif isinstance(ttl, int | float) and isfinite(ttl):
        span = Duration(round(ttl * 1e9))
    elif isinstance(ttl, str):
        span = parse_duration(f"{ttl}s" if ttl.replace(".", "", 1).isdigit() else ttl)
    if span is None or span.nanoseconds <= 0:
        raise InputError(f"ttl={ttl!r} is not a time above 0; give seconds, or such as '5min'")
    return min(span.nanoseconds, LONGEST)


def enriched(stream: pa.Schema, relation: pa.Schema) -> pa.Schema:
    """The columns of both, those of the relation nullable and none of a name that is taken."""
    names = [f"relation_{name}" if name in stream.names else name for name in relation.names]
    for name in names:
        if name in stream.names or names.count(name) > 1:
            raise InputError(
                f"two columns of the result would be called {name!r}; rename one of the stream"
            )
    fields = [
        field.with_name(name).with_nullable(True)
        for name, field in zip(names, relation, strict=True)
    ]
    return pa.schema([*stream, *fields])


def _taken(arrays: list[pa.Array], places: np.ndarray) -> list[pa.Array]:
    return take(pa.RecordBatch.from_arrays(arrays, names=["key"] * len(arrays)), places).columns


def _same(one: list[pa.Array], two: list[pa.Array]) -> np.ndarray:
    """Which keys are equal in all columns."""
    same = np.ones(len(one[0]), bool)
    for left, right in zip(one, two, strict=True):
        same &= equal_rows(left, right)
    return same


def _nothing(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], kind) for kind in schema.types], schema=schema)


NO_ROWS = np.empty(0, np.int64)
