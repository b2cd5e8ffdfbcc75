"""A temporal relation in a file: an index of words, and beside it what the words stand for.

The index itself (:mod:`recollect.intervals.disk`) holds nothing but 64-bit words. The names and
types of the columns, and the strings that words stand for, are in a small file beside it with
``.columns`` at the end of its name: a title, a CRC-32 and Arrow's stream format. Strings are only
ever added there, and before the first tuple that has them, so that both files fit each other
whenever the power fails.
"""

import os
import secrets
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from ctypes import CDLL
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from recollect.errors import InputError, StateError
from recollect.intervals.disk import POOL_PAGES, IntervalIndex
from recollect.intervals.events import Events, chosen
from recollect.intervals.predicate import boxes_of, mask_of
from recollect.intervals.query import Query, Question
from recollect.intervals.relation import Reader, Relation, Tuples
from recollect.intervals.timeline import FOREVER, Timeline
from recollect.intervals.words import LEAST, StringWords, TimeWords, codec_of, value_codec
from recollect.streams import open_source

_TITLE = b"recollect columns\0"
_CHECKSUM_BYTES = 4


def is_interval_file(source: Any) -> bool:
    """Whether something is the path of a relation that was put into a file by this module."""
    return isinstance(source, str | os.PathLike) and _beside(Path(source)).exists()


def _beside(path: Path) -> Path:
    return path.with_name(path.name + ".columns")


