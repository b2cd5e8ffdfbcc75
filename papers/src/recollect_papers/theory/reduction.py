"""Caching is joining: a stream of references as two streams whose join results are its cache hits.

Think of the relation as a second stream, the supply, that brings the row of each reference when it
comes, to be kept for the next reference to the same key. The i-th reference to a key is numbered
i - 1 and the i-th supply of its row i, so that a supplied row can match just once: the next
reference to its key, if the row is kept until then. A cache that keeps a row is a join buffer that
keeps its latest supply, and hits are results.

So whatever is known of joins (benefit curves, dominance, HEEB, the offline optimum) holds for
caches. Note that a hit brings a new supply: a row's age in the join is the time since its last
reference, and first in, first out in the join is LRU in the cache.

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, section 3.1.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from recollect.hashing import code_of_columns, missing


class Reduced(NamedTuple):
    """Two streams to be joined on ``key`` and ``occurrence``, with the references first."""

    references: pa.Table
    supply: pa.Table


def reduce_to_join(keys: pa.Array) -> Reduced:
    """Turn a caching problem into a joining problem.

    Parameters
    ----------
    keys
        The keys of the references, in order. NULL refers to nothing.

    Examples
    --------
    >>> reduced = reduce_to_join(pa.array(["a", "b", "a", "c", "a"]))
    >>> reduced.references["occurrence"].to_pylist()
    [0, 0, 1, 0, 2]
    >>> reduced.supply["occurrence"].to_pylist()
    [1, 1, 2, 1, 3]

    With room for everything, each reference but the first to its key is a hit:

    >>> from recollect import join
    >>> join(*reduced, on="key,occurrence", time="time", window="unlimited").stats.results
    2
    """
    nulls = missing([keys])
    if nulls is not None:
        keys = keys.take(pa.array(np.flatnonzero(~nulls)))
    occurrence = _occurrences(code_of_columns([keys]))
    time = pa.array(np.arange(len(keys)))
    tables = (
        pa.table({"time": time, "key": keys, "occurrence": pa.array(occurrence + supplied)})
        for supplied in (0, 1)
    )
    return Reduced(*tables)


def _occurrences(codes: np.ndarray) -> np.ndarray:
    """How often the code of each place came before."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    places = np.arange(len(codes))
    begins = np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(codes)]
    before = np.empty(len(codes), np.int64)
    before[order] = places - np.maximum.accumulate(np.where(begins, places, 0))
    return before
