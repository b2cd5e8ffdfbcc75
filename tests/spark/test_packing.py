"""Rows on their way: which shard, which partition, and nothing lost; without Spark."""

import datetime as dt
import decimal
import math
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.hashing import code_of_columns
from recollect.join import feed
from recollect.join.feed import keys_of
from recollect.join.kernel import BEFORE_ALL
from recollect.join.query import Query, bind
from recollect.spark import packing
from recollect.spark.keeping.micro_batch import read_input
from recollect.spark.keeping.shard import Shard
from recollect.spark.packing import (
    CODES,
    PACKED_SCHEMA,
    _spark_hash,
    from_bytes,
    labels,
    packer,
    shards_of,
    spreader,
    to_buffer,
    unpacker,
    unship,
)
from tests.policies.scenarios import examples
from tests.spark.shards import batch_of, job_of

SPARK_SAYS = {
    0: 933211791,
    1: -559580957,
    2: 1765031574,
    3: -1823081949,
    7: 1079293707,
    41: -1080649125,
    42: 29417773,
    1000: -14577491,
    4999: -994223316,
    65536: 1017081869,
    123456789: -598405280,
    2147483647: 133916647,
}
"""What ``hash(CAST(n AS INT))`` gives in Spark 4.3."""

NESTED = pa.schema(
    [
        ("t", pa.timestamp("us", "UTC")),
        ("k", pa.string()),
        ("list", pa.list_(pa.struct([("a", pa.int32()), ("b", pa.list_(pa.string()))]))),
        ("map", pa.map_(pa.string(), pa.decimal128(20, 3))),
        ("struct", pa.struct([("x", pa.float64()), ("y", pa.binary())])),
        ("flag", pa.bool_()),
        ("nothing", pa.null()),
    ]
)


def nested_rows(count: int, nulls: bool = True) -> pa.RecordBatch:
    """Rows of all sorts of types, some of them with NULL as key, time or anything else."""
    rows = []
    for number in range(count):
        row = {
            "t": dt.datetime(2020, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=number),
            "k": f"key {number % 13}",
            "list": [{"a": number, "b": ["x", None, "y" * (number % 5)]}] * (number % 3),
            "map": [(str(at), decimal.Decimal(at) / 8) for at in range(number % 4)],
            "struct": {"x": number / 7, "y": bytes([number % 256])},
            "flag": number % 2 == 0,
            "nothing": None,
        }
        if nulls and number % 10 == 3:
            row["k"] = None
        if nulls and number % 15 == 7:
            row["t"] = None
        if number % 4 == 1:
            row |= dict.fromkeys(("list", "map", "struct", "flag"))
        rows.append(row)
    return pa.RecordBatch.from_pylist(rows, NESTED)


def bound_of(schema: pa.Schema, other: pa.Schema | None = None, on="k"):
    return bind(Query.parse(on=on, time="t", window="10s"), schema, other or schema)


@pytest.fixture
def partition(monkeypatch) -> SimpleNamespace:
    """The task that a stage believes to run in."""
    task = SimpleNamespace(number=0)
    context = SimpleNamespace(partitionId=lambda: task.number)
    monkeypatch.setattr(packing, "TaskContext", SimpleNamespace(get=lambda: context))
    return task


# -- shards and partitions -------------------------------------------------------------------------


def test_hash_of_spark():
    assert {number: _spark_hash(number) for number in SPARK_SAYS} == SPARK_SAYS


@pytest.mark.parametrize("shards", range(1, 201))
def test_every_shard_has_a_partition_of_its_own(shards):
    found = labels(shards)
    assert len(set(found)) == shards
    assert [_spark_hash(label) % shards for label in found] == list(range(shards))
    assert max(found) < 2**31


SAME = {
    "int": ([1, -2, 3], [pa.int8(), pa.int16(), pa.int32(), pa.int64()]),
    "float": ([1.5, -0.0, math.inf, math.nan], [pa.float32(), pa.float64()]),
    "text": (["a", "", "ä" * 40], [pa.string(), pa.large_string(), pa.string_view()]),
    "bytes": ([b"a", b"", b"x" * 40], [pa.binary(), pa.large_binary(), pa.binary_view()]),
    "words": (["a", "b", "a"], [pa.string(), pa.dictionary(pa.int32(), pa.string())]),
    "int and float": ([1, 2, -3], [pa.int32(), pa.float64()]),
    "decimal": ([decimal.Decimal("1.50")] * 3, [pa.decimal128(10, 2), pa.decimal128(12, 2)]),
    "moment": ([10**6, 0, -(10**6)], [pa.timestamp("us"), pa.timestamp("ms")]),
}


