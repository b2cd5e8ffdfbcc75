"""The streams on their way into the join: encoded, in order of time, waiting for each other.

A tuple may be joined only when no older one of another stream can come any more. Each
:class:`Lane` holds what waits of a stream and knows how far it has come; :class:`Lanes` says what
of all of them may go now. Where the batches of the input begin and end makes no difference.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from recollect.errors import InputError, NullKeyError, TimeOrderError
from recollect.hashing import missing
from recollect.join.feed import Encoded, Piece, Space, encoded, feed_of, keys_of, times_of
from recollect.join.kernel import BEFORE_ALL, FOREVER, Feed
from recollect.join.payload import take
from recollect.join.query import Bound
from recollect.streams.python_values import text_of

STEP_ROWS = 16_000
"""So many tuples of a stream go at once at the most, which the processor's caches hold."""
COUNTERS = ("position", "last", "rows", "encoded_rows", "late", "null_keys", "finished")


@dataclass
class Lane:
    """One stream on its way into the join.

    Parameters
    ----------
    bound
        The query.
    number
        The number of the stream.
    measure
        Whether the bytes of each row are wanted.
    """

    bound: Bound
    number: int
    measure: bool

    def __post_init__(self) -> None:
        """Begin with an empty lane."""
        self.waiting: deque[Encoded] = deque()
        self.position = 0
        self.last = BEFORE_ALL
        self.rows = 0
        self.encoded_rows = 0
        self.late = 0
        self.null_keys = 0
        self.finished = False
        self.held: pa.RecordBatch | None = None
        self._stream = self.bound.streams[self.number]

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in a batch, in order of time or within the lateness allowed."""
        batch = self._checked(batch)
        times = self._times(batch)
        if self.bound.null_keys == "error":
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
        return sum(len(part.time) for part in self.waiting) - self.position + held

    @property
    def frontier(self) -> int:
        """No tuple that is not the head of this lane is older than this."""
        if self.waiting:
            if self.finished and len(self.waiting) == 1:
                return FOREVER
            return int(self.waiting[0].time[-1])
        if self.finished:
            return FOREVER
        if self.bound.lateness is not None and self.last != BEFORE_ALL:
            return self.last - self.bound.lateness
        return self.last

    def take(self, count: int) -> None:
        """Forget so many tuples of the head; they have been joined."""
        self.position += count
        if self.waiting and self.position == len(self.waiting[0].time):
            self.waiting.popleft()
            self.position = 0

    def _checked(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        expected = self._stream.schema
        if batch.schema.equals(expected):
            return batch
        try:
            return batch.select(expected.names).cast(expected)
        except (KeyError, pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
            raise InputError(
                f"a batch of {self._stream.title} does not have the columns of the first: {error}"
            ) from None

    def _times(self, batch: pa.RecordBatch) -> np.ndarray:
        name = self._stream.time
        column = batch.column(name)
        if column.null_count:
            row = self.rows + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
            raise InputError(f"time column {name!r} of {self._stream.title} is NULL in row {row}")
        return times_of(self.bound, self.number, batch, name)

    def _check_order(self, times: np.ndarray) -> None:
        if len(times) == 0 or (times[0] >= self.last and not np.any(times[1:] < times[:-1])):
            return
        before = np.concatenate([[self.last], times[:-1]])
        row = int(np.flatnonzero(times < before)[0])
        raise TimeOrderError(
            f"time goes backwards in row {self.rows + row} of {self._stream.title}:"
            f" {self._show(times[row])} after {self._show(before[row])};"
            " sort it, or allow for it with lateness"
        )

    def _show(self, time: int) -> str:
        kind = self._stream.schema.field(self._stream.time).type
        units = int(time) // self._stream.scale
        if pa.types.is_integer(kind):
            return str(units)
        width = pa.int64() if kind.bit_width == 64 else pa.int32()
        return text_of(pa.scalar(units, width).cast(kind))

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
        part = encoded(
            self.bound, self.number, batch, times, before=self.encoded_rows, measure=self.measure
        )
        self.encoded_rows += batch.num_rows
        self.null_keys += part.null_keys
        self.waiting.append(part)

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
        self.encoded_rows = counters["encoded_rows"] - sum(batch.num_rows for batch in waiting)
        for batch in waiting:
            self._append(batch, self._times(batch))
        self.held = held
        for name, value in counters.items():
            setattr(self, name, value)

    def _refuse_missing(self, batch: pa.RecordBatch) -> None:
        for place, join in enumerate(self.bound.joins):
            if self.number not in join.streams:
                continue
            names = join.columns[join.streams.index(self.number)]
            for name, key in zip(
                names, keys_of(self.bound, self.number, batch, place), strict=True
            ):
                where = missing([key])
                if where is not None:
                    row = int(np.argmax(where))
                    raise NullKeyError(
                        f"key column {name!r} of {self._stream.title} is"
                        f" {'NaN' if key[row].is_valid else 'NULL'} in row {self.rows + row};"
                        " such keys never match (null_keys='skip' passes over them)"
                    )


class Lanes:
    """All streams on their way into the join."""

    def __init__(self, bound: Bound, measure: bool = False) -> None:
        self.all = tuple(Lane(bound, number, measure) for number in range(len(bound.streams)))
        self._space = Space()
        self._going: list[tuple[int, int]] = []
        """How many tuples of each stream are in the latest step."""

    @property
    def behind(self) -> Lane | None:
        """The stream to read next: of those that go on, the one that is not as far."""
        going_on = [lane for lane in self.all if not lane.finished]
        return min(going_on, key=lambda lane: lane.last, default=None)

    def _ready(self) -> list[tuple[Lane, int]]:
        """The streams of which something may go now, and to where in their first batches."""
        ready = []
        frontiers = [lane.frontier for lane in self.all]
        for lane in self.all:
            if not lane.waiting:
                continue
            # At equal times the stream of the lower number goes first.
            until = FOREVER
            for other, frontier in enumerate(frontiers):
                if other < lane.number and frontier not in (FOREVER, BEFORE_ALL):
                    frontier -= 1
                if other != lane.number:
                    until = min(until, frontier)
            times = lane.waiting[0].time
            stop = int(np.searchsorted(times, until, "right"))
            if stop > lane.position:
                ready.append((lane, stop))
        return ready

    def steps(
        self, row_of: Callable[[int, Encoded], int] = lambda stream, part: part.before
    ) -> Iterator[Feed]:
        """What may be joined now, piece by piece; ``take`` must be told before the next one.

        Parameters
        ----------
        row_of
            Says where the payload store has the first row of a batch of a stream; left out, rows
            are numbered as they come.
        """
        while ready := self._ready():
            # No more of one stream than the next tuples of the others allow.
            most = min(
                (
                    lane.waiting[0].time[lane.position + STEP_ROWS - 1]
                    for lane, stop in ready
                    if stop - lane.position >= STEP_ROWS
                ),
                default=FOREVER,
            )
            pieces = []
            for lane, stop in ready:
                part = lane.waiting[0]
                if most != FOREVER:
                    stop = min(stop, int(np.searchsorted(part.time, most, "right")))
                if stop > lane.position:
                    base = row_of(lane.number, part)
                    pieces.append(
                        Piece(lane.number, part, lane.position, stop, base + lane.position)
                    )
            feed = feed_of(pieces, self._space)
            self._going = [(piece.stream, piece.stop - piece.start) for piece in pieces]
            yield feed

    def take(self, feed: Feed, begin: int, end: int) -> None:
        """Tell that the arrivals of a feed from one place to another have been joined."""
        counts = self._going
        if end - begin < len(feed.order):
            counts = list(enumerate(np.bincount(feed.stream[feed.order[begin:end]]).tolist()))
        for number, count in counts:
            if count:
                self.all[number].take(count)
