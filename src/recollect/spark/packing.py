"""Rows on their way through Spark, many at a time: one binary value per shard and batch of rows.

Row by row the Java side and the conversions cost more than the join. So a stage before the shuffle
sorts its rows by shard and packs those of a shard into one value, and a stage behind the join
unpacks the results.
"""

from collections.abc import Callable, Iterator
from time import perf_counter

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.errors import PySparkTypeError, UnsupportedOperationException
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from recollect.compiled import cached, mix
from recollect.errors import InputError
from recollect.hashing import code_of_columns, fits_in_64_bits
from recollect.join.feed import keys_of
from recollect.join.payload import take
from recollect.join.query import Bound

PACKED = "label int, shard int, side int, origin long, missing long, micros long, packed binary"
"""The columns of packed rows: where they go, where they come from, what was left out."""
PACKED_SCHEMA = pa.schema(
    [(name, pa.int32()) for name in ("label", "shard", "side")]
    + [(name, pa.int64()) for name in ("origin", "missing", "micros")]
    + [("packed", pa.binary())]
)
CODES = "recollect.codes"
"""The column for the codes of keys: they are hashed here, and not once more in the shard."""
CHUNK_ROWS = 262_144
CHUNK_BYTES = 2**26
"""At most about so many rows, or bytes, are packed together."""
CHUNK_BITS = 20
ROW_BITS = 40

Stage = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def micros_since(start: float) -> int:
    """Microseconds since a reading of the clock."""
    return int(1e6 * (perf_counter() - start))


@cached
def _spread(codes, shards, where):  # type: ignore[no-untyped-def]
    for i in range(len(codes)):
        # The buffer's hash table uses the lower bits of the same mixture.
        where[i] = ((mix(codes[i]) >> 32) & 0x7FFFFFFF) % shards


def arrow_schema(struct: StructType, what: str) -> pa.Schema:
    """Columns in Arrow's types. Time stamps are instants, so the session's time zone is not in."""
    try:
        return to_arrow_schema(
            struct, timezone="UTC", error_on_duplicated_field_names_in_struct=True
        )
    except (PySparkTypeError, UnsupportedOperationException) as error:
        raise InputError(f"{what} cannot be handed to Python workers: {error}") from None


def ships_codes(bound: Bound) -> bool:
    """Whether rows are sent with the codes of their keys; a single number is its own code."""
    return len(bound.key_types) > 1 or not fits_in_64_bits(bound.key_types[0])


def columns_sent(bound: Bound, side: int) -> pa.Schema:
    """The columns that a stream sends to its shards."""
    schema = bound.schemas[side]
    return schema.append(pa.field(CODES, pa.int64())) if ships_codes(bound) else schema


def prepare(bound: Bound, side: int, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, np.ndarray]:
    """The rows that a stream sends, and the codes of their keys."""
    batch = without_missing(bound, side, conform(batch, bound.schemas[side]))
    codes = code_of_columns(keys_of(bound, side, batch))
    if ships_codes(bound):
        batch = batch.append_column(CODES, pa.array(codes))
    return batch, codes


def unship(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, np.ndarray | None]:
    """The rows of a stream again, and the codes if they were sent."""
    if batch.schema.get_field_index(CODES) < 0:
        return batch, None
    return batch.drop_columns([CODES]), batch.column(CODES).to_numpy()


def shards_of(codes: np.ndarray, shards: int) -> np.ndarray:
    """Which shard each code belongs to.

    >>> shards_of(np.array([1, 2, 1]), 2)[[0, 2]].tolist() in ([0, 0], [1, 1])
    True
    """
    where = np.empty(len(codes), np.int32)
    _spread(codes, shards, where)
    return where


def labels(shards: int) -> list[int]:
    """Numbers for the shards that Spark's own hash spreads evenly over as many partitions.

    >>> len(set(labels(5)))
    5
    """
    found: dict[int, int] = {}
    candidate = 0
    while len(found) < shards:
        found.setdefault(_spark_hash(candidate) % shards, candidate)
        candidate += 1
    return [found[shard] for shard in range(shards)]


def _spark_hash(number: int) -> int:
    """The hash of a small whole number by which Spark chooses a partition (Murmur3, seed 42)."""
    mask = 0xFFFFFFFF
    word = number * 0xCC9E2D51 & mask
    word = (word << 15 | word >> 17) & mask
    bits = 42 ^ (word * 0x1B873593 & mask)
    bits = (bits << 13 | bits >> 19) & mask
    bits = (bits * 5 + 0xE6546B64 & mask) ^ 4
    bits = (bits ^ bits >> 16) * 0x85EBCA6B & mask
    bits = (bits ^ bits >> 13) * 0xC2B2AE35 & mask
    bits ^= bits >> 16
    return bits - (1 << 32) if bits >> 31 else bits


