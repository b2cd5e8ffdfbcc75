"""What happens in one micro-batch of a bounded join, in numbers.

The join adds one row of these numbers per shard to its packed output; Spark sums them up with
``observe``, so that each batch's sums are in the progress of the query (and a task that is run
again is not counted twice). :mod:`recollect.spark.live` reads them there.
"""

from dataclasses import dataclass, fields

OBSERVATION = "recollect."
"""What the names of our observations begin with; the name of the join follows."""


@dataclass
class Numbers:
    """Sums over the shards of a bounded join for one micro-batch.

    ``buffered`` and ``buffered_bytes`` are levels at the end of the batch, all others count what
    happened in it.
    """

    rows_in: int = 0
    """Rows that arrived, late ones and those with NULL keys included."""
    results: int = 0
    evicted: int = 0
    """Tuples that were forgotten in favour of another."""
    refused: int = 0
    """Tuples that were not remembered because the policy preferred the others."""
    expired: int = 0
    """Tuples whose window had passed."""
    late: int = 0
    """Rows older than the watermark, which are not joined."""
    null_keys: int = 0
    """Rows whose key or time is NULL, which match nothing."""
    buffered: int = 0
    """Tuples in memory."""
    buffered_bytes: int = 0
    """What they take in memory with everything the join keeps about them."""
    state_bytes: int = 0
    """Bytes written to the state store."""
    rebuilt: int = 0
    """Shards whose memory was not at hand and came from the state store."""
    engine_micros: int = 0
    """Time spent in the join itself: finding pairs, choosing victims, putting results together."""
    overhead_micros: int = 0
    """Time spent on packing, unpacking and state."""


FIELDS = tuple(field.name for field in fields(Numbers))