@pytest.mark.parametrize("how", SAME)
def test_both_sides_send_a_key_to_the_same_shard(how):
    values, kinds = SAME[how]
    for one in kinds:
        for two in kinds:
            schemas = [pa.schema([("t", pa.int64()), ("k", kind)]) for kind in (one, two)]
            bound = bind(Query.parse(on="k", time="t", window=1), *schemas)
            where = []
            for side, schema in enumerate(schemas):
                keys = _as(values, schema.types[1])
                batch = pa.record_batch([pa.array(range(len(values))), keys], schema=schema)
                where.append(shards_of(code_of_columns(keys_of(bound, side, batch)), 1000).tolist())
            assert where[0] == where[1], (one, two)


def _as(values: list, kind: pa.DataType) -> pa.Array:
    if pa.types.is_timestamp(kind):
        return pa.array(values, pa.timestamp("us")).cast(kind)
    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).dictionary_encode().cast(kind)
    return pa.array(values, kind)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda x: pa.array([x], pa.float64()),
        lambda x: pa.array([x], pa.float32()),
        lambda x: pa.array([[x]], pa.list_(pa.float64())),
        lambda x: pa.array([{"a": [x, 1]}], pa.struct([("a", pa.list_(pa.float64()))])),
        lambda x: pa.array([[("a", x)]], pa.map_(pa.string(), pa.float64())),
    ],
    ids=["double", "float", "array", "struct", "map"],
)
def test_zeros_and_nans_are_one_key_each(wrap):
    odd_nan = np.array([0x7FF8000000000123], np.int64).view(np.float64)[0]
    negative_nan = np.array([-1], np.int64).view(np.float64)[0]
    for same in ((0.0, -0.0), (math.nan, odd_nan), (math.nan, negative_nan)):
        one, two = (shards_of(code_of_columns([wrap(value)]), 10**6) for value in same)
        assert one.tolist() == two.tolist()


@examples(30)
@given(st.integers(1, 300), st.lists(st.integers(-(2**63), 2**63 - 1), max_size=50))
def test_shards_are_in_range_and_do_not_depend_on_the_neighbours(shards, keys):
    where = shards_of(code_of_columns([pa.array(keys, pa.int64())]), shards)
    assert all(0 <= shard < shards for shard in where)
    alone = [shards_of(code_of_columns([pa.array([key], pa.int64())]), shards)[0] for key in keys]
    assert where.tolist() == alone


def test_keys_spread_evenly():
    for keys in (np.arange(80_000), np.arange(80_000) * 1024, np.arange(80_000) << 40):
        counts = np.bincount(shards_of(code_of_columns([pa.array(keys)]), 16), minlength=16)
        assert counts.min() > 4600
        assert counts.max() < 5400


def test_a_slice_is_sent_where_the_whole_is():
    batch = nested_rows(60, nulls=False)
    for name in ("k", "list", "map", "struct"):
        column = batch.column(name)
        whole = shards_of(code_of_columns([column]), 50)
        assert (
            shards_of(code_of_columns([column.slice(17, 20)]), 50).tolist() == whole[17:37].tolist()
        )


# -- packing and unpacking -------------------------------------------------------------------------


@pytest.mark.parametrize(("start", "rows"), [(0, 2000), (7, 20), (1999, 1), (5, 0)])
def test_bytes_there_and_back(start, rows):
    batch = nested_rows(2000).slice(start, rows)
    again = from_bytes(to_buffer(batch))
    assert again.schema == batch.schema
    assert again.equals(batch)
    assert rows == 0 or len(to_buffer(batch)) < 4000 + 200 * rows  # not what is outside the slice


def packed_rows(batches) -> list[SimpleNamespace]:
    """The rows that a packer gives, as Spark hands them on."""
    rows = []
    for batch in batches:
        assert batch.schema == PACKED_SCHEMA
        rows += [SimpleNamespace(**row) for row in batch.to_pylist()]
    return rows


