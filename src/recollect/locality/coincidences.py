"""How often a stream repeats itself at each lag: all that the locality model is fitted to."""

import numpy as np
from numpy.typing import NDArray

from recollect.errors import InputError
from recollect.streams.checks import require_whole

MOST_LAGS = 1_000
"""With more, fitting the locality model would take minutes."""


class Coincidences:
    """Counts, in one pass, how many tuples equal the one ``lag`` places before them.

    The largest lag is ``h``, at most 1,000. The state is the last ``h`` codes and one counter per
    lag, whatever the length of the stream.

    Examples
    --------
    >>> pairs = Coincidences(h=3)
    >>> pairs.add(np.array([7, 8, 7, 8]))
    >>> pairs.add(np.array([8]))
    >>> pairs.tuples, pairs.counts.tolist()
    (5, [1, 2, 1])
    """

    def __init__(self, h: int) -> None:
        require_whole("h", h, least=1, most=MOST_LAGS)
        self.h = h
        self.tuples = 0
        """How many tuples came so far."""
        self.counts: NDArray[np.int64] = np.zeros(h, np.int64)
        """``counts[lag - 1]``: how many of them equal the one ``lag`` places before."""
        self._recent: NDArray[np.int64] = np.empty(0, np.int64)

    def add(self, codes: NDArray[np.int64]) -> None:
        """Take the next tuples of the stream, as codes of their keys."""
        codes = np.asarray(codes)
        if codes.ndim != 1 or codes.dtype.kind not in "iu":
            raise InputError(
                f"codes must be a one-dimensional array of integers, not {codes.dtype} of shape"
                f" {codes.shape}; recollect.hashing.code_of_columns makes codes of any keys"
            )
        known = np.concatenate([self._recent, codes])
        first = len(self._recent)
        for lag in range(1, min(self.h, len(known) - 1) + 1):
            later = known[max(first, lag) :]
            earlier = known[max(first, lag) - lag : len(known) - lag]
            self.counts[lag - 1] += np.count_nonzero(later == earlier)
        self.tuples += len(codes)
        self._recent = known[-self.h :].copy()
