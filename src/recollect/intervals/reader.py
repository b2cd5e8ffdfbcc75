"""Sources as tuples of a temporal relation, batch by batch."""

from collections.abc import Iterable, Iterator

from recollect.intervals.predicate import Check
from recollect.intervals.relation import Relation, Tuples
from recollect.join.whole import Progress, quiet
from recollect.streams import Source

BATCH_ROWS = 131_072


class Reader:
    """A source as the tuples of a relation, counted while they are read.

    Parameters
    ----------
    source, relation
        The data, and which columns of it matter.
    progress
        Told how many rows have been read.
    """

    def __init__(self, source: Source, relation: Relation, progress: Progress = quiet) -> None:
        self._source = source
        self.relation = relation
        self._progress = progress
        self.rows = 0

    def tuples(self, checks: Iterable[Check] = ()) -> Iterator[Tuples]:
        """Yield the tuples that pass some checks."""
        checks = list(checks)
        for batch in self._source.batches(self.relation.names, BATCH_ROWS):
            yield self.relation.encode(batch, checks, self.rows)
            self.rows += batch.num_rows
            self._progress("reading", batch.num_rows)