@pytest.mark.parametrize("shards", [1, 3, 8])
@pytest.mark.parametrize("chunk", [1, 25, 10**6])
def test_every_row_is_packed_once_for_its_shard(shards, chunk, partition, monkeypatch):
    monkeypatch.setattr(packing, "CHUNK_ROWS", chunk)
    bound = bound_of(NESTED)
    given = nested_rows(90)
    pack = packer(bound, 1, shards)
    rows = []
    for partition.number in range(3):
        mine = given.slice(30 * partition.number, 30)
        rows += packed_rows(pack(iter([mine.slice(0, 11), mine.slice(11, 0), mine.slice(11)])))
    good = [row for row in given.to_pylist() if row["k"] is not None and row["t"] is not None]
    assert sum(row.missing for row in rows) == 90 - len(good)
    assert all(row.side == 1 for row in rows)
    assert all(row.label == labels(shards)[row.shard] for row in rows)
    origins = [(row.origin, row.shard) for row in rows if row.packed is not None]
    assert len(set(origins)) == len(origins)
    signals = [row.shard for row in rows if row.packed is None and row.micros == 0]
    assert sorted(set(signals)) == list(range(shards))

    # Whatever way the rows take, a shard reads its own in the order in which they were.
    found = []
    for shard in range(shards):
        mine = [row for row in rows if row.shard == shard]
        orders = [mine, mine[::-1], sorted(mine, key=lambda row: row.packed is None)]
        inputs = [read_input(order) for order in orders]
        for read in inputs:
            assert read.shard == shard
            assert read.batches[0] is None
            assert read.batches[1] == inputs[0].batches[1]
            assert read.missing == inputs[0].missing
        if inputs[0].batches[1] is not None:
            batch, codes = unship(inputs[0].batches[1])
            found += batch.to_pylist()
            assert codes.tolist() == code_of_columns([batch.column("k")]).tolist()
            assert set(shards_of(codes, shards).tolist()) == {shard}
    assert sorted(found, key=lambda row: row["t"]) == good
    if shards == 1:
        assert found == good


@pytest.mark.parametrize(("on", "sent"), [("text", True), ("k,text", True), ("k", False)])
def test_a_key_is_hashed_once(on, sent, partition, monkeypatch):
    """Its code is sent with the row, and is not in the rows that are kept."""
    job = job_of(on=on)
    rows = batch_of([(1, time, time % 3, time) for time in (3, 1, 2)], stream=1)
    (packed,) = [row for row in packed_rows(packer(job.bound, 1, 1)(iter([rows]))) if row.packed]
    batches = read_input([packed]).batches
    assert (CODES in batches[1].schema.names) == sent
    expected = code_of_columns(keys_of(job.bound, 1, rows))[[1, 2, 0]]
    if sent:
        monkeypatch.setattr(feed, "code_of_columns", None)
    taken = Shard(job, 0).take(batches, BEFORE_ALL, BEFORE_ALL)
    assert taken.parts[1].keys[:, 0].tolist() == expected.tolist()
    assert taken.parts[1].batch.schema == rows.schema


def test_only_the_first_task_signals(partition):
    pack = packer(bound_of(NESTED), 0, 4)
    partition.number = 5
    assert packed_rows(pack(iter([]))) == []
    assert packed_rows(pack(iter([nested_rows(0)]))) == []
    partition.number = 0
    signals = packed_rows(pack(iter([])))
    assert [row.shard for row in signals] == [0, 1, 2, 3]
    assert all(row.packed is None and row.missing == 0 for row in signals)


def test_only_nulls(partition):
    partition.number = 1
    batch = nested_rows(20)
    nulls = pa.RecordBatch.from_pylist([row | {"k": None} for row in batch.to_pylist()], NESTED)
    rows = packed_rows(packer(bound_of(NESTED), 0, 4)(iter([nulls])))
    assert sum(row.missing for row in rows) == 20
    assert all(row.packed is None for row in rows)


