"""Reading a file batch by batch needs little memory, whatever the size of the file."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

READ = """
import sys, psutil, pyarrow as pa
from recollect.streams import open_source
process = psutil.Process()
before = peak = process.memory_info().rss
for batch in open_source(sys.argv[1]).batches():
    copies = [pa.concat_arrays([column, column]) for column in batch.columns]
    peak = max(peak, process.memory_info().rss)
print(peak - before)
"""


@pytest.fixture(scope="module")
def big_table():
    rows = 1_500_000
    letters = np.random.default_rng(0).integers(97, 123, 64 * rows, dtype=np.uint8)
    offsets = np.arange(0, letters.size + 1, 64, dtype=np.int32)
    note = pa.StringArray.from_buffers(rows, pa.py_buffer(offsets), pa.py_buffer(letters))
    return pa.table({"time": np.arange(rows), "size": np.arange(rows) / 7, "note": note})


def write_parquet(table, path):
    pq.write_table(table, path, row_group_size=table.num_rows, compression="none")


def write_ipc(table, path):
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)


@pytest.mark.parametrize(("name", "write"), [("a.parquet", write_parquet), ("a.arrow", write_ipc)])
def test_resident_memory_stays_far_below_the_file(tmp_path, big_table, name, write):
    path = tmp_path / name
    write(big_table, str(path))
    assert path.stat().st_size > 110_000_000
    process = subprocess.run(
        [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True
    )
    assert int(process.stdout) < 85_000_000
