"""Whether tuples come in the order of their times, which every distance here relies on."""

import numpy as np
import pyarrow as pa

from recollect.errors import InputError, TimeOrderError
from recollect.hashing import code_of
from recollect.streams.python_values import text_of


class TimeOrder:
    """Watches the time column of a stream, batch by batch.

    Examples
    --------
    >>> order = TimeOrder("clicks.csv", "ts")
    >>> order.check(pa.array([1, 2, 2]))
    >>> order.check(pa.array([3, 1]))
    Traceback (most recent call last):
    recollect.errors.TimeOrderError: clicks.csv: row 5 has ts 1, but row 4 has 3; sort it by 'ts'
    """

    def __init__(self, stream: str, column: str) -> None:
        self._stream = stream
        self._column = column
        self._rows = 0
        self._latest: pa.Array | None = None

    def check(self, times: pa.Array) -> None:
        """Raise if one of these times is earlier than the one before it."""
        kind = times.type
        if not (pa.types.is_integer(kind) or pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
            raise InputError(
                f"{self._stream}: time column {self._column!r} is of type {kind};"
                " it must be a time stamp, a date or a whole number"
            )
        if times.null_count:
            row = self._rows + int(np.argmin(times.is_valid().to_numpy(zero_copy_only=False)))
            raise InputError(f"{self._stream}: row {row + 1} has no {self._column}")
        known = times if self._latest is None else pa.concat_arrays([self._latest, times])
        codes = code_of(known)
        if pa.types.is_uint64(kind):
            codes = codes.view(np.uint64)
        if (back := np.flatnonzero(codes[1:] < codes[:-1])).size:
            at = int(back[0]) + 1
            row = self._rows + at + len(times) - len(known)
            raise TimeOrderError(
                f"{self._stream}: row {row + 1} has {self._column} {text_of(known[at])},"
                f" but row {row} has {text_of(known[at - 1])}; sort it by {self._column!r}"
            )
        self._rows += len(times)
        self._latest = times[-1:]
