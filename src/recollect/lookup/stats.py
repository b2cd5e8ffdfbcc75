"""What a lookup did: the numbers that the command line prints and programs read."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class LookupStats:
    """Counters of a lookup."""

    policy: str
    cache: int
    """How many rows may be cached."""
    tuples_in: int
    hits: int
    """References whose row, or the knowledge that there is none, was cached."""
    misses: int
    queries: int
    """Queries to the relation, at most one per batch (apart from retries)."""
    negative_hits: int
    """Those of the hits whose key the relation does not have."""
    results: int
    """Rows that came out: those of the stream, or for an inner join those that found a row."""
    not_found: int
    """Rows of the stream whose key the relation does not have."""
    null_keys: int
    """Rows of the stream whose key is NULL or NaN; they are neither hits nor misses."""
    evicted: int
    refused: int
    """Rows that were fetched and not cached, because the policy preferred the others."""
    expired: int
    """Cached rows that were wanted, but older than the TTL allows."""
    cached: int
    """Rows in the cache at the end."""
    seconds: float

    @property
    def hit_rate(self) -> float:
        """The share of the references that needed no query."""
        references = self.hits + self.misses
        return self.hits / references if references else 0.0

    @property
    def tuples_per_second(self) -> float:
        """Rows of the stream per second."""
        return self.tuples_in / self.seconds if self.seconds else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Everything as JSON knows it."""
        derived = {"hit_rate": self.hit_rate, "tuples_per_second": self.tuples_per_second}
        return asdict(self) | derived
