"""One shard of a bounded join: an engine and the rows it remembers, fed batch by batch.

Nothing here needs Spark. A shard takes what one micro-batch brings for it, in whatever order, and
hands out the results. Batches may overlap in time: a row is joined with everything in its window
that is remembered, whether older or younger, and only rows older than the watermark are left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from recollect.errors import StateError
from recollect.hashing import code_of_columns
from recollect.join.budget import Budget, Capacity
from recollect.join.engine import Engine, new_output
from recollect.join.feed import Encoded, Piece, encoded, feed_of, of_codes
from recollect.join.kernel import BEFORE_ALL, FOREVER, OUTPUT_FULL, Feed
from recollect.join.payload import PLACE_BITS, RAW, PayloadStore, Relocate, fit, take
from recollect.join.query import Bound
from recollect.join.result import ResultShape
from recollect.policies import Policy
from recollect.spark.packing import unship

OUTPUT_ROWS = 65_536
"""Results come in batches of about so many rows."""
STREAMS = 2
CHANGED = (
    "policy {} would not have kept the tuples that the checkpoint holds: the code of the policy or"
    " of recollect has changed; go on with the old code, or start with a new checkpoint"
)

Batches = Sequence[pa.RecordBatch | None]
"""What a micro-batch brings, by stream."""


@dataclass(frozen=True)
class Job:
    """What is the same for all shards of a bounded join."""

    bound: Bound
    policy: Policy
    budget: Budget
    shards: int
    seed: int
    unordered: bool
    """Whether batches may overlap in time."""
    lateness: int
    """How far out of order rows are expected to come."""
    name: str = "bounded_join"
    columns: tuple[tuple[str, ...], ...] = ()
    """By side: what the user calls the columns, if that is not what ``bound`` does."""

    def called(self, side: int, column: str) -> str:
        """What the user calls a column."""
        if not self.columns:
            return column
        return self.columns[side][self.bound.schemas[side].get_field_index(column)]

    def capacity(self, shard: int) -> Capacity:
        """The part of the budget that a shard has.

        All shards together have the budget exactly. Of bytes a fifth is set aside for arrays that
        are not full.
        """
        if self.budget.bytes is not None:
            return Capacity((self.budget.bytes // self.shards * 4 // 5,), in_bytes=True)
        if self.budget.tuples is None:
            return Capacity((FOREVER,))
        share, rest = divmod(self.budget.tuples, self.shards)
        return Capacity((share + int(shard < rest),))


class Taken(NamedTuple):
    """A micro-batch in order, without what is late."""

    parts: tuple[Encoded, Encoded]
    """By stream: its tuples, and with them the rows themselves."""
    horizon: tuple[int, int]
    """How old later rows can be: for certain, and probably."""

    def feed(self, rows: Sequence[int] = (0, 0)) -> Feed:
        """Both streams in one order; ``rows`` says where the store has the first row of each."""
        return feed_of(
            [
                Piece(stream, part, 0, len(part.time), row)
                for stream, (part, row) in enumerate(zip(self.parts, rows, strict=True))
            ]
        )


class Shard:
    """One shard of a bounded join; the number says which."""

    def __init__(self, job: Job, number: int) -> None:
        self.job = job
        self.engine = Engine(
            job.policy,
            job.bound.setting,
            job.capacity(number),
            seed=job.seed + number,
            unordered=job.unordered,
        )
        self.stores = (PayloadStore(), PayloadStore())
        self.serials: tuple[dict[int, np.ndarray], ...] = ({}, {})
        """By stream and segment: the serial numbers of the tuples whose rows are there."""
        self.newest = [BEFORE_ALL, BEFORE_ALL]
        """By stream: the latest time seen."""
        self.late = 0
        self.collisions = 0
        self._shape = ResultShape(job.bound)
        self._output = new_output(OUTPUT_ROWS)

    # -- joining -----------------------------------------------------------------------------

    def take(self, batches: Batches, oldest: int, oldest_next: int) -> Taken:
        """Put the new rows of both streams in order, and leave out what is late.

        Rows before the time ``oldest`` are late; those of the following micro-batches will be
        before ``oldest_next``.
        """
        left, right = (self._sorted(stream, batch, oldest) for stream, batch in enumerate(batches))
        newest = min(self.newest)
        probable = oldest_next if newest == BEFORE_ALL else newest - self.job.lateness
        horizon = (oldest_next, max(oldest_next, probable))
        return Taken((left, right), horizon)

    def _sorted(self, stream: int, batch: pa.RecordBatch | None, oldest: int) -> Encoded:
        if batch is None:
            none = np.empty(0, np.int64)
            return of_codes(self.job.bound, stream, none, none)
        bound = self.job.bound
        times = code_of_columns([batch.column(bound.query.time[stream])]) * bound.scale[stream]
        order = np.argsort(times, kind="stable")
        times = times[order]
        late = int(np.searchsorted(times, oldest))
        self.late += late
        if late or np.any(order[1:] < order[:-1]):
            batch, times = take(batch, order[late:]), times[late:]
        if len(times):
            self.newest[stream] = max(self.newest[stream], int(times[-1]))
        batch, codes = unship(batch)
        measure = self.engine.capacity.in_bytes
        return encoded(bound, stream, batch, times, measure=measure, codes=codes)

    def results(self, taken: Taken) -> Iterator[pa.RecordBatch]:
        """Join what was taken; the rows to remember are kept when all results are out."""
        if self.job.unordered:
            self.engine.expect_from(*taken.horizon)
        bases = [
            0 if part.batch is None else store.add(part.batch)
            for part, store in zip(taken.parts, self.stores, strict=True)
        ]
        feed, at = taken.feed(bases), 0
        while at < len(feed.order):
            self._output.filled[0] = 0
            why, at = self.engine.run(feed, at, self._output)
            pairs = int(self._output.filled[0])
            if pairs:
                yield self._joined(pairs)
            if why == OUTPUT_FULL and not pairs:
                self._output = new_output(2 * len(self._output.join))
        for part, store, base in zip(taken.parts, self.stores, bases, strict=True):
            if part.batch is not None:
                store.joined(base)
        self._keep()

    def take_again(self, taken: Taken) -> None:
        """Bring the engine to where it was after a micro-batch. Rows must be found afterwards."""
        self.engine.expect_from(*taken.horizon)
        self.engine.count(taken.feed())

    def _joined(self, pairs: int) -> pa.RecordBatch:
        left = self.stores[0].take(self._output.rows[0, :pairs])
        right = self.stores[1].take(self._output.rows[1, :pairs])
        batch = self._shape.joined(left, right)
        self.collisions += pairs - batch.num_rows
        return batch

    def _keep(self) -> None:
        """Copy the rows that are remembered out of the input; pack what has become sparse."""
        engine = self.engine
        for stream, store in enumerate(self.stores):
            if store.raw_joined:
                store.settle(*engine.rows_of(stream, from_row=RAW), self._relocate(stream))
            if store.needs_compacting(engine.live(stream)):
                store.compact(*engine.rows_of(stream), self._relocate(stream))
        most = engine.payload_bytes
        if most is not None:
            fit(self.stores, most, engine.rows_of, self._relocate)
        for serials, store in zip(self.serials, self.stores, strict=True):
            there = dict(store.segments())
            for gone in serials.keys() - there.keys():
                del serials[gone]

    def _relocate(self, stream: int) -> Relocate:
        def relocate(slots: np.ndarray, rows: np.ndarray) -> None:
            self.engine.relocate(slots, rows)
            self.serials[stream][int(rows[0]) >> PLACE_BITS] = self.engine.serials(slots)

        return relocate

    # -- remembering -------------------------------------------------------------------------

    def find_rows(self) -> None:
        """Tell the engine where the rows of its tuples are, by their serial numbers."""
        for stream, segments in enumerate(self.serials):
            slots, _ = self.engine.rows_of(stream)
            if not len(slots):
                continue
            wanted = self.engine.serials(slots)
            serials = np.concatenate([wanted[:0], *segments.values()])
            if not np.isin(wanted, serials).all():
                raise StateError(CHANGED.format(self.job.policy.spec))
            rows = np.concatenate(
                [(number << PLACE_BITS) + np.arange(len(part)) for number, part in segments.items()]
            )
            order = np.argsort(serials)
            places = np.searchsorted(serials, wanted, sorter=order)
            self.engine.relocate(slots, rows[order[places]])

    @property
    def counts(self) -> dict[str, int]:
        """What has happened since the shard was made."""
        ledger = self.engine.ledger
        return {
            "rows_in": int(ledger.arrivals.sum()) + self.late,
            "results": int(ledger.results.sum()) - self.collisions,
            "evicted": int(ledger.evicted.sum()),
            "refused": int(ledger.refused.sum()),
            "expired": int(ledger.expired.sum()),
            "late": self.late,
        }

    @property
    def buffered(self) -> int:
        """How many tuples are remembered."""
        return sum(self.engine.live(stream) for stream in range(STREAMS))

    @property
    def buffered_bytes(self) -> int:
        """What they take in memory."""
        arrays = sum(array.nbytes for array in self.engine.arrays().values())
        rows = sum(part.nbytes for store in self.stores for _, part in store.segments())
        return arrays + rows
