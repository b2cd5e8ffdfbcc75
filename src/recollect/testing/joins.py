"""What every policy of a join must do, in a join of two streams and in many over one memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pyarrow as pa

from recollect.errors import PolicyError
from recollect.join import engine as engines
from recollect.join.online import Join, OnlineJoin
from recollect.policies import Policy, parse_policy
from recollect.workload import Stream, Workload, WorkloadJoin

SCHEMA = pa.schema(
    [("t", pa.int64()), ("e", pa.int64()), ("k", pa.int64()), ("n", pa.int64()), ("x", pa.string())]
)
VALID = "valid"
"""The window of a stream whose tuples bring their own end."""
WINDOWS: tuple[Any, ...] = (20, 0, "9rows", "landmark:16", "unlimited")


class Tuple(NamedTuple):
    """An arrival of the merged input, whose number from 1 is its column ``n``."""

    stream: int
    time: int
    key: int | None

    @property
    def end(self) -> int:
        """When it is over, where tuples bring their own end."""
        return self.time + 3 + 7 * (self.time % 5)


@dataclass(frozen=True)
class Case:
    """Streams and joins."""

    names: tuple[str, ...]
    joins: tuple[tuple[int, ...], ...]
    windows: tuple[Any, ...]

    def with_windows(self, *windows: Any) -> "Case":
        """The same with other windows."""
        return Case(self.names, self.joins, windows)

    def start(self, policy: Policy, budget: Any, split: bool = False, seed: int = 7) -> OnlineJoin:
        """Begin such a join."""
        join: OnlineJoin
        words: dict[str, Any] = {"policy": policy, "budget": budget, "seed": seed}
        if self.names == ("left", "right"):
            split_ = "equal" if split else None
            join = Join(on="k", time="t", window=self.windows, split=split_, **words)
        else:
            streams = {
                name: Stream(None, valid=("t", "e"))
                if window == VALID
                else Stream(None, time="t", window=window)
                for name, window in zip(self.names, self.windows, strict=True)
            }
            on = {
                f"join {number}": " = ".join(f"{self.names[stream]}.k" for stream in its)
                for number, its in enumerate(self.joins)
            }
            division = "equal" if split else "unified"
            join = WorkloadJoin(Workload(streams, on), division=division, **words)
        for name in self.names:
            join.expect(name, SCHEMA)
        return join

    def exact(self, rows: Sequence[Tuple]) -> set[tuple[int, ...]]:
        """All results: the number of the join, and the numbers of its tuples."""
        found: set[tuple[int, ...]] = set()
        for new, row in enumerate(rows):
            if row.key is None:
                continue
            alive: list[list[int]] = [[] for _ in self.names]
            came = [0] * len(self.names)
            came[row.stream] += 1
            for old in range(new - 1, -1, -1):
                other = rows[old]
                if other.key == row.key and self._is_alive(other, row, came[other.stream]):
                    alive[other.stream].append(old + 1)
                came[other.stream] += 1
            for number, its in enumerate(self.joins):
                if row.stream not in its:
                    continue
                place = len(its) - 1 if its[0] == its[-1] else its.index(row.stream)
                parts = [[new + 1] if i == place else alive[s] for i, s in enumerate(its)]
                found |= {(number, *numbers) for numbers in product(*parts)}
        return found

    def _is_alive(self, old: Tuple, now: Tuple, came_since: int) -> bool:
        window = self.windows[old.stream]
        if window == VALID:
            return now.time < old.end
        if window == "unlimited":
            return True
        if isinstance(window, int):
            return now.time - old.time <= window
        span = int("".join(filter(str.isdigit, window)))
        if window.endswith("rows"):
            return came_since < span
        return now.time // span == old.time // span


PAIR = Case(("left", "right"), ((0, 1),), (20, 20))
MANY = Case(("R", "S", "T"), ((0, 1, 2), (1, 0), (2, 2)), (20, "9rows", VALID))


def make_stream(case: Case, seed: int, length: int, keys: int = 6) -> list[Tuple]:
    """A random merged input, its time at first negative, some of its keys NULL."""
    random = np.random.default_rng(seed)
    times = np.cumsum(random.integers(0, 3, length)) - length // 5
    streams = random.integers(0, len(case.names), length)
    codes = (keys * random.random(length) ** 2).astype(int)
    order = np.lexsort((streams, times))
    nulls = random.random(length) < 0.05
    return [
        Tuple(int(streams[i]), int(times[i]), None if nulls[i] else int(codes[i])) for i in order
    ]


def batch_of(rows: Sequence[Tuple], stream: int, first: int, width: int) -> pa.RecordBatch:
    """The tuples of one stream."""
    columns: list[list[Any]] = [[], [], [], [], []]
    for number, row in enumerate(rows, first):
        if row.stream == stream:
            text = "x" * (number * 7 % 40 * width)
            for column, value in zip(
                columns, (row.time, row.end, row.key, number, text), strict=True
            ):
                column.append(value)
    arrays = [pa.array(*pair) for pair in zip(columns, SCHEMA.types, strict=True)]
    return pa.record_batch(arrays, schema=SCHEMA)


def results_of(join: OnlineJoin) -> list[tuple[int, ...]]:
    """What can be joined now, as :meth:`Case.exact` writes it."""
    found: list[tuple[int, ...]] = []
    for number, batch in join.results():
        names = [name for name in batch.schema.names if name.endswith("_n")]
        numbers = (batch.column(name).to_pylist() for name in names)
        found += [(number, *each) for each in zip(*numbers, strict=True)]
    return found


def feed(
    case: Case, join: OnlineJoin, rows: Sequence[Tuple], first: int = 1, width: int = 1
) -> list[tuple[int, ...]]:
    """Feed a piece of the merged input, whose tuples have the numbers from ``first`` on."""
    for stream, name in enumerate(case.names):
        join.take_in(name, batch_of(rows, stream, first, width))
    return results_of(join)


def buffered_in(join: OnlineJoin) -> list[int]:
    """The numbers of the tuples that a join remembers."""
    engine = join._engine
    slots = [engine.rows_of(stream)[0] for stream in range(len(join.names))]
    return sorted(int(serial) for serial in engine.serials(np.concatenate(slots)))


class Outcome(NamedTuple):
    """All that can be seen of a join from outside, and what it remembers in the end."""

    results: list[tuple[int, ...]]
    """In the order of their joins, each in the order in which its results came."""
    stats: dict[str, Any]
    buffered: list[int]


def finish(join: OnlineJoin, results: list[tuple[int, ...]]) -> Outcome:
    """End a join that has already given these results."""
    join.end()
    results = results + results_of(join)
    stats = join.stats.as_dict()
    for name in ("seconds", "tuples_per_second", "budget"):
        del stats[name]
    return Outcome(sorted(results, key=lambda each: each[0]), stats, buffered_in(join))


def run(
    case: Case,
    policy: Policy,
    rows: Sequence[Tuple],
    budget: Any,
    split: bool = False,
    *,
    seed: int = 7,
    step: int | None = None,
    width: int = 1,
) -> Outcome:
    """Join a merged input, in pieces of so many tuples (None: all at once)."""
    join = case.start(policy, budget, split, seed)
    step = step or max(len(rows), 1)
    results: list[tuple[int, ...]] = []
    for begin in range(0, len(rows), step):
        results += feed(case, join, rows[begin : begin + step], begin + 1, width)
    return finish(join, results)


def assert_sound(case: Case, found: Outcome, rows: Sequence[Tuple], budget: int) -> None:
    """What holds for any policy at any budget of tuples."""
    wrong = set(found.results) - case.exact(rows)
    assert not wrong, f"a result that the exact join does not find: {min(wrong)}"
    assert len(set(found.results)) == len(found.results), "a result was found twice"
    assert found.stats["results"] == len(found.results), "results are miscounted"
    assert found.stats["peak_tuples"] <= budget, f"more tuples than the budget of {budget}"
    assert len(found.buffered) <= budget, f"more tuples than the budget of {budget}"
    gone = sum(found.stats[why] for why in ("evicted", "expired", "refused", "null_keys"))
    assert gone + len(found.buffered) == len(rows), "a tuple is not accounted for"
    keyless = [n for n in found.buffered if rows[n - 1].key is None]
    assert not keyless, f"tuples {keyless} have a NULL key, but are remembered"


def assert_exact(case: Case, found: Outcome, rows: Sequence[Tuple]) -> None:
    """Nothing is lost."""
    exact = case.exact(rows)
    assert len(found.results) == len(set(found.results)), "a result was found twice"
    assert set(found.results) == exact, f"{len(found.results)} results, not {len(exact)}"


def load(join: OnlineJoin, policy: Policy) -> OnlineJoin:
    """Save a join and load it, by the name of its policy where that says everything."""
    try:
        named = parse_policy(policy.spec) == policy
    except PolicyError:
        named = False
    return type(join).load(join.save(), None if named else policy)


# -- checks --------------------------------------------------------------------------------------


def check_budget_is_kept(policy: Policy, case: Case) -> None:
    """Never are there more tuples than the budget, after no arrival, in no part of it."""
    rows = make_stream(case, 1, 100)
    case = case.with_windows(*["unlimited"] * len(case.names))
    for split in (False, True):
        join = case.start(policy, 9, split)
        for number, row in enumerate(rows, 1):
            feed(case, join, [row], number)
            live = [join._engine.live(stream) for stream in range(len(case.names))]
            assert sum(live) <= 9, f"{sum(live)} tuples after {number} arrivals, 9 allowed"
            parts = join._engine.capacity.pools
            for amount, most in zip(live, parts, strict=False):
                assert not split or amount <= most, f"a part of {most} holds {amount} tuples"


def check_budget_in_bytes_is_kept(policy: Policy, case: Case) -> None:
    """Buffered tuples and the policy's statistics stay within a budget of bytes."""
    rows = make_stream(case, 2, 420, keys=300)
    case = case.with_windows(*["unlimited"] * len(case.names))
    for split in (False, True):
        join = case.start(policy, "600kB", split)
        for begin in range(0, len(rows), 60):
            feed(case, join, rows[begin : begin + 60], begin + 1, width=80)
            engine = join._engine
            sizes = [
                int(engine.buffer.size[engine.rows_of(stream)[0]].sum())
                for stream in range(len(case.names))
            ]
            used = sizes if split else [sum(sizes)]
            assert used == engine.ledger.used.tolist(), "sizes were lost count of"
            for amount, most in zip(used, engine.plan.capacity.tolist(), strict=True):
                assert amount <= most, f"{amount} bytes after {begin + 60} tuples, {most} allowed"
        assert join.stats.evicted + join.stats.refused > 0, "the budget was never used up"