class IntervalFile:
    """A relation on disk that can be asked and changed; changes cost no aggregate any work.

    Made by :meth:`load`, :meth:`create` or :meth:`open`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> stays = pa.table({"from": [5, 8], "till": [12, 23], "room": ["a", "b"]})
    >>> path = f"{folder.name}/stays"
    >>> with IntervalFile.load(path, stays, "from", "till", attributes=["room"]) as file:
    ...     file.insert(pa.table({"from": [14], "till": [21], "room": ["c"]}))
    ...     file.delete(stays.slice(0, 1))
    ...     file.tuples
    2
    >>> from recollect.intervals import aggregate
    >>> aggregate(path, agg="count", where="room != 'b'").table.to_pylist()
    [{'start': 14, 'end': 21, 'count': 1}]
    """

    def __init__(self, path: Path, index: IntervalIndex, relation: Relation) -> None:
        self._path = path
        self._index = index
        self.relation = relation
        self._strings = self._seen()

    def _seen(self) -> int:
        """How many strings words stand for."""
        codecs = self.relation.codecs.values()
        return sum(len(codec.seen) for codec in codecs if isinstance(codec, StringWords))

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        source: Any,
        start: str,
        end: str,
        value: str | None = None,
        attributes: Iterable[str] = (),
        pages: int = POOL_PAGES,
        replacement: str = "order",
    ) -> "IntervalFile":
        """Put a relation into a new file, which must not exist.

        Parameters as of :func:`recollect.aggregate`; ``attributes`` are other columns that will be
        asked about, each of them a dimension of the index.
        """
        data = open_source(source)
        relation = Relation.of(data.schema, start, end, value, attributes, data.name)
        return cls.create(path, relation, Reader(data, relation).tuples(), pages, replacement)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        relation: Relation,
        parts: Iterable[Tuples],
        pages: int,
        replacement: str,
    ) -> "IntervalFile":
        """Put the tuples of a relation into a new file."""
        place = Path(path)
        if place.exists():
            raise InputError(f"{place} exists already; give it as the source, or another name")
        if not place.parent.is_dir():
            raise InputError(f"{place} cannot be written: there is no folder {place.parent}")

        def batches() -> Iterator[np.ndarray]:
            yield from map(np.array, parts)
            # Now all strings are known, and the index is not yet in its place.
            _describe(relation, _beside(place))

        try:
            index = IntervalIndex.create(place, _indexed(relation), batches(), pages, replacement)
        except BaseException:
            _beside(place).unlink(missing_ok=True)
            raise
        _release_memory()
        return cls(place, index, relation)

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], pages: int = POOL_PAGES, replacement: str = "order"
    ) -> "IntervalFile":
        """Open a file made before."""
        place = Path(path)
        relation = _described(_beside(place))
        index = IntervalIndex.open(place, pages, replacement)
        if index.indexed != _indexed(relation):
            index.close()
            raise StateError(f"{_beside(place)} is not that of {place}; load the relation again")
        return cls(place, index, relation)

    def insert(self, data: Any) -> None:
        """Add rows with the columns of the relation; all of them or, after an error, none."""
        self._index.insert(self._tuples(data))

    def delete(self, data: Any) -> None:
        """Take rows out that are equal to these, one for each; all of them or none."""
        self._index.delete(self._tuples(data))

    def update(self, old: Any, new: Any) -> None:
        """Replace rows by others; all of them or none."""
        self._index.update(self._tuples(old), self._tuples(new))

    def close(self) -> None:
        """Close the file."""
        self._index.close()

    def __enter__(self) -> Self:
        """Use the file in a with statement."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    @property
    def tuples(self) -> int:
        """How many tuples there are."""
        return self._index.tuples

    @property
    def counters(self) -> tuple[int, int]:
        """Pages read and pages found in the pool, since the file was opened or loaded."""
        return self._index.counters

    def relation_for(self, question: Question, start: str | None, end: str | None) -> Relation:
        """The relation, if a question fits it; the columns of the times may be left out."""
        relation = self.relation
        for known, given in ((relation.start, start), (relation.end, end)):
            if given not in (None, known):
                raise InputError(f"{self._path} was made with {known!r}, not {given!r}")
        value = () if question.value is None else (question.value,)
        for name in (*value, *question.attributes):
            if name not in relation.codecs:
                raise InputError(
                    f"{self._path} does not hold column {name!r}; it holds"
                    f" {', '.join(map(repr, relation.codecs)) or 'only times'}"
                )
        for name in value:
            value_codec(relation.codecs[name].kind, name)  # a string, say, has no sum
        return relation

    def events(self, query: Query) -> Iterator[Events]:
        """Yield the events of the tuples that a query asks about, in order of time."""
        indexed = [check for check in query.checks if check.column in self.relation.attributes]
        places = self.relation.places
        where = {places[name]: box for name, box in boxes_of(indexed).items()}
        low = None if query.low == LEAST else query.low
        high = None if query.high == FOREVER else query.high
        value, group = query.question.value, query.question.group_by
        for time, sign, rows in self._index.events(low, high, where):
            columns = {name: rows[place] for name, place in places.items()}
            nothing = np.zeros(len(time), np.int64)
            events = Events(
                time, sign, rows[0], rows[1],
                nothing if value is None else columns[value],
                nothing if group is None else query.groups.number(columns[group]),
            )  # fmt: skip
            wanted = mask_of(query.checks, columns, len(time))
            yield events if wanted.all() else chosen(events, wanted)

    def _tuples(self, data: Any) -> np.ndarray:
        """The rows of a table as the index takes them; their strings are safe by then."""
        source = open_source(data)
        self._require_same_kinds(source.schema, source.name)
        parts = list(Reader(source, self.relation).tuples())
        if self._seen() > self._strings:
            _describe(self.relation, _beside(self._path))
            self._strings = self._seen()
        return np.array(self.relation.together(parts))

    def _require_same_kinds(self, schema: pa.Schema, name: str) -> None:
        """Refuse numbers where there are times, and the like; they would be cast without a word."""
        mine = self.relation
        other = Relation.of(schema, mine.start, mine.end, None, mine.codecs, name)
        Timeline.of(mine.line.kind, other.line.kind)
        for column, codec in mine.codecs.items():
            kinds = {type(codec), type(other.codecs[column])}
            if len(kinds) > 1 and kinds & {TimeWords, StringWords}:
                raise InputError(
                    f"column {column!r} of {name} is of type {other.codecs[column].kind}; in"
                    f" {self._path} it is of type {codec.kind}"
                )


def _indexed(relation: Relation) -> tuple[bool, ...]:
    return tuple(name in relation.attributes for name in relation.codecs)


def _release_memory() -> None:
    """Give what reading and loading needed back to the system; a sweep begins with a new pool."""
    pa.default_memory_pool().release_unused()
    with suppress(AttributeError, OSError, TypeError):  # only glibc has this, and needs it
        CDLL(None).malloc_trim(0)


def _describe(relation: Relation, path: Path) -> None:
    """Write names, types and strings; the file is replaced as a whole."""
    names = {"start": relation.start, "end": relation.end}
    fields = [pa.field(name, pa.list_(relation.line.kind)) for name in names]
    for name, codec in relation.codecs.items():
        indexed = {"indexed": str(name in relation.attributes)}
        fields.append(pa.field(name, pa.list_(codec.kind), metadata=indexed))
    arrays = [
        pa.array([codec.seen], field.type)
        if isinstance(codec, StringWords)
        else pa.nulls(1, field.type)
        for codec, field in zip([None, None, *relation.codecs.values()], fields, strict=True)
    ]
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=names))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    content = sink.getvalue().to_pybytes()
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.unfinished")
    with open(unfinished, "wb") as file:
        file.write(_TITLE + _checksum(content) + content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, path)


def _described(path: Path) -> Relation:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StateError(f"{path}: {error.strerror}; load the relation again") from None
    if not data.startswith(_TITLE):
        raise StateError(f"{path}: this does not describe an index of intervals")
    start = len(_TITLE) + _CHECKSUM_BYTES
    content = data[start:]
    if data[len(_TITLE) : start] != _checksum(content):
        raise StateError(f"{path} is damaged; load the relation again")
    table = pa.ipc.open_stream(content).read_all()
    names = {key.decode(): name.decode() for key, name in table.schema.metadata.items()}
    line = Timeline(table.schema.field(0).type.value_type)
    codecs, attributes = {}, []
    for number in range(2, table.num_columns):
        field = table.schema.field(number)
        codec = codec_of(field.type.value_type, field.name)
        if isinstance(codec, StringWords):
            codec = StringWords(codec.kind, field.name, table.column(number)[0].as_py())
        codecs[field.name] = codec
        if field.metadata[b"indexed"] == b"True":
            attributes.append(field.name)
    return Relation(names["start"], names["end"], line, codecs, frozenset(attributes))


def _checksum(content: bytes) -> bytes:
    return zlib.crc32(content).to_bytes(_CHECKSUM_BYTES, "big")
