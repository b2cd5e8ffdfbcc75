"""A temporal relation as its words: which columns are read, and what the words stand for.

Tuples are a list of arrays of int64, all of the same length: the starts, the ends, and the words of
each further column.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from recollect.errors import InputError
from recollect.intervals.predicate import Check, mask_of
from recollect.intervals.timeline import FOREVER, Timeline
from recollect.intervals.words import Codec, codec_of, value_codec
from recollect.join.whole import Progress, quiet
from recollect.streams import Source
from recollect.streams.python_values import text_of

BATCH_ROWS = 131_072

Tuples = list[np.ndarray]


@dataclass(frozen=True)
class Relation:
    """The columns of a relation that matter.

    Examples
    --------
    >>> schema = pa.schema({"dep": pa.int64(), "arr": pa.int64(), "fare": pa.float32()})
    >>> relation = Relation.of(schema, "dep", "arr", value="fare", attributes=["dep"])
    >>> batch = pa.record_batch([[1, 2], [9, None], [1.5, None]], schema=schema)
    >>> tuples = relation.encode(batch)
    >>> tuples[1].tolist() == [9, FOREVER], relation.places
    (True, {'fare': 2, 'dep': 3})
    """

    start: str
    end: str
    """The names of the columns with the times."""
    line: Timeline
    """The line on which the times lie."""
    codecs: dict[str, Codec]
    """The other columns."""
    attributes: frozenset[str] = frozenset()
    """Which of them are asked about, so that an index should have them as dimensions."""

    @classmethod
    def of(
        cls,
        schema: pa.Schema,
        start: str | None,
        end: str | None,
        value: str | None = None,
        attributes: Iterable[str] = (),
        name: str = "the relation",
    ) -> "Relation":
        """Find columns in a schema; messages call the data by its name."""
        if start is None or end is None:
            raise InputError("name the columns of the times (start and end)")

        def kind_of(column: str) -> pa.DataType:
            if schema.names.count(column) != 1:
                raise InputError(
                    f"{name} has {'several columns' if column in schema.names else 'no column'}"
                    f" {column!r}; it has {', '.join(map(repr, schema.names))}"
                )
            return schema.field(column).type

        attributes = tuple(attributes)
        line = Timeline.of(kind_of(start), kind_of(end))
        codecs = {} if value is None else {value: value_codec(kind_of(value), value)}
        for attribute in attributes:
            if attribute not in codecs:
                codecs[attribute] = codec_of(kind_of(attribute), attribute)
        return cls(start, end, line, codecs, frozenset(attributes))

    @property
    def names(self) -> list[str]:
        """The columns to read."""
        return list(dict.fromkeys([self.start, self.end, *self.codecs]))

    @property
    def places(self) -> dict[str, int]:
        """Where in the list the words of the columns besides the times are."""
        return {name: place for place, name in enumerate(self.codecs, 2)}

    def encode(
        self, batch: pa.RecordBatch, checks: Iterable[Check] = (), first_row: int = 0
    ) -> Tuples:
        """Turn rows into tuples; those that fail a check or cover no time are left out."""
        columns = {name: codec.encode(batch[name]) for name, codec in self.codecs.items()}
        wanted = mask_of(checks, columns, batch.num_rows)
        starts, ends = batch[self.start], batch[self.end]
        start, end = self.line.encode(starts), self.line.encode(ends)
        if ends.null_count:
            end = np.where(ends.is_null().to_numpy(zero_copy_only=False), FOREVER, end)
        if starts.null_count:
            unknown = starts.is_null().to_numpy(zero_copy_only=False) & wanted
            if unknown.any():
                raise InputError(
                    f"row {first_row + int(unknown.argmax())} has no {self.start!r}; leave such"
                    f' rows out with where="{self.start} is not null"'
                )
        backward = (start > end) & wanted
        if backward.any():
            row = int(backward.argmax())
            raise InputError(
                f"row {first_row + row} ends before it starts:"
                f" {self.start!r} is {text_of(starts[row])}"
                f" and {self.end!r} is {text_of(ends[row])}"
            )
        wanted &= start < end
        tuples = [start, end, *columns.values()]
        return tuples if wanted.all() else [words[wanted] for words in tuples]

    def together(self, parts: list[Tuples]) -> Tuples:
        """Several parts as one."""
        if len(parts) == 1:
            return parts[0]
        nothing = [np.empty(0, np.int64)] * (2 + len(self.codecs))
        return [np.concatenate(arrays) for arrays in zip(nothing, *parts, strict=True)]


class Reader:
    """A source as the tuples of a relation, counted while they are read."""

    def __init__(self, source: Source, relation: Relation, progress: Progress = quiet) -> None:
        self._source = source
        self.relation = relation
        self._progress = progress
        self.rows = 0

    def tuples(self, checks: Iterable[Check] = ()) -> Iterator[Tuples]:
        """Yield the tuples that pass some checks, batch by batch."""
        checks = list(checks)
        for batch in self._source.batches(self.relation.names, BATCH_ROWS):
            yield self.relation.encode(batch, checks, self.rows)
            self.rows += batch.num_rows
            self._progress("reading", batch.num_rows)
