"""A temporal relation as its words: which columns are read, and what the words stand for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from recollect.errors import InputError
from recollect.intervals.predicate import Check, mask_of
from recollect.intervals.timeline import FOREVER, Timeline
from recollect.intervals.words import Codec, codec_of, value_codec
from recollect.streams.python_values import text_of


@dataclass(frozen=True)
class Tuples:
    """Some tuples of a relation, as arrays of int64."""

    start: np.ndarray
    end: np.ndarray
    columns: dict[str, np.ndarray]
    """Words by column."""

    def __len__(self) -> int:
        """Count them."""
        return len(self.start)


class Relation:
    """The columns of a relation that matter.

    Parameters
    ----------
    start, end
        The names of the columns with the times.
    line
        The line on which the times lie.
    codecs
        The other columns.
    attributes
        Which of them are asked about, so that an index should have them as dimensions.

    Examples
    --------
    >>> schema = pa.schema({"dep": pa.int64(), "arr": pa.int64(), "fare": pa.float32()})
    >>> relation = Relation.of(schema, "dep", "arr", value="fare", attributes=["dep"])
    >>> batch = pa.record_batch([[1, 2], [9, None], [1.5, None]], schema=schema)
    >>> tuples = relation.encode(batch)
    >>> tuples.end.tolist() == [9, FOREVER], list(tuples.columns)
    (True, ['fare', 'dep'])
    """

    def __init__(
        self,
        start: str,
        end: str,
        line: Timeline,
        codecs: Mapping[str, Codec],
        attributes: Iterable[str] = (),
    ) -> None:
        self.start = start
        self.end = end
        self.line = line
        self.codecs = dict(codecs)
        self.attributes = frozenset(attributes)

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
        """Find columns in a schema.

        Parameters
        ----------
        schema
            All columns there are.
        start, end
            Which have the times.
        value
            Which has the numbers to aggregate.
        attributes
            Which others are asked about.
        name
            What messages call the data.
        """
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
        return cls(start, end, line, codecs, attributes)

    @property
    def names(self) -> list[str]:
        """The columns to read."""
        return list(dict.fromkeys([self.start, self.end, *self.codecs]))

    def encode(
        self, batch: pa.RecordBatch, checks: Iterable[Check] = (), first_row: int = 0
    ) -> Tuples:
        """Turn rows into tuples; those that fail a check or cover no time are left out.

        Parameters
        ----------
        batch
            Rows with at least the columns of :attr:`names`.
        checks
            What the tuples must pass.
        first_row
            The number of the first row, for messages.
        """
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
        if wanted.all():
            return Tuples(start, end, columns)
        chosen = {name: words[wanted] for name, words in columns.items()}
        return Tuples(start[wanted], end[wanted], chosen)

    def together(self, parts: Sequence[Tuples]) -> Tuples:
        """Several parts as one."""
        if len(parts) == 1:
            return parts[0]
        nothing = np.empty(0, np.int64)

        def whole(arrays: Iterable[np.ndarray]) -> np.ndarray:
            return np.concatenate([nothing, *arrays])

        return Tuples(
            whole(part.start for part in parts),
            whole(part.end for part in parts),
            {name: whole(part.columns[name] for part in parts) for name in self.codecs},
        )
