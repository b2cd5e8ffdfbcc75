"""The checks that every policy must pass, yours too.

Run them on a policy by name or object; a check that fails raises AssertionError::

    from tests.checks import ALL_CHECKS

    @pytest.mark.parametrize("check", ALL_CHECKS, ids=lambda check: check.__name__)
    def test_my_policy(check):
        check("my_package.my_module:MyPolicy:strength=3")

A policy must live in a module that can be imported, since a join that is loaded from bytes finds it
by its name. The checks know nothing of what a policy wants; that the victims are the right ones is
for a test of its own (``tests/policies/test_twins.py`` shows a way).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from unittest import mock

import numpy as np
import pyarrow as pa

from recollect.join import engine as engines
from recollect.join.online import Join
from recollect.policies import Policy, parse_policy
from tests.naive import join as naive

PolicyLike = str | Policy
SCHEMAS = tuple(
    pa.schema(
        [("t", pa.int64()), ("k", pa.int64()), (name, pa.int64()), (f"{name}_text", pa.string())]
    )
    for name in ("left", "right")
)
SIDES = ("left", "right")

WINDOWS = {
    "time": (20, naive.TimeWindow(20)),
    "moment": (0, naive.TimeWindow(0)),
    "rows": ("9rows", naive.CountWindow(9)),
    "landmark": ("landmark:16", naive.LandmarkWindow(16)),
    "unlimited": ("unlimited", naive.UnlimitedWindow()),
}
SPLITS = {"unified": None, "equal": "equal", "30:70": (0.3, 0.7)}


# -- streams and joins ---------------------------------------------------------------------------


def make_stream(seed: int, length: int, keys: int = 12, nulls: float = 0.05) -> list[tuple]:
    """A merged input of two streams: (stream, time, key), the time at first negative."""
    random = np.random.default_rng(seed)
    times = np.cumsum(random.integers(0, 3, length)) - length // 5
    streams = random.integers(0, 2, length)
    order = np.lexsort((streams, times))
    codes = (keys * random.random(length) ** 2).astype(int)
    return [
        (int(streams[i]), int(times[i]), None if random.random() < nulls else int(codes[i]))
        for i in order
    ]


def batch_of(arrivals: Sequence[tuple], stream: int, first_serial: int = 1) -> pa.RecordBatch:
    """The tuples of one stream; its own column holds the serial, another a text of some length."""
    rows = [
        (time, key, serial, "x" * (serial * 7 % 40))
        for serial, (side, time, key) in enumerate(arrivals, start=first_serial)
        if side == stream
    ]
    columns = zip(*rows, strict=True) if rows else ([], [], [], [])
    arrays = [
        pa.array(list(column), field.type)
        for column, field in zip(columns, SCHEMAS[stream], strict=True)
    ]
    return pa.record_batch(arrays, schema=SCHEMAS[stream])


@dataclass
class Outcome:
    """All that can be seen of a join from outside, and what it remembers in the end."""

    pairs: list[tuple[int, int]]
    stats: dict
    buffered: list[int]


def new_join(policy: PolicyLike, **options) -> Join:
    """A join of streams as :func:`batch_of` makes them."""
    given = {"on": "k", "time": "t", "window": 20, "budget": 8, "seed": 7} | options
    join = Join(policy=policy, **given)
    for side, schema in zip(SIDES, SCHEMAS, strict=True):
        join.expect(side, schema)
    return join


def pairs_in(batches: Iterator[pa.RecordBatch]) -> list[tuple[int, int]]:
    """The serials of the results."""
    return [
        pair
        for batch in batches
        for pair in zip(
            batch.column("left").to_pylist(), batch.column("right").to_pylist(), strict=True
        )
    ]


def buffered_in(join: Join) -> list[int]:
    """The serials of the tuples that a join remembers."""
    serial = join._engine.buffer.serial
    slots = np.concatenate([join._engine.rows_of(stream)[0] for stream in (0, 1)])
    return sorted(serial[slots].tolist())


def feed(join: Join, arrivals: Sequence[tuple], first_serial: int = 1) -> list[tuple[int, int]]:
    """Feed a piece of the merged input; return the results that come out."""
    pairs = []
    for stream, side in enumerate(SIDES):
        pairs += pairs_in(join.feed(side, batch_of(arrivals, stream, first_serial)))
    return pairs


def outcome(join: Join, pairs: list[tuple[int, int]]) -> Outcome:
    """Finish a join that has already given these results."""
    pairs = pairs + pairs_in(join.finish())
    stats = join.stats.as_dict()
    del stats["seconds"], stats["tuples_per_second"], stats["budget"]
    return Outcome(pairs, stats, buffered_in(join))


def run(
    policy: PolicyLike, arrivals: Sequence[tuple], batch_rows: int | None = None, **options
) -> Outcome:
    """Join a merged input, in pieces of so many tuples (None: all at once)."""
    join = new_join(policy, **options)
    step = batch_rows or max(len(arrivals), 1)
    pairs = []
    for start in range(0, len(arrivals), step):
        pairs += feed(join, arrivals[start : start + step], start + 1)
    return outcome(join, pairs)


def _assert_sound(result: Outcome, arrivals, windows, budget: int) -> None:
    """What holds for any policy at any budget of tuples."""
    exact = naive.exact_pairs(arrivals, windows)
    assert set(result.pairs) <= set(exact), "a pair that the exact join does not find"
    assert len(set(result.pairs)) == len(result.pairs), "a pair was found twice"
    assert result.stats["results"] == len(result.pairs)
    assert result.stats["peak_tuples"] <= budget, "more tuples than the budget allows"
    assert len(result.buffered) <= budget
    gone = sum(result.stats[why] for why in ("evicted", "expired", "refused", "null_keys"))
    assert gone + len(result.buffered) == len(arrivals), "a tuple is not accounted for"
    without_null = {serial for serial, row in enumerate(arrivals, 1) if row[2] is not None}
    assert set(result.buffered) <= without_null, "a tuple with a NULL key is remembered"


# -- checks --------------------------------------------------------------------------------------


def check_budget_is_kept(policy: PolicyLike) -> None:
    """Never more tuples than the budget, looked at after every single arrival; split or not."""
    arrivals = make_stream(1, 150)
    for name, split in SPLITS.items():
        join = new_join(policy, window="unlimited", budget=10, split=split)
        most = {"unified": (10, 10), "equal": (5, 5), "30:70": (3, 7)}[name]
        for serial, arrival in enumerate(arrivals, start=1):
            feed(join, [arrival], serial)
            live = [join._engine.live(stream) for stream in (0, 1)]
            assert sum(live) <= 10
            assert live[0] <= most[0], name
            assert live[1] <= most[1], name
        assert join.stats.peak_tuples <= 10


def check_budget_in_bytes_is_kept(policy: PolicyLike) -> None:
    """The bytes of the buffered tuples and of the policy's statistics stay within the budget."""
    mixed = make_stream(2, 2000, keys=1500)
    # Frequent keys fill the buffer; then only new ones come, and counts of keys grow.
    ever_new = [(i % 2, i, i // 2 % 200 if i < 3000 else i) for i in range(6500)]
    for arrivals, split in ((mixed, None), (mixed, "equal"), (mixed, (0.3, 0.7)), (ever_new, None)):
        join = new_join(policy, window="unlimited", budget="600kB", split=split)
        for start in range(0, len(arrivals), 50):
            feed(join, arrivals[start : start + 50], start + 1)
            engine = join._engine
            sizes = engine.buffer.size
            used = [int(sizes[engine.rows_of(stream)[0]].sum()) for stream in (0, 1)]
            used = [sum(used)] if split is None else used
            assert used == engine.ledger.used[: len(used)].tolist(), "sizes were lost count of"
            for amount, most in zip(used, engine.plan.capacity, strict=True):
                assert amount <= most, f"{amount} bytes after {start + 50} tuples, {most} allowed"


def check_unlimited_budget_is_exact(policy: PolicyLike) -> None:
    """With room for everything, nothing is lost."""
    arrivals = make_stream(3, 120)
    for window, twin in WINDOWS.values():
        result = run(policy, arrivals, window=window, budget=None)
        assert sorted(result.pairs) == sorted(naive.exact_pairs(arrivals, (twin, twin)))
        assert result.stats["evicted"] == result.stats["refused"] == 0


def check_large_budget_is_exact(policy: PolicyLike) -> None:
    """A budget that is never used up loses nothing either."""
    arrivals = make_stream(4, 120)
    windows = (naive.TimeWindow(20), naive.TimeWindow(20))
    for split in SPLITS.values():
        result = run(policy, arrivals, budget=500, split=split)
        assert sorted(result.pairs) == sorted(naive.exact_pairs(arrivals, windows))


def check_all_windows(policy: PolicyLike) -> None:
    """Each kind of window for both streams, and different ones for each; split or not."""
    arrivals = make_stream(5, 100)
    for left, left_twin in WINDOWS.values():
        for right, right_twin in WINDOWS.values():
            split = list(SPLITS.values())[len(str(left) + str(right)) % 3]
            result = run(policy, arrivals, window=(left, right), budget=7, split=split)
            _assert_sound(result, arrivals, (left_twin, right_twin), 7)


def check_smallest_budget(policy: PolicyLike) -> None:
    """A budget of one tuple, and of one for each stream."""
    arrivals = make_stream(6, 150, keys=3)
    windows = (naive.TimeWindow(20), naive.TimeWindow(20))
    _assert_sound(run(policy, arrivals, budget=1), arrivals, windows, 1)
    _assert_sound(run(policy, arrivals, budget=2, split="equal"), arrivals, windows, 2)


def check_strange_streams(policy: PolicyLike) -> None:
    """No tuple, one tuple, one stream only, one key only, no key twice, all at once, NULL only."""
    one_key = [(stream, time, 3) for stream, time, _ in make_stream(8, 80)]
    streams = {
        "empty": [],
        "left tuple": [(0, 5, 1)],
        "right tuple": [(1, 5, 1)],
        "pair": [(0, 5, 1), (1, 5, 1)],
        "left only": [(0, time, time % 3) for time in range(60)],
        "right only": [(1, time, time % 3) for time in range(60)],
        "one key": one_key,
        "no key twice": [(i % 2, i, i) for i in range(60)],
        "all at once": [(int(i >= 40), 9, i % 5) for i in range(80)],
        "only NULL": [(i % 2, i, None) for i in range(40)],
        "far apart": [(i % 2, i * 10**15, i % 2) for i in range(40)],
    }
    windows = (naive.TimeWindow(20), naive.TimeWindow(20))
    for arrivals in streams.values():
        for budget, split in ((1, None), (5, None), (5, (0.3, 0.7))):
            result = run(policy, arrivals, budget=budget, split=split)
            _assert_sound(result, arrivals, windows, budget)
        exact = run(policy, arrivals, budget=None)
        assert sorted(exact.pairs) == sorted(naive.exact_pairs(arrivals, windows))


def check_is_deterministic(policy: PolicyLike) -> None:
    """The same seed gives the same results and the same victims, also from a new object."""
    arrivals = make_stream(9, 300)
    policy_again = parse_policy(parse_policy(policy).spec)
    for split in SPLITS.values():
        first = run(policy, arrivals, seed=11, split=split)
        assert run(policy, arrivals, seed=11, split=split) == first
        assert run(policy_again, arrivals, seed=11, split=split) == first


def check_save_and_load(policy: PolicyLike) -> None:
    """Saved and loaded at any moment, a join gives the same results with the same victims."""
    arrivals = make_stream(10, 40, keys=4)
    for split in (None, (0.3, 0.7)):
        whole = run(policy, arrivals, budget=6, split=split)
        for position in range(len(arrivals) + 1):
            join = new_join(policy, budget=6, split=split)
            pairs = feed(join, arrivals[:position])
            join = Join.load(join.save())
            pairs += feed(join, arrivals[position:], position + 1)
            resumed = outcome(join, pairs)
            assert resumed == whole, f"saved after {position} tuples"


def check_save_and_load_of_long_streams(policy: PolicyLike) -> None:
    """The same with statistics that have become large, buffers that have grown, and bytes."""
    arrivals = make_stream(11, 4000, keys=900)
    for budget in (1500, "400kB"):
        join = new_join(policy, window=3000, budget=budget)
        pairs = feed(join, arrivals[:2500])
        copy = Join.load(join.save())
        rest = arrivals[2500:]
        whole = outcome(join, pairs + feed(join, rest, 2501))
        assert outcome(copy, pairs + feed(copy, rest, 2501)) == whole


def check_batches_make_no_difference(policy: PolicyLike) -> None:
    """However the streams are cut into batches, the results and the victims are the same."""
    arrivals = make_stream(12, 90, keys=6)
    for split in SPLITS.values():
        whole = run(policy, arrivals, split=split)
        for rows in (1, 2, 7, 40):
            assert run(policy, arrivals, rows, split=split) == whole, f"batches of {rows}"


def check_batches_make_no_difference_in_bytes(policy: PolicyLike) -> None:
    """Nor do they when the budget is in bytes."""
    arrivals = make_stream(13, 3000, keys=2000)
    whole = run(policy, arrivals, window="unlimited", budget="200kB")
    for rows in (1000, 100):
        cut = run(policy, arrivals, rows, window="unlimited", budget="200kB")
        assert cut == whole, f"batches of {rows}"


def check_growth_makes_no_difference(policy: PolicyLike) -> None:
    """A buffer that had to grow chooses as one that was large from the beginning."""
    arrivals = make_stream(14, 400, keys=20)
    for split in SPLITS.values():
        grown = []
        for slots in (2, 1024):
            with mock.patch.object(engines, "FIRST_SLOTS", slots):
                grown.append(run(policy, arrivals, window=100, budget=60, split=split))
        assert grown[0] == grown[1]


def check_large_buffers(policy: PolicyLike) -> None:
    """Past the first slots: some ten thousand tuples through a buffer of 3000."""
    arrivals = make_stream(15, 20_000, keys=5000)
    grown = run(policy, arrivals, window=8000, budget=3000)
    with mock.patch.object(engines, "FIRST_SLOTS", 4096):
        assert run(policy, arrivals, window=8000, budget=3000) == grown
    assert grown.stats["peak_tuples"] <= 3000
    assert len(grown.buffered) <= 3000
    assert len(set(grown.pairs)) == len(grown.pairs)
    for left, right in grown.pairs:
        one, two = arrivals[left - 1], arrivals[right - 1]
        assert one[0] == 0
        assert two[0] == 1
        assert one[2] == two[2]
        assert abs(one[1] - two[1]) <= 8000


ALL_CHECKS = [check for name, check in list(globals().items()) if name.startswith("check_")]
