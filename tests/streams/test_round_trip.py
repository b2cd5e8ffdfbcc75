"""What a sink has written, a source reads back: every format, every batch size."""

import datetime as dt
import gzip
import uuid
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recollect.streams import ZipfStream, open_sink, open_source
from recollect.streams.formats import ENDINGS

PLAIN = pa.table(
    {
        "time": pa.array(range(1000), pa.int64()),
        "price": pa.array([None, 0.25, -1e300, 3.0] * 250),
        "symbol": pa.array(['plain, "quoted"\tor not', "new\nline", "é€😀", None] * 250),
        "buy": pa.array([True, False, None, True] * 250),
    }
)
NESTED = pa.table({"tags": [["a", "b"], [], None], "place": [{"x": 1}, {"x": None}, {"x": 3}]})


def write(path, table, batch_rows=None):
    with open_sink(path, table.schema) as sink:
        for batch in table.to_batches(max_chunksize=batch_rows):
            sink.write(batch)
    return path


def read(path, **options):
    source = open_source(path)
    return pa.Table.from_batches(source.batches(**options))


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("batch_rows", [None, 7])
def test_every_ending_keeps_every_value(tmp_path, ending, batch_rows):
    path = write(tmp_path / f"stream{ending.upper()}", PLAIN, batch_rows)
    assert read(path) == PLAIN
    assert open_source(str(path)).schema == PLAIN.schema


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("batch_rows", [1, 333, 1000, 5000])
def test_batches_are_no_larger_than_asked_for(tmp_path, ending, batch_rows):
    path = write(tmp_path / f"stream{ending}", PLAIN)
    sizes = [batch.num_rows for batch in open_source(path).batches(batch_rows=batch_rows)]
    assert sum(sizes) == 1000
    assert 0 < min(sizes) <= max(sizes) <= batch_rows


@pytest.mark.parametrize("ending", ENDINGS)
def test_columns_come_in_the_order_asked_for(tmp_path, ending):
    path = write(tmp_path / f"stream{ending}", PLAIN)
    assert read(path, columns=["buy", "time"]) == PLAIN.select(["buy", "time"])


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".jsonl"])
def test_nested_columns(tmp_path, ending):
    assert read(write(tmp_path / f"nested{ending}", NESTED)).to_pylist() == NESTED.to_pylist()


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow", ".jsonl"])
def test_time_stamps(tmp_path, ending):
    moments = [dt.datetime(2024, 2, 29, 23, 59, second) for second in range(3)]
    table = pa.table({"at": pa.array(moments, pa.timestamp("s"))})
    assert read(write(tmp_path / f"times{ending}", table)).to_pylist() == table.to_pylist()


def test_json_lines_hold_every_type(tmp_path):
    table = pa.table(
        {
            "day": [dt.date(2024, 1, 2)],
            "at": pa.array([dt.datetime(2024, 1, 2, 3, 4, 5, 678)], pa.timestamp("us", "UTC")),
            "sum": [Decimal("10.50")],
            "raw": [b"\x00\xff"],
            "lost": [float("nan")],
            "took": [dt.timedelta(seconds=90)],
            "id": pa.array([uuid.UUID(int=1).bytes], pa.uuid()),
        }
    )
    text = write(tmp_path / "types.jsonl", table).read_text(encoding="utf-8")
    assert text == (
        '{"day": "2024-01-02", "at": "2024-01-02T03:04:05.000678+00:00", "sum": "10.50", '
        '"raw": "AP8=", "lost": null, "took": 90.0, '
        '"id": "00000000-0000-0000-0000-000000000001"}\n'
    )


def test_formats_are_what_they_say(tmp_path):
    table = ZipfStream(200_000).table()
    parquet = pq.ParquetFile(write(tmp_path / "a.parquet", table, batch_rows=500))
    assert parquet.metadata.num_row_groups < 5
    assert parquet.metadata.row_group(0).column(0).compression == "ZSTD"
    packed = write(tmp_path / "a.csv.gz", table).read_bytes()
    assert gzip.decompress(packed).startswith(b'"time","key"\n0,')
    assert write(tmp_path / "a.tsv", table).read_bytes().startswith(b'"time"\t"key"\n0\t')
