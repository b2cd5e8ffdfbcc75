"""A sink leaves a complete file or no trace, whatever goes wrong."""

import os
import stat

import pyarrow as pa
import pytest

from recollect.errors import InputError
from recollect.streams import ZipfStream, open_sink, open_source
from recollect.streams.formats import ENDINGS

STREAM = ZipfStream(tuples=100_000)
every_ending = pytest.mark.parametrize("ending", ENDINGS)


def write_and_raise(path, error):
    with open_sink(path, STREAM.schema) as sink:
        for batch in STREAM.batches():
            sink.write(batch)
        raise error


@every_ending
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_exception_leaves_the_old_file_and_nothing_else(tmp_path, ending, error):
    path = tmp_path / f"out{ending}"
    path.write_text("precious")
    with pytest.raises(error):
        write_and_raise(path, error)
    assert path.read_text() == "precious"
    assert os.listdir(tmp_path) == [path.name]


@every_ending
def test_the_file_appears_only_at_the_end(tmp_path, ending):
    path = tmp_path / f"out{ending}"
    with open_sink(path, STREAM.schema) as sink:
        for batch in STREAM.batches():
            sink.write(batch)
        assert not path.exists()
        assert len(os.listdir(tmp_path)) == 1
    assert os.listdir(tmp_path) == [path.name]


def test_a_file_can_be_rewritten_from_itself(tmp_path):
    path = tmp_path / "out.arrow"
    for data in (STREAM, path):
        source = open_source(data)
        with open_sink(path, source.schema) as sink:
            for batch in source.batches():
                sink.write(batch)
    assert pa.Table.from_batches(open_source(path).batches()) == STREAM.table()


@every_ending
def test_a_batch_that_does_not_fit_leaves_nothing(tmp_path, ending):
    path = tmp_path / f"out{ending}"
    with (
        pytest.raises(InputError, match=r"'time' \(int64\).* came with 'time' \(string\)"),
        open_sink(path, STREAM.schema) as sink,
    ):
        sink.write(pa.record_batch({"time": ["text"]}))
    assert os.listdir(tmp_path) == []


def test_permissions_are_the_usual_ones(tmp_path):
    (tmp_path / "usual").touch()
    with open_sink(tmp_path / "out.csv", STREAM.schema):
        pass
    mode = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("usual", "out.csv")]
    assert mode[0] == mode[1]
