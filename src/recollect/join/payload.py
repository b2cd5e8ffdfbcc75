"""What the kernel never sees: the rows themselves, kept as long as their tuples are buffered.

Rows live in *segments*, record batches with a number; a row is known by its segment and its place
in it. A batch that is being joined is a *raw* segment as it came. When it is done, the rows that
were admitted are copied to a segment of their own, so that the input can be freed. Segments in
which many rows have been forgotten since, or which are small, are packed together, so that no more
than :data:`SLACK` times the buffered rows are ever stored.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from recollect.join.sizes import row_bytes

PLACE_BITS = 32
PLACE = (1 << PLACE_BITS) - 1
RAW = 1 << 62
"""Set in the numbers of rows that are still where they came in."""
SEGMENT_ROWS = 8_192
SEGMENT_BYTES = 2**22
SLACK = 1.25
"""How many rows, and bytes, may be stored per buffered one. Budgets in bytes allow for it."""
FEW_BYTES = 2**14
"""So many bytes are not worth packing."""
SMALL = SEGMENT_ROWS // 2
MANY = 16
"""So many small segments are packed together, so that rows are not looked up all over."""

Relocate = Callable[[np.ndarray, np.ndarray], None]
"""Tells the buffer the new numbers of the rows of some slots."""


def take(batch: pa.RecordBatch, places: np.ndarray) -> pa.RecordBatch:
    """Some rows of a batch.

    The places are handed to Arrow as memory: ``pa.array`` would import pandas, if it is installed,
    which takes longer and more memory than many a join.
    """
    places = np.ascontiguousarray(places, np.int64)
    indices = pa.Array.from_buffers(pa.int64(), len(places), [None, pa.py_buffer(places)])
    return batch.take(indices)


class PayloadStore:
    """The rows of one stream."""

    def __init__(self) -> None:
        self._segments: dict[int, pa.RecordBatch] = {}
        self._bytes: dict[int, int] = {}
        self._next = 0
        self.packed_rows = 0
        self.raw_joined: list[int] = []

    def add(self, batch: pa.RecordBatch) -> int:
        """Take in a batch as it came; return the number of its first row, the others follow on."""
        return self._enter(batch, RAW >> PLACE_BITS) << PLACE_BITS

    def _enter(self, batch: pa.RecordBatch, kind: int) -> int:
        number = kind + self._next
        self._next += 1
        self._segments[number] = batch
        return number

    def take(self, rows: np.ndarray) -> pa.RecordBatch:
        """The rows with these numbers (at least one), in this order."""
        order, pieces = self._by_segment(rows)
        taken = [take(self._segments[number], places) for number, places in pieces]
        if len(taken) == 1:
            return taken[0]
        back = np.empty(len(rows), np.int64)
        back[order] = np.arange(len(rows))
        return take(pa.concat_batches(taken), back)

    @staticmethod
    def _by_segment(rows: np.ndarray) -> tuple[np.ndarray, list[tuple[int, np.ndarray]]]:
        """The order of rows by segment, and for each segment the places of its rows."""
        segments = rows >> PLACE_BITS
        order = np.argsort(segments, kind="stable")
        numbers, starts = np.unique(segments[order], return_index=True)
        places = np.split(rows[order] & PLACE, starts)[1:]
        return order, list(zip(numbers.tolist(), places, strict=True))

    def joined(self, base: int) -> None:
        """Tell that all rows of a raw segment have been joined."""
        self.raw_joined.append(base >> PLACE_BITS)

    @property
    def needs_settling(self) -> bool:
        """Whether a segment's worth of rows, or of bytes, has been joined since the last time."""
        raw = [self._segments[number] for number in self.raw_joined]
        return (
            sum(part.num_rows for part in raw) >= SEGMENT_ROWS
            or sum(part.nbytes for part in raw) >= SEGMENT_BYTES
        )

    def settle(self, slots: np.ndarray, rows: np.ndarray, relocate: Relocate) -> None:
        """Copy what is buffered of the raw segments that have been joined; let go of the rest.

        Parameters
        ----------
        slots, rows
            The youngest buffered tuples, at least those in raw segments, and the numbers of their
            rows.
        relocate
            Told where they are now.
        """
        numbers, self.raw_joined = self.raw_joined, []
        among = np.isin(rows >> PLACE_BITS, numbers)
        self._pack(sorted(numbers), slots[among], rows[among], relocate)

    def compact(
        self, slots: np.ndarray, rows: np.ndarray, relocate: Relocate, slack: float = SLACK
    ) -> None:
        """Let go of segments in which nothing is buffered; pack others if there is a need.

        Given are all buffered tuples of the stream and the numbers of their rows. Small segments
        are packed together when there are many. If too much is stored that is not buffered, the
        sparsest segments are packed, since they give the most room for the least copying. Rows of a
        segment are taken to be equally wide.
        """
        counts = dict(zip(*np.unique(rows >> PLACE_BITS, return_counts=True), strict=True))
        packed = {n: self._segments[n].num_rows for n in self._bytes}
        garbage = {
            number: self._bytes[number] * (stored - counts.get(number, 0)) // stored
            for number, stored in packed.items()
        }
        small = [number for number, stored in packed.items() if stored < SMALL]
        chosen = {number for number in packed if number not in counts}
        if len(small) > MANY:
            chosen |= set(small)
        buffered = self.packed_bytes - sum(garbage.values())
        excess = sum(garbage.values()) - (slack - 1) / 2 * buffered
        excess -= sum(garbage[number] for number in chosen)
        for number in sorted(packed, key=lambda number: counts.get(number, 0) / packed[number]):
            if excess > 0 and number not in chosen:
                chosen.add(number)
                excess -= garbage[number]
        loose = np.isin(rows >> PLACE_BITS, list(chosen))
        self._pack(sorted(chosen), slots[loose], rows[loose], relocate)

    def needs_compacting(self, buffered: int) -> bool:
        """Whether too many of the stored rows have been forgotten, or are strewn about."""
        if sum(part.num_rows < SMALL for part in self._segments.values()) > MANY:
            return True
        excess = self.packed_rows - SLACK * buffered
        return excess > 0 and excess * self.packed_bytes / self.packed_rows > FEW_BYTES

    @property
    def packed_bytes(self) -> int:
        """The bytes of all rows that have been packed, as budgets count them."""
        return sum(self._bytes.values())

    def _pack(
        self, numbers: list[int], slots: np.ndarray, rows: np.ndarray, relocate: Relocate
    ) -> None:
        """Move rows out of segments into new ones of about the same size."""
        order, pieces = self._by_segment(rows)
        places = dict(pieces)
        slots = slots[order]
        length = -(-len(rows) // max(1, round(len(rows) / SEGMENT_ROWS)))
        taken: list[pa.RecordBatch] = []
        start = end = 0
        for number in numbers:
            segment = self._segments.pop(number)
            if number < RAW >> PLACE_BITS:
                self.packed_rows -= segment.num_rows
                del self._bytes[number]
            rest = places.get(number, rows[:0])
            while len(rest):
                part, rest = np.split(rest, [length - (end - start)])
                taken.append(take(segment, part))
                end += len(part)
                if end - start == length or end == len(rows):
                    packed = pa.concat_batches(taken)
                    new = self._enter(packed, 0)
                    self._count(new)
                    relocate(slots[start:end], (new << PLACE_BITS) + np.arange(end - start))
                    taken, start = [], end

    def segments(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        """All segments with their numbers."""
        yield from self._segments.items()

    def restore(self, segments: dict[int, pa.RecordBatch], raw_joined: list[int]) -> None:
        """Go on with what :meth:`segments` gave, and the raw ones of them that were joined."""
        self._segments = segments
        self.raw_joined = raw_joined
        self._next = 1 + max((number % (RAW >> PLACE_BITS) for number in segments), default=-1)
        self._bytes, self.packed_rows = {}, 0
        for number in segments:
            if number < RAW >> PLACE_BITS:
                self._count(number)

    def _count(self, number: int) -> None:
        segment = self._segments[number]
        self._bytes[number] = int(row_bytes(segment).sum())
        self.packed_rows += segment.num_rows


def fit(
    stores: Sequence[PayloadStore],
    most: int,
    rows_of: Callable[[int], tuple[np.ndarray, np.ndarray]],
    relocate: Callable[[int], Relocate],
) -> None:
    """Pack the rows of all streams, if need be without a gap, so that they take so many bytes.

    Parameters
    ----------
    stores
        The rows, by stream.
    most
        The bytes, which are at least those of the buffered rows.
    rows_of, relocate
        By stream: all buffered tuples and the numbers of their rows, and who is told of new ones.
    """
    for slack in (SLACK, 1.0):
        for stream, store in enumerate(stores):
            if sum(store.packed_bytes for store in stores) > most:
                store.compact(*rows_of(stream), relocate(stream), slack)