def check_nothing_is_lost_without_need(policy: Policy, case: Case) -> None:
    """Without a budget, or with one that is never used up, the join is exact."""
    rows = make_stream(case, 3, 80)
    for window in WINDOWS:
        each = case if window == WINDOWS[0] else case.with_windows(*[window] * len(case.names))
        found = run(each, policy, rows, None)
        assert_exact(each, found, rows)
        assert found.stats["evicted"] == found.stats["refused"] == 0, "something was forgotten"
    for split in (False, True):
        assert_exact(case, run(case, policy, rows, 900, split), rows)


def check_results_are_right_in_all_windows(policy: Policy, case: Case) -> None:
    """Results are some of those of the exact join, whatever the windows."""
    rows = make_stream(case, 5, 70)
    for number, window in enumerate(WINDOWS):
        others = [WINDOWS[(number + i) % len(WINDOWS)] for i in range(len(case.names) - 1)]
        for windows in ([window] * len(case.names), [window, *others]):
            each = case.with_windows(*windows)
            assert_sound(each, run(each, policy, rows, 7, number % 2 == 0), rows, 7)
    assert_sound(case, run(case, policy, rows, 7), rows, 7)


def check_smallest_budget(policy: Policy, case: Case) -> None:
    """A budget of one tuple, or of one for each stream, is enough to work with."""
    rows = make_stream(case, 6, 100, keys=3)
    assert_sound(case, run(case, policy, rows, 1), rows, 1)
    streams = len(case.names)
    assert_sound(case, run(case, policy, rows, streams, True), rows, streams)


