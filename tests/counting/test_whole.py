"""Counting a whole input: the right values, one pass, an error that was asked for or chosen."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from recollect.counting import count, whole
from recollect.errors import InputError
from recollect.streams import LocalityStream, ZipfStream


def names_of(stream) -> pa.Table:
    keys = stream.table()["key"].to_pylist()
    return pa.table({"name": [None if key == 9 else f"n{key}" for key in keys]})


def assert_promises(found, names, support):
    true = Counter(names)
    nulls = true.pop(None, 0)
    rows = sum(true.values())
    assert (found.tuples, found.null_keys) == (rows, nulls)
    values, counts, errors = (column.to_pylist() for column in found.table.columns)
    assert {name for name, n in true.items() if n >= support * rows} <= set(values)
    assert counts == sorted(counts, reverse=True)
    for value, low, error in zip(values, counts, errors, strict=True):
        assert low <= true[value] <= low + error
        assert error <= found.epsilon * rows + 1e-6
        assert true[value] >= (support - found.epsilon) * rows - 1e-6


def test_error_given():
    table = names_of(ZipfStream(30_000, keys=2000, exponent=1.0))
    found = count(table, "name", support=0.02, epsilon=0.004)
    assert found.epsilon == 0.004
    assert found.table.schema.names == ["value", "count", "max_error"]
    assert found.entries_estimated == pytest.approx(found.entries_peak, rel=0.25)
    assert_promises(found, table["name"].to_pylist(), 0.02)
    facts = found.as_dict()
    assert facts["frequent"][0] == ["n0", found.table["count"][0].as_py(), 0]
    assert isinstance(facts["entries_estimated"], int)


def test_it_reads_once_and_in_any_pieces():
    table = names_of(ZipfStream(9000, keys=100))
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=700))
    assert count(reader, "name", 0.05, 0.01).table == count(table, "name", 0.05, 0.01).table


@pytest.mark.compiled
def test_locality_is_estimated_from_the_head(monkeypatch):
    """From a fifth of a stream whose tuples are copies, nine out of ten."""
    monkeypatch.setattr(whole, "HEAD", 20_000)
    monkeypatch.setattr(whole, "BATCH_ROWS", 5000)
    stream = LocalityStream(100_000, keys=30_000, repeat=0.9, seed=4)
    for epsilon in (0.01, 0.003, 0.001, 0.0005):
        found = count(stream, "key", support=0.1, epsilon=epsilon)
        assert found.entries_estimated == pytest.approx(found.entries_peak, rel=0.25)


@pytest.mark.parametrize("memory", [60, 400])
@pytest.mark.parametrize("head", [2000, 10**6])
def test_memory_given(monkeypatch, memory, head):
    """The length of the stream is known only if it ends within its head."""
    monkeypatch.setattr(whole, "HEAD", head)
    monkeypatch.setattr(whole, "BATCH_ROWS", 1000)
    stream = LocalityStream(60_000, keys=5000, exponent=1.1)
    found = count(stream, "key", support=0.1, memory=memory)
    assert 0.5 * memory < found.entries_peak <= memory
    assert found.entries_estimated <= memory
    assert found.epsilon < 2 / memory
    assert_promises(found, stream.table()["key"].to_pylist(), 0.1)


def test_a_stream_that_changes_after_its_head(monkeypatch):
    """One key, then many: the error grows instead of the memory, and is told."""
    monkeypatch.setattr(whole, "HEAD", 1000)
    monkeypatch.setattr(whole, "BATCH_ROWS", 1000)
    codes = np.concatenate([np.zeros(6000, np.int64), np.arange(6000)])
    found = count(pa.table({"key": codes}), "key", support=0.2, memory=50)
    assert found.entries_peak == 50
    assert 0 < found.epsilon <= 1 / 50
    assert found.table["value"].to_pylist() == [0]
    assert_promises(found, codes.tolist(), 0.2)


def test_nothing_to_count():
    table = pa.table({"key": pa.array([None, None], pa.string())})
    for words in ({"epsilon": 0.1}, {"memory": 10}):
        found = count(table, "key", 0.5, **words)
        assert (found.tuples, found.null_keys, found.table.num_rows) == (0, 2, 0)
        assert (found.entries_peak, found.entries_estimated) == (0, 0)
    assert count(table.slice(0, 0), "key", 0.5, 0.1).tuples == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"support": 0.1}, "epsilon=None, memory=None: give one of both"),
        ({"support": 0.1, "epsilon": 0.01, "memory": 10}, "give one of both"),
        ({"support": 0.1, "epsilon": 0.1}, r"support 0\.1 is not more than epsilon"),
        ({"support": 0, "epsilon": 0.1}, "support must be a number from"),
        ({"support": 0.1, "memory": 0}, "memory must be a whole number of at least 1, not 0"),
        ({"support": 0.01, "memory": 20}, "not less than the support, 0.01; give about [0-9]+ ent"),
        ({"support": 0.1, "epsilon": 0.01, "key": "x"}, "no column 'x'"),
    ],
)
def test_bad_words(words, says):
    with pytest.raises(InputError, match=says):
        count(ZipfStream(2000), **{"key": "key"} | words)


@pytest.mark.parametrize("codes", [[7], [7, 7, 7], range(300), [n % 10 for n in range(500)]])
def test_memory_for_all_values_counts_exactly(codes):
    true = Counter(codes)
    support = min(true.values()) / len(codes)
    found = count(pa.table({"key": codes}), "key", support, memory=len(true))
    assert found.as_dict()["frequent"] == [[key, n, 0] for key, n in true.most_common()]
    assert found.entries_estimated == found.entries_peak == len(true)


def test_the_memory_it_advises_is_more_than_what_was_given():
    with pytest.raises(InputError, match=r"with 299 entries.* give about 300 entries"):
        count(pa.table({"key": range(300)}), "key", support=1 / 300, memory=299)


def test_the_memory_it_advises_suffices():
    stream = ZipfStream(50_000)
    with pytest.raises(InputError) as error:
        count(stream, "key", support=0.01, memory=20)
    advised = int(str(error.value).split("give about ")[1].split()[0])
    assert count(stream, "key", support=0.01, memory=advised).entries_peak <= advised
