"""Two streams on their way into the join: encoded, in order of time, waiting for each other.

A tuple may be joined only when no older one of the other stream can come any more. Each
:class:`Lane` holds what waits and knows how far its stream has come; :class:`Lanes` says which part
of both may go now. Where the batches of the input begin and end makes no difference.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from recollect.errors import InputError, NullKeyError, TimeOrderError
from recollect.hashing import code_of_columns, missing
from recollect.join.encoding import Encoded, encoded, keys_of, no_feed, rest_of
from recollect.join.kernel import BEFORE_ALL, FOREVER, Feed
from recollect.join.payload import take
from recollect.join.query import SIDES, Bound
from recollect.streams.python_values import text_of

LAST = np.iinfo(np.int64).max
COUNTERS = ("position", "last", "rows", "late", "null_keys", "finished")


class Step(NamedTuple):
    """What may be joined now: a piece of each stream and up to which time."""

    heads: tuple[Encoded | None, Encoded | None]
    offsets: tuple[int, int]
    until: np.ndarray

    def feeds(self, extra_width: int) -> tuple[Feed, Feed]:
        """What remains of both heads."""
        left, right = (
            no_feed(extra_width) if head is None else rest_of(head.feed, offset)
            for head, offset in zip(self.heads, self.offsets, strict=True)
        )
        return left, right


@dataclass
class Lane:
    """One stream on its way into the join.

    Parameters
    ----------
    bound
        The query.
    side
        0 for the left stream, 1 for the right.
    measure
        Whether the bytes of each row are wanted.
    """

    bound: Bound
    side: int
    measure: bool

    def __post_init__(self) -> None:
        """Begin with an empty lane."""
        self.waiting: deque[Encoded] = deque()
        self.position = 0
        self.last = BEFORE_ALL
        self.rows = 0
        self.late = 0
        self.null_keys = 0
        self.finished = False
        self.held: pa.RecordBatch | None = None

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in a batch, in order of time or within the lateness allowed."""
        batch = self._checked(batch)
        times = self._times(batch)
        if self.bound.query.null_keys == "error":
            self._refuse_missing(batch)
        if self.bound.lateness is None:
            self._check_order(times)
            self._append(batch, times)
        else:
            self._reorder(batch, times)
        self.rows += batch.num_rows

    def finish(self) -> None:
        """Nothing more will come."""
        self.finished = True
        if self.held is not None:
            held, self.held = self.held, None
            self._append(*self._sorted(held))

    @property
    def waiting_rows(self) -> int:
        """How many tuples wait here."""
        held = 0 if self.held is None else self.held.num_rows
        return sum(len(part.feed.time) for part in self.waiting) - self.position + held

    @property
    def frontier(self) -> int:
        """No tuple that is not the head of this lane is older than this."""
        if self.waiting:
            if self.finished and len(self.waiting) == 1:
                return FOREVER
            return int(self.waiting[0].feed.time[-1])
        if self.finished:
            return FOREVER
        if self.bound.lateness is not None and self.last != BEFORE_ALL:
            return self.last - self.bound.lateness
        return self.last

    def take(self, count: int) -> None:
        """Forget so many tuples of the head; they have been joined."""
        self.position += count
        if self.waiting and self.position == len(self.waiting[0].feed.time):
            self.waiting.popleft()
            self.position = 0

    def _checked(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        expected = self.bound.schemas[self.side]
        if batch.schema.equals(expected):
            return batch
        try:
            return batch.select(expected.names).cast(expected)
        except (KeyError, pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
            raise InputError(
                f"a batch of the {SIDES[self.side]} stream does not have the columns of the first:"
                f" {error}"
            ) from None

    def _times(self, batch: pa.RecordBatch) -> np.ndarray:
        name = self.bound.query.time[self.side]
        column = batch.column(name)
        if column.null_count:
            row = self.rows + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
            raise InputError(
                f"time column {name!r} of the {SIDES[self.side]} stream is NULL in row {row}"
            )
        times = code_of_columns([column])
        scale = self.bound.scale[self.side]
        if pa.types.is_uint64(column.type) and len(times) and times.min() < 0:
            raise InputError(
                f"time column {name!r} of the {SIDES[self.side]} stream has values above 2^63 - 1"
            )
        if scale == 1:
            return times
        if len(times) and max(abs(int(times.min())), abs(int(times.max()))) > LAST // scale:
            raise InputError(
                f"time column {name!r} of the {SIDES[self.side]} stream goes beyond what the finer"
                " unit of the other stream's can express"
            )
        return times * scale

    def _check_order(self, times: np.ndarray) -> None:
        if len(times) == 0 or (times[0] >= self.last and not np.any(times[1:] < times[:-1])):
            return
        before = np.concatenate([[self.last], times[:-1]])
        row = int(np.flatnonzero(times < before)[0])
        raise TimeOrderError(
            f"time goes backwards in row {self.rows + row} of the {SIDES[self.side]} stream:"
            f" {self._show(times[row])} after {self._show(before[row])};"
            " sort it, or allow for it with lateness"
        )

    def _show(self, time: int) -> str:
        column = self.bound.schemas[self.side].field(self.bound.query.time[self.side])
        units = int(time) // self.bound.scale[self.side]
        if pa.types.is_integer(column.type):
            return str(units)
        width = pa.int64() if column.type.bit_width == 64 else pa.int32()
        return text_of(pa.scalar(units, width).cast(column.type))

    def _reorder(self, batch: pa.RecordBatch, times: np.ndarray) -> None:
        """Hold back what an older tuple may still overtake; count what comes too late even so."""
        lateness = self.bound.lateness
        assert lateness is not None
        if len(times) == 0:
            return
        newest = np.maximum.accumulate(np.concatenate([[self.last], times]))
        late = np.zeros(len(times), bool)
        started = newest[:-1] != BEFORE_ALL
        late[started] = times[started] < newest[:-1][started] - lateness
        self.late += int(late.sum())
        self.last = int(newest[-1])
        fresh = take(batch, np.flatnonzero(~late)) if late.any() else batch
        pending = fresh if self.held is None else pa.concat_batches([self.held, fresh])
        pending, times = self._sorted(pending)
        ready = int(np.searchsorted(times, self.last - lateness))
        self.held = pending.slice(ready)
        self._append(pending.slice(0, ready), times[:ready])

    def _sorted(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, np.ndarray]:
        times = self._times(batch)
        order = np.argsort(times, kind="stable")
        return take(batch, order), times[order]

    def _append(self, batch: pa.RecordBatch, times: np.ndarray) -> None:
        if batch.num_rows == 0:
            return
        if self.bound.lateness is None:
            self.last = int(times[-1])
        skip = missing(keys_of(self.bound, self.side, batch))
        if skip is not None:
            self.null_keys += int(skip.sum())
        self.waiting.append(encoded(self.bound, self.side, batch, times, skip, self.measure))

    def counters(self) -> dict[str, Any]:
        """What must be saved beside the batches that wait."""
        return {name: getattr(self, name) for name in COUNTERS}

    def restore(
        self,
        counters: dict[str, Any],
        waiting: list[pa.RecordBatch],
        held: pa.RecordBatch | None,
    ) -> None:
        """Go on from what was saved."""
        for batch in waiting:
            self._append(batch, self._times(batch))
        self.held = held
        for name, value in counters.items():
            setattr(self, name, value)

    def _refuse_missing(self, batch: pa.RecordBatch) -> None:
        for name, key in zip(
            self.bound.query.on[self.side], keys_of(self.bound, self.side, batch), strict=True
        ):
            where = missing([key])
            if where is not None:
                row = int(np.argmax(where))
                raise NullKeyError(
                    f"key column {name!r} of the {SIDES[self.side]} stream is"
                    f" {'NaN' if key[row].is_valid else 'NULL'} in row {self.rows + row};"
                    " such keys never match (null_keys='skip' passes over them)"
                )


class Lanes:
    """Both streams on their way into the join."""

    def __init__(self, bound: Bound, measure: bool = False) -> None:
        self.both = (Lane(bound, 0, measure), Lane(bound, 1, measure))

    @property
    def behind(self) -> Lane | None:
        """The stream to read next: of those that go on, the one that is not as far."""
        going_on = [lane for lane in self.both if not lane.finished]
        return min(going_on, key=lambda lane: lane.last, default=None)

    def steps(self) -> Iterator[Step]:
        """What may be joined now, piece by piece; ``take`` must be told after each."""
        left, right = self.both
        while left.waiting or right.waiting:
            # At equal times the left stream goes first, so the right one must stay strictly behind.
            behind = left.frontier
            until = np.array(
                [right.frontier, behind if behind in (FOREVER, BEFORE_ALL) else behind - 1]
            )
            heads = [lane.waiting[0] if lane.waiting else None for lane in self.both]
            ready = [
                head is not None and head.feed.time[lane.position] <= limit
                for head, lane, limit in zip(heads, self.both, until, strict=True)
            ]
            if not any(ready):
                return
            yield Step((heads[0], heads[1]), (left.position, right.position), until)

    def take(self, counts: tuple[int, int]) -> None:
        """Tell how many tuples of each stream have been joined."""
        for lane, count in zip(self.both, counts, strict=True):
            lane.take(count)