def check_strange_streams(policy: Policy, case: Case) -> None:
    """Streams that are empty, short, of one key, of no key twice, all at once, or far apart."""
    streams = len(case.names)
    strange = {
        "empty": [],
        "one tuple": [Tuple(0, 5, 1)],
        "one tuple of the last stream": [Tuple(streams - 1, 5, 1)],
        "one of each": [Tuple(stream, 5, 1) for stream in range(streams)],
        "one stream": [Tuple(1, time, time % 3) for time in range(40)],
        "one key": [Tuple(i % streams, i, 3) for i in range(45)],
        "no key twice": [Tuple(i % streams, i, i) for i in range(45)],
        "all at once": [Tuple(i // 20, 9, i % 5) for i in range(20 * streams)],
        "only NULL": [Tuple(i % streams, i, None) for i in range(30)],
        "far apart": [Tuple(i % streams, i * 10**15, i % 2) for i in range(30)],
    }
    for title, rows in strange.items():
        try:
            for budget, split in ((1, False), (5, False), (5, True)):
                assert_sound(case, run(case, policy, rows, budget, split), rows, budget)
            assert_exact(case, run(case, policy, rows, None), rows)
        except AssertionError as error:
            raise AssertionError(f"stream {title!r}: {error}") from None


def check_same_seed_same_victims(policy: Policy, case: Case) -> None:
    """The same seed gives the same results and the same victims."""
    rows = make_stream(case, 9, 250)
    for split in (False, True):
        first, again = (run(case, policy, rows, 9, split, seed=11) for _ in range(2))
        assert again == first, "a second run did otherwise"


def check_saved_and_loaded(policy: Policy, case: Case) -> None:
    """Saved and loaded at any moment, a join gives the same results with the same victims."""
    rows = make_stream(case, 10, 40, keys=4)
    for split, step in ((False, 4), (True, 9)):
        whole = run(case, policy, rows, 6, split)
        for position in range(0, len(rows) + 1, step):
            join = case.start(policy, 6, split)
            results = feed(case, join, rows[:position])
            join = load(join, policy)
            results += feed(case, join, rows[position:], position + 1)
            assert finish(join, results) == whole, f"it was saved after {position} tuples"


def check_a_long_stream(policy: Policy, case: Case) -> None:
    """So it is after statistics have grown, laws been fitted and the buffer has."""
    rows = make_stream(case, 11, 330, keys=40)
    case = case.with_windows(*[150] * len(case.names))
    with mock.patch.object(engines, "FIRST_SLOTS", 16):
        join = case.start(policy, 25)
        results = feed(case, join, rows[:200])
        copy = load(join, policy)
        whole = finish(join, results + feed(case, join, rows[200:], 201))
        rest = feed(case, copy, rows[200:], 201)
        assert finish(copy, results + rest) == whole, "it was saved after 200 tuples"
    assert run(case, policy, rows, 25) == whole, "it was fed all at once"
    assert_sound(case, whole, rows, 25)


def check_cuts_make_no_difference(policy: Policy, case: Case) -> None:
    """However the streams are cut into batches, the results and the victims are the same."""
    rows = make_stream(case, 12, 70)
    for split in (False, True):
        whole = run(case, policy, rows, 8, split)
        for step in (1, 13):
            assert run(case, policy, rows, 8, split, step=step) == whole, f"batches of {step}"
    rows = make_stream(case, 13, 150, keys=100)
    whole = run(case, policy, rows, "300kB", width=80)
    cut = run(case, policy, rows, "300kB", width=80, step=70)
    assert cut == whole, "batches of 70 and a budget in bytes"


def check_growth_makes_no_difference(policy: Policy, case: Case) -> None:
    """A buffer that had to grow chooses as one that was large from the beginning."""
    rows = make_stream(case, 14, 200, keys=20)
    case = case.with_windows(*[100] * len(case.names))
    for split in (False, True):
        outcomes = []
        for slots in (2, 1024):
            with mock.patch.object(engines, "FIRST_SLOTS", slots):
                outcomes.append(run(case, policy, rows, 40, split))
        assert outcomes[0] == outcomes[1], "a buffer that grew did otherwise"


JOIN_CHECKS = [check for name, check in list(globals().items()) if name.startswith("check_")]
