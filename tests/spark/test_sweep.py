"""A sweep on Spark gives the numbers of a local comparison."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import functions as F  # noqa: N812

import recollect as rc
from recollect.errors import BudgetError, InputError, PolicyError, WindowError
from recollect.spark.sweep import COLUMNS, sweep
from tests.join.brute import brute_force, random_table
from tests.policies.forget_newest import ForgetTheNewest

pytestmark = pytest.mark.spark

NAMES = pa.array([None if i % 17 == 0 else f"name {i % 5}" for i in range(600)])
LEFT, RIGHT = (random_table(seed, 600, 8, name=NAMES) for seed in (1, 2))
COLUMN_NAMES = [column.split()[0] for column in COLUMNS.split(", ")]
MEASURED = ("seconds", "tuples_per_second")


def compared(policies, budgets, seeds, left=LEFT, right=RIGHT, **words) -> list[dict]:
    rows = []
    for policy, budget, seed in product(policies, budgets, seeds):
        found = rc.compare(
            left, right, policies=[policy], budgets=[budget], seed=seed, **words
        )  # fmt: skip
        facts = vars(found.runs[0]) | {"recall": found.runs[0].recall, "seed": seed}
        facts["mean_alive"] = found.survey.mean_alive
        rows.append({name: facts[name] for name in COLUMN_NAMES if name not in MEASURED})
    return rows


def counted(table) -> list[dict]:
    rows = [row.asDict() for row in table.collect()]
    assert all(row.pop(name) > 0 for row in rows for name in MEASURED)
    return rows


@pytest.fixture(scope="module")
def frames(spark):
    return tuple(spark.createDataFrame(side) for side in (LEFT, RIGHT))


def test_same_numbers_as_a_comparison(frames):
    words = {"on": "key,name", "time": "time", "window": (90, "landmark:70")}
    policies = ["rand", "clock:w0=3", "tests.policies.forget_newest:ForgetTheNewest:patience=4"]
    asked = {"policies": policies, "budgets": ["10%", 33, "unlimited"], "seeds": (0, 7)}
    table = sweep(*frames, **words, **asked)
    assert table.columns == COLUMN_NAMES
    found = counted(table)
    assert found == compared(**words, **asked)
    exact = brute_force(
        LEFT, RIGHT, (90, ("landmark", 70)), where=lambda a, b: a["name"] == b["name"] != None  # noqa: E711
    )  # fmt: skip
    assert {row["exact_results"] for row in found} == {len(exact)}
    recalls = {
        (row["policy"], row["seed"]): row["recall"] for row in found if row["budget"] == "33"
    }
    assert recalls["rand", 0] != recalls["rand", 7]
    assert recalls["clock:w0=3", 0] == recalls["clock:w0=3", 7]


@dataclass(frozen=True)
class Typed(ForgetTheNewest):
    """A policy given as an object."""

    patience: int = 9


def test_rows_in_any_order_and_time_stamps(spark):
    words = {"on": "key", "time": "time", "window": "90s"}
    stamps = pa.array(np.arange(600) * 1_500_000, pa.timestamp("us", "UTC"))
    sides = [side.set_column(1, "time", stamps) for side in (LEFT, RIGHT)]
    shuffled = [spark.createDataFrame(side).orderBy(F.xxhash64("n")) for side in sides]
    asked = {"policies": [Typed(), "fifo"], "budgets": [20], "seeds": [0]}
    found = counted(sweep(*shuffled, **words, **asked))
    assert found == compared(*asked.values(), *sides, **words)
    assert found[0]["policy"].endswith("test_sweep:Typed")
    assert 0 < found[0]["recall"] < 1


def test_nothing_to_find_is_found_completely(spark, frames):
    words = {"on": "key", "time": "time", "window": 9}
    table = sweep(frames[0].limit(0), frames[1], **words, policies=["fifo"], budgets=["10%"])
    assert [(row.exact_results, row.recall) for row in table.collect()] == [(0, 1.0)]


def test_mistakes_are_found_before_a_job_starts(spark, frames):
    left, right = frames
    usual = {"left": left, "right": right, "on": "key", "time": "time", "window": 9,
             "policies": ["fifo"], "budgets": ["10%"], "seeds": [0]}  # fmt: skip
    stream = spark.readStream.format("rate").load().toDF("time", "key")
    collated = right.withColumn("name", F.collate("name", "UTF8_LCASE"))
    jobs = spark.sparkContext.statusTracker()
    before = jobs.getJobIdsForGroup(None)
    for error, says, change in (
        (PolicyError, "unknown policy 'fifi'", {"policies": ["fifo", "fifi"]}),
        (BudgetError, "more than 0", {"budgets": ["10%", 0]}),
        (BudgetError, "1MB is in bytes", {"budgets": ["1MB"]}),
        (InputError, "seed must be a whole number", {"seeds": [0.5]}),
        (InputError, "at least one policy", {"policies": []}),
        (InputError, "at least one policy", {"seeds": []}),
        (InputError, "no column 'kee'", {"on": "kee"}),
        (InputError, "keys key = name cannot be compared", {"on": "key=name"}),
        (InputError, "collation UTF8_LCASE", {"on": "name", "right": collated}),
        (WindowError, "9rows counts arrivals", {"window": "9rows"}),
        (InputError, "it is a stream", {"left": stream, "right": stream, "window": "9s"}),
    ):  # fmt: skip
        with pytest.raises(error, match=says):
            sweep(**(usual | change))
    assert jobs.getJobIdsForGroup(None) == before


def test_a_row_without_time_is_refused(frames):
    holes = frames[1].withColumn("time", F.when(F.col("n") > 2, F.col("time")))
    words = {"on": "key", "time": "time", "window": 9, "policies": ["fifo"], "budgets": [1]}
    with pytest.raises(InputError, match="'time' of the right DataFrame is NULL in 3 rows"):
        sweep(frames[0], holes, **words)
