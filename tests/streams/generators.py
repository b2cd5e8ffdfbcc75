"""What every generator must do, ours and those of the papers."""

import tracemalloc
from dataclasses import fields, replace

import numpy as np
import pyarrow as pa

from recollect.streams import open_source


def name(stream):
    return type(stream).__name__


def check_batches(stream, batch_rows):
    """Whatever the size of the batches, the tuples are the same."""
    batches = list(stream.batches(batch_rows=batch_rows))
    assert pa.Table.from_batches(batches) == stream.table()
    assert all(batch.num_rows == batch_rows for batch in batches[:-1])


def check_one_tuple_per_time_unit(stream):
    table = stream.table()
    assert table.schema == stream.schema == pa.schema([("time", pa.int64()), ("key", pa.int64())])
    assert table["time"].to_pylist() == list(range(stream.tuples))


def check_times_never_go_back(stream):
    assert np.all(np.diff(stream.table()[0].to_numpy()) >= 0)


def check_replay(stream):
    """The seed decides the tuples, and a generator is a source."""
    given = {f.name: getattr(stream, f.name) for f in fields(stream) if f.init}
    assert type(stream)(**given).table() == stream.table()
    assert hash(type(stream)(**given)) == hash(stream)
    assert replace(stream, seed=8).table() != stream.table()
    source = open_source(stream)
    assert source.replayable
    assert pa.Table.from_batches(source.batches()) == stream.table()


def check_any_length(stream):
    """A longer stream begins like a shorter one, a huge one starts at once and takes no memory."""
    assert stream.table().slice(0, 100) == replace(stream, tuples=100).table()
    first = next(replace(stream, tuples=10**14).batches(batch_rows=10))
    assert first.num_rows == 10
    tracemalloc.start()
    for batch in replace(stream, tuples=300_000).batches(batch_rows=8_192):
        assert batch.num_rows <= 8_192
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The last column alone would be 2.4 MB.
    assert peak < 2_000_000