def without_missing(bound: Bound, side: int, batch: pa.RecordBatch) -> pa.RecordBatch:
    """The rows whose key and time are not NULL; others match nothing."""
    needed = [batch.column(name) for name in (*bound.query.on[side], bound.query.time[side])]
    if not any(column.null_count for column in needed):
        return batch
    there = np.ones(batch.num_rows, bool)
    for column in needed:
        there &= column.is_valid().to_numpy(zero_copy_only=False)
    return take(batch, np.flatnonzero(there))


def conform(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch with just the types of a schema; Spark may name another time zone in them."""
    if batch.schema.types == schema.types:
        return batch
    # Only what differs: Arrow does not cast a NULL struct whose members may not be NULL.
    columns = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def packer(bound: Bound, side: int, shards: int) -> Stage:
    """The stage that packs the rows of one stream.

    The first task of each micro-batch also sends an empty value to each shard, so that every shard
    takes part in every micro-batch.
    """
    label = labels(shards)

    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        partition = context.partitionId()
        if partition == 0:
            rows = [(label[shard], shard, side, -1, 0, 0, None) for shard in range(shards)]
            yield _rows(rows)
        for number, (waited, chunk) in enumerate(_chunks(batches)):
            yield pack_chunk(chunk, partition << CHUNK_BITS | number, waited)

    def pack_chunk(chunk: pa.RecordBatch, origin: int, started: float) -> pa.RecordBatch:
        batch, codes = prepare(bound, side, chunk)
        where = shards_of(codes, shards)
        order = np.argsort(where, kind="stable")
        batch = take(batch, order)
        counts = np.bincount(where, minlength=shards)
        rows: list[tuple] = []
        for shard, (start, count) in enumerate(
            zip(np.cumsum(counts) - counts, counts, strict=True)
        ):
            if count:
                packed = to_buffer(batch.slice(start, count)).to_pybytes()
                rows.append((label[shard], shard, side, origin, 0, 0, packed))
        missing = chunk.num_rows - batch.num_rows
        rows.append((label[0], 0, side, -1, missing, micros_since(started), None))
        return _rows(rows)

    return pack


def spreader(bound: Bound, side: int, shards: int) -> Stage:
    """The stage that makes the rows of one table ready to be sorted by shard and time."""

    def spread(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        row = context.partitionId() << ROW_BITS
        for batch in batches:
            batch, codes = prepare(bound, side, batch)
            at = code_of_columns([batch.column(bound.query.time[side])]) * bound.scale[side]
            rows = [
                batch.to_struct_array()
                if other == side
                else pa.nulls(batch.num_rows, pa.struct(list(columns_sent(bound, other))))
                for other in range(len(bound.schemas))
            ]
            yield pa.RecordBatch.from_pydict(
                {
                    "shard": shards_of(codes, shards),
                    "at": at,
                    "row": np.arange(row, row + batch.num_rows),
                    "left": rows[0],
                    "right": rows[1],
                }
            )
            row += batch.num_rows

    return spread


def _chunks(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[float, pa.RecordBatch]]:
    """Batches put together to larger ones, and when work on each began."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        rows, size = (sum(getattr(part, of) for part in waiting) for of in ("num_rows", "nbytes"))
        if rows >= CHUNK_ROWS or size >= CHUNK_BYTES:
            yield perf_counter(), pa.concat_batches(waiting)
            waiting = []
    if sum(part.num_rows for part in waiting):
        yield perf_counter(), pa.concat_batches(waiting)


def _rows(rows: list[tuple]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    return pa.RecordBatch.from_arrays(
        [pa.array(column, kind) for column, kind in zip(columns, PACKED_SCHEMA.types, strict=True)],
        schema=PACKED_SCHEMA,
    )


def to_buffer(batch: pa.RecordBatch) -> pa.Buffer:
    """A batch in Arrow's own format."""
    target = pa.BufferOutputStream()
    with pa.ipc.new_stream(target, batch.schema) as writer:
        writer.write_batch(batch)
    return target.getvalue()


def from_bytes(data: bytes | pa.Buffer) -> pa.RecordBatch:
    """Read what :func:`to_buffer` made, without copying."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_next_batch()


def unpacker(names: list[str]) -> Stage:
    """The stage that unpacks results and picks the columns of these names."""

    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for value in batch.column("packed"):
                yield from_bytes(value.as_buffer()).select(names)

    return unpack
