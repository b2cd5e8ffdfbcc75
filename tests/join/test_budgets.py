"""A budget is kept: in tuples, as a share of what the exact join holds, split, and in bytes."""

import numpy as np
import pyarrow as pa
import pytest

import recollect as rc
from recollect.errors import BudgetError
from recollect.join.payload import SLACK
from recollect.join.sizes import row_bytes
from tests.join.brute import WHAT, merged, random_table, table
from tests.join.feeding import numbers, take_all


def mean_alive(left: pa.Table, right: pa.Table, window: int) -> float:
    """How many tuples with a key are alive after an arrival, in the mean."""
    rows = [left.to_pylist(), right.to_pylist()]
    alive: list[int] = []
    counts = []
    for stream, row in merged(left, right):
        now = rows[stream][row]["time"]
        alive = [time for time in alive if now - time <= window]
        if rows[stream][row]["key"] is not None:
            alive.append(now)
        counts.append(len(alive))
    return sum(counts) / len(counts)


@pytest.mark.parametrize("share", [1, 10, 37.5, 100, 150])
@pytest.mark.parametrize("null_every", [0, 3])
def test_a_share_of_what_the_exact_join_holds_in_the_mean(share, null_every):
    left, right = random_table(1, 300, 9), random_table(2, 200, 9, gap=3)
    if null_every:
        keys = [key if i % null_every else None for i, key in enumerate(left["key"].to_pylist())]
        left = left.set_column(2, "key", pa.array(keys))
    stats = rc.join(left, right, window=50, budget=f"{share}%", exact=True, **WHAT).stats
    mean = mean_alive(left, right, 50)
    assert stats.budget_tuples == max(1, round(share / 100 * mean))
    assert stats.peak_tuples <= stats.budget_tuples
    assert stats.budget == f"{share}%"
    unlimited = rc.join(left, right, window=50, **WHAT).stats
    assert unlimited.mean_tuples == pytest.approx(mean)
    assert stats.exact_results == unlimited.results


@pytest.mark.parametrize("window", [50, "60rows", "landmark:70"])
@pytest.mark.parametrize("policy", ["fifo", "clock", "prob"])
def test_the_books_are_balanced(policy, window):
    left, right = random_table(1, 300, 9), random_table(2, 300, 9)
    for budget, split in ((1, None), (2, "equal"), (17, None), (17, "20:80"), (1000, None)):
        join = rc.Join(**(WHAT | {"policy": policy}), window=window, budget=budget, split=split)
        pools = join.capacity.pools
        assert sum(pools) == budget
        for start in range(0, 300, 20):
            take_all(join.feed("left", left.slice(start, 20)))
            take_all(join.feed("right", right.slice(start, 20)))
            live = [join._engine.live(stream) for stream in (0, 1)]
            held = live if split else [sum(live)]
            assert all(n <= pool for n, pool in zip(held, pools, strict=True))
        take_all(join.finish())
        stats = join.stats
        live = sum(join._engine.live(stream) for stream in (0, 1))
        assert stats.tuples_in == 600 == live + stats.evicted + stats.expired + stats.refused
        assert stats.peak_tuples <= budget


def test_split_by_rate_equal_and_given():
    left, right = random_table(1, 100, 9, gap=6), random_table(2, 300, 9)

    def run(split):
        arguments = WHAT | {"policy": "clock", "window": 50, "budget": 40, "split": split}
        return rc.join(left, right, **arguments, count_only=True).stats.results

    assert run("rate") == run(True) == run("25:75") == run((1, 3))
    assert run("equal") == run("50:50")
    assert len({run("25:75"), run("50:50"), run("75:25")}) == 3
    assert rc.Join(**WHAT, window=5, budget=40, split="30:70").capacity.pools == (12, 28)
    with pytest.raises(BudgetError, match="cannot be split"):
        rc.join(left, right, **WHAT, window=50, budget=1, split=True)


@pytest.mark.parametrize("split", [None, "40:60"])
@pytest.mark.parametrize("policy", ["fifo", "clock", "prob", "prob:counts=exact"])
def test_bytes_are_never_exceeded(policy, split):
    random = np.random.default_rng(4)
    text = pa.array(["x" * int(size) for size in random.pareto(1.0, 2000).clip(0, 200) * 20])
    left, right = (random_table(seed, 2000, 300, text=text) for seed in (1, 2))
    arguments = WHAT | {"policy": policy, "window": 800, "budget": "300kB", "split": split}
    join = rc.Join(**arguments)
    for start in range(0, 2000, 100):
        take_all(join.feed("left", left.slice(start, 100)))
        take_all(join.feed("right", right.slice(start, 100)))
        capacity = join._engine.plan.capacity
        used = join._engine.ledger.used[: len(capacity)]
        buffered = []
        for stream, side in enumerate((left, right)):
            slots, rows = join._engine.rows_of(stream)
            stored = join._stores[stream].take(rows) if len(rows) else side.slice(0, 0)
            sizes = np.ceil(SLACK * row_bytes(stored)) + join._engine.bytes_per_tuple
            assert join._engine.storage.slots["size"][slots].tolist() == sizes.tolist()
            buffered.append(int(sizes.sum()))
        assert used.tolist() == (buffered if split else [sum(buffered)])
        assert (used <= capacity).all()
        assert sum(buffered) <= join.stats.budget_bytes / 2
    assert join.stats.evicted + join.stats.refused > 500


def test_a_row_that_is_larger_than_the_budget_is_refused_but_joined():
    large = table([1, 2], pa.array([1, 1]), text=pa.array(["x" * 100_000, "y"]))
    small = table([0, 3], pa.array([1, 1]), text=pa.array(["a", "b"]))
    answer = rc.join(large, small, window=10, budget="20kB", **WHAT)
    assert (answer.stats.refused, answer.stats.results) == (1, 3)


def test_statistics_that_need_the_whole_budget():
    left, right = random_table(1, 3000, 3000), random_table(2, 3000, 3000)
    arguments = WHAT | {"window": 500, "budget": "40kB"}
    with pytest.raises(BudgetError, match=r"prob:counts=exact need \d+ bytes.* counts=sketch"):
        rc.join(left, right, **arguments | {"policy": "prob:counts=exact"})
    for policy in ("prob", "prob:counts=sketch,entries=256"):
        assert rc.join(left, right, **arguments | {"policy": policy}).stats.peak_tuples > 5


def test_tuples_make_room_for_growing_statistics():
    keys = np.concatenate([np.tile(np.arange(20), 50), np.arange(1000, 6000)])
    stream = table(range(6000), pa.array(keys))  # once full, it refuses whatever is new
    arguments = WHAT | {"policy": "prob:counts=exact", "window": 10**6, "budget": "1MB"}
    join = rc.Join(**arguments, count_only=True)
    for start in range(0, 6000, 100):
        take_all(join.feed("left", stream.slice(start, 100)))
        take_all(join.feed("right", stream.slice(start, 100)))
        assert join._engine.ledger.used[0] <= join._engine.plan.capacity[0]
    assert join.stats.refused > 5000


def test_an_unlimited_budget_forgets_nothing_but_what_expires():
    left, right = random_table(1, 300, 9), random_table(2, 300, 9)
    join = rc.Join(**WHAT, window=50, budget="unlimited", split="equal")
    take_all(join.feed("left", left))
    take_all(join.feed("right", right))
    take_all(join.finish())
    assert (join.stats.evicted, join.stats.refused, numbers(join).budget_tuples) == (0, 0, None)
    assert join.stats.expired > 400
