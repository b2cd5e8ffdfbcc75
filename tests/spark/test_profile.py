"""The profile on Spark has the numbers of the local one."""

import random

import pytest

from recollect.errors import InputError
from recollect.locality import Distances
from recollect.locality import profile as local
from recollect.spark.profile import interarrival, profile
from recollect.streams import LocalityStream

pytestmark = pytest.mark.spark
H = 6


def test_the_same_numbers_as_the_local_profile(spark, monkeypatch):
    # Blocks so small that most rows have some of their past in the block before.
    monkeypatch.setattr("recollect.spark.numbered_rows.BLOCK_ROWS", 150)
    table = LocalityStream(700, keys=90, repeat=0.6, depth=4, seed=2).table()
    keys = [f"key {key}" if key % 11 else None for key in table["key"].to_pylist()]
    rows = list(zip(keys, range(700), strict=True))
    expected = local(table.set_column(1, "key", [keys]), "key", h=H, seed=3)
    random.Random(1).shuffle(rows)
    frame = spark.createDataFrame(rows, "`a key` string, at int").repartition(3)

    found = profile(frame, "a key", order_by="at", h=H, seed=3)
    assert found.popularity.counts.tolist() == expected.popularity.counts.tolist()
    assert found.null_keys == expected.null_keys > 0
    assert found.stream.interarrival == expected.stream.interarrival
    assert found.permuted.interarrival == expected.permuted.interarrival
    ours, theirs = found.to_dict(), expected.to_dict()
    assert set(theirs) - set(ours) == {
        "stack_quantiles", "stack_quantiles_permuted", "b_permuted", "entropy_permuted",
        "weights_permuted",
    }  # fmt: skip
    for name, value in ours.items():
        assert value == (pytest.approx(theirs[name]) if "quantiles" not in name else theirs[name])
    assert found.stream.fitted.b_by_h == pytest.approx(expected.stream.fitted.b_by_h)


def test_long_distances_fall_into_the_bins_of_the_local_profile(spark):
    distances = [1, 2047, 2048, 2049, 4095, 4096, 5001, 10**9, 2**40 - 1]
    rows = [(key, at) for key, far in enumerate(distances) for at in (0, far)]
    frame = spark.createDataFrame(rows, "code long, position long")
    assert interarrival(frame) == Distances.of(distances, firsts=len(distances))


def test_mistakes_are_named_before_any_job(spark):
    frame = spark.createDataFrame([(1, 2)], "id int, when int")
    with pytest.raises(InputError, match="the DataFrame has no column 'kye'; its columns are 'id'"):
        profile(frame, "kye", "when")
    with pytest.raises(InputError, match="no column 'wann'"):
        profile(frame, "id", "wann")
    with pytest.raises(InputError, match="order_by names no column"):
        profile(frame, "id", [])
    with pytest.raises(InputError, match=r"h must be a whole number from 1 to \d+, not 0"):
        profile(frame, "id", "when", h=0)
    with pytest.raises(InputError, match="a stream has no end"):
        profile(spark.readStream.format("rate").load(), "value", "timestamp")


def test_rows_without_any_key_leave_nothing_to_profile(spark):
    frame = spark.createDataFrame([(None, 1)], "key string, at int")
    with pytest.raises(InputError, match="none of 1 rows has a key"):
        profile(frame, "key", "at")