def test_nulls_in_one_of_several_key_columns(partition):
    schema = pa.schema([("t", pa.int64()), ("k", pa.int64()), ("m", pa.string())])
    bound = bind(Query.parse(on="k,m", time="t", window=1), schema, schema)
    rows = [(1, 1, "a"), (2, None, "a"), (3, 1, None), (None, 1, "a"), (5, None, None)]
    batch = pa.RecordBatch.from_pylist(
        [dict(zip(schema.names, row, strict=True)) for row in rows], schema
    )
    packed = packed_rows(packer(bound, 0, 3)(iter([batch])))
    assert sum(row.missing for row in packed) == 4
    (there,) = [row.packed for row in packed if row.packed is not None]
    assert unship(from_bytes(there))[0].to_pylist() == batch.slice(0, 1).to_pylist()


def test_nan_is_a_key(partition):
    schema = pa.schema([("t", pa.int64()), ("k", pa.float64())])
    bound = bind(Query.parse(on="k", time="t", window=1), schema, schema)
    batch = pa.record_batch([[1, 2], [math.nan, 0.0]], schema=schema)
    packed = packed_rows(packer(bound, 0, 2)(iter([batch])))
    assert sum(row.missing for row in packed) == 0
    assert sum(from_bytes(row.packed).num_rows for row in packed if row.packed) == 2


def test_another_time_zone(partition):
    """Spark may give the same moments another zone than the schema says."""
    there = pa.schema([("t", pa.timestamp("us", "Asia/Tokyo")), ("k", pa.string())])
    here = pa.schema([NESTED.field(0), NESTED.field(1)])
    batch = nested_rows(9, nulls=False).select(["t", "k"])
    packed = packed_rows(packer(bound_of(here), 0, 1)(iter([batch.cast(there)])))
    (read,) = [unship(from_bytes(row.packed))[0] for row in packed if row.packed is not None]
    assert read.schema == here
    assert read.equals(batch)


def test_another_time_zone_beside_a_struct_that_is_null():
    """Its members may not be NULL, though it may itself; only the time is to be cast."""
    inner = pa.struct([pa.field("a", pa.int32(), nullable=False)])
    here = pa.schema([("t", pa.timestamp("us", "UTC")), ("s", inner)])
    rows = pa.StructArray.from_arrays(
        [pa.array([7, None], pa.int32())], fields=list(inner), mask=pa.array([False, True])
    )
    there = [pa.array([1, 2], pa.timestamp("us", "Asia/Tokyo")), rows]
    same = packing.conform(pa.RecordBatch.from_arrays(there, ["t", "s"]), here)
    assert same.schema == here
    assert same.column(1).to_pylist() == [{"a": 7}, None]


def test_wide_rows_are_packed_a_few_at_a_time(monkeypatch):
    monkeypatch.setattr(packing, "CHUNK_BYTES", 1_000)
    wide = pa.record_batch({"s": ["x" * 600]})
    assert [chunk.num_rows for _, chunk in packing._chunks(iter([wide] * 5))] == [2, 2, 1]


def test_unpacking_picks_columns():
    batch = nested_rows(30)
    packed = pa.record_batch(
        {"packed": [to_buffer(part).to_pybytes() for part in (batch.slice(0, 10), batch.slice(10))]}
    )
    given = list(unpacker(["struct", "k"])(iter([packed, packed.slice(0, 0)])))
    assert pa.Table.from_batches(given) == pa.table(batch).select(["struct", "k"])


def test_spreading_a_table(partition):
    bound = bound_of(NESTED)
    given = nested_rows(40)
    partition.number = 2
    for side, (own, other) in enumerate((("left", "right"), ("right", "left"))):
        batches = list(spreader(bound, side, 5)(iter([given.slice(0, 15), given.slice(15)])))
        table = pa.Table.from_batches(batches)
        good = [row for row in given.to_pylist() if row["k"] is not None and row["t"] is not None]
        codes = code_of_columns([pa.array([row["k"] for row in good])])
        sent = [row | {CODES: code} for row, code in zip(good, codes.tolist(), strict=True)]
        assert table.column(own).to_pylist() == sent
        assert table.column(other).null_count == len(good)
        moments = [round(row["t"].timestamp() * 1e6) for row in good]
        assert table.column("at").to_pylist() == moments
        numbers = table.column("row").to_pylist()
        assert numbers == sorted(set(numbers))
        assert numbers[0] == 2 << packing.ROW_BITS
        assert table.column("shard").to_pylist() == shards_of(codes, 5).tolist()
