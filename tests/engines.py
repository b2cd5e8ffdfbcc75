"""The real engine on small merged inputs, as the naive joins take them."""

from collections.abc import Callable, Sequence
from unittest import mock

import numpy as np
import pyarrow as pa

from recollect.join import engine as engines
from recollect.join.budget import UNLIMITED, Capacity
from recollect.join.engine import Engine, new_output, new_trace
from recollect.join.kernel import DONE, OUTPUT_FULL, Feed
from recollect.join.kernel import Trace as Found
from recollect.join.setting import Setting
from recollect.join.where import compile_where
from recollect.policies import parse_policy
from tests.naive import join as naive
from tests.naive.workload import Problem, Row, expires_of

SERIAL = pa.schema([("n", pa.int64())])
FILTER = compile_where("left.n - right.n != 2 and left.n - right.n != -3", SERIAL, SERIAL)
"""What :func:`tests.naive.workload.passes` says."""


def setting_of(problem: Problem) -> Setting:
    """A naive problem as the engine takes it."""
    streams = range(len(problem.windows))
    return Setting.of(
        problem.joins,
        [FILTER if join in problem.filtered else None for join in range(len(problem.joins))],
        counting=[isinstance(window, naive.CountWindow) for window in problem.windows],
        ends=[window is None for window in problem.windows],
        subjects=problem.subjects,
        by_rate=[stream in problem.by_rate for stream in streams],
    )


def feed_of(rows: Sequence[Row], problem: Problem, sizes: Sequence[int] = ()) -> Feed:
    """A merged input as the engine takes it; the row of a tuple is its serial."""
    setting = setting_of(problem)
    count, joins = len(rows), len(problem.joins)
    ordinals = [0] * len(problem.windows)
    moments, expires = [], []
    keys = np.zeros((count, setting.tables), np.int64)
    present = np.zeros((count, setting.tables), np.uint8)
    extra = np.zeros((count, setting.width), np.int64)
    serials = pa.record_batch({"n": range(1, count + 1)}, schema=SERIAL)
    for join in problem.filtered:
        for side, stream in enumerate(problem.joins[join]):
            own = np.array([row.stream == stream for row in rows], bool)
            begin = setting.words[join][side]
            extra[own, begin : begin + FILTER.width] = FILTER.encode(side, serials)[own]
    for at, row in enumerate(rows):
        ordinals[row.stream] += 1
        window, ordinal = problem.windows[row.stream], ordinals[row.stream]
        moments.append(ordinal if isinstance(window, naive.CountWindow) else row.time)
        expires.append(expires_of(window, row.time, ordinal, row.end))
        for join, key in enumerate(row.keys):
            keys[at, join] = -5 if key is None else key
            present[at, join] = key is not None
        if row.subject is not None:
            keys[at, joins], present[at, joins] = 9 * row.stream + row.subject, 1
    feed = Feed(
        order=np.arange(count),
        stream=np.array([row.stream for row in rows], np.int32),
        time=np.array([row.time for row in rows], np.int64),
        moment=np.array(moments, np.int64),
        expires=np.array(expires, np.int64),
        keys=keys,
        present=present,
        row=np.arange(1, count + 1),
        size=np.array(sizes, np.int64) - 1,
        extra=extra,
    )
    for array in feed:
        array.flags.writeable = False
    return feed


def new_engine(policy, problem, capacity, seed=0, sizes=False, **options) -> Engine:
    """An engine for a naive problem.

    Parameters
    ----------
    capacity
        A number for one buffer, one for each stream, None for no limit.
    sizes
        Whether a tuple counts its own size and 1 for the engine, or just 1.
    """
    room = UNLIMITED
    if capacity is not None:
        room = Capacity((capacity,) if isinstance(capacity, int) else tuple(capacity))
    engine = Engine(parse_policy(policy), setting_of(problem), room, seed=seed, **options)
    engine.plan.overhead[0] = int(sizes)
    return engine


def part_of(feed: Feed, begin: int, end: int) -> Feed:
    """The arrivals from one place to another."""
    return feed._replace(order=feed.order[begin:end])


def buffered_in(engine: Engine) -> list[int]:
    """The serials of all buffered tuples."""
    slots = [engine.rows_of(stream)[0] for stream in range(engine.setting.streams)]
    return sorted(engine.serials(np.concatenate(slots)).tolist())


def run_listing(engine: Engine, feed: Feed) -> list[tuple[int, tuple[int, ...]]]:
    """Join a feed; the results as numbers of joins and serials in the order of their streams."""
    streams_of = engine.plan.streams_of
    output, at, results = new_output(64, streams_of.shape[1]), 0, []
    why = OUTPUT_FULL
    while why != DONE:
        output.filled[0] = 0
        why, at = engine.run(feed, at, output)
        for number in range(int(output.filled[0])):
            join = int(output.join[number])
            width = int((streams_of[join] >= 0).sum())
            results.append((join, tuple(output.rows[:width, number].tolist())))
        if why == OUTPUT_FULL and not output.filled[0]:
            output = new_output(2 * len(output.join), streams_of.shape[1])
    return results


def run_counting(engine: Engine, feed: Feed) -> Found:
    """Join a feed; what each arrival did."""
    trace = new_trace(len(feed.order), len(engine.setting.joins))
    engine.count(feed, trace)
    return trace


# -- joins of two streams ------------------------------------------------------------------------


def pair_problem(windows) -> Problem:
    """The plain join of two streams."""
    return Problem(tuple(windows), ((0, 1),))


def pair_feed(arrivals, windows) -> Feed:
    """Arrivals (stream, time, key) or (stream, time, key, size) as a feed."""
    rows = [Row(stream, time, (key,)) for stream, time, key, *_ in arrivals]
    sizes = [row[3] if len(row) > 3 else 1 for row in arrivals]
    return feed_of(rows, pair_problem(windows), sizes)


def trace_engine(
    policy,
    arrivals,
    windows,
    capacity,
    seed=0,
    first_slots=engines.FIRST_SLOTS,
    before: Callable[[Engine], None] | None = None,
) -> naive.Trace:
    """What the engine does with two streams, arrival by arrival.

    Parameters
    ----------
    first_slots
        How many slots the buffer has at first; few make it grow often.
    before
        Called with the engine before each arrival.
    """
    trace = naive.Trace()
    feed = pair_feed(arrivals, windows)
    sizes = any(len(arrival) > 3 for arrival in arrivals)
    with mock.patch.object(engines, "FIRST_SLOTS", first_slots):
        engine = new_engine(policy, pair_problem(windows), capacity, seed, sizes)
        ledger = engine.ledger
        for at in range(len(arrivals)):
            if before is not None:
                before(engine)
            then = [int(part.sum()) for part in (ledger.expired, ledger.evicted, ledger.refused)]
            found = run_listing(engine, part_of(feed, at, at + 1))
            now = [int(part.sum()) for part in (ledger.expired, ledger.evicted, ledger.refused)]
            expired, evicted, refused = (
                late - early for late, early in zip(now, then, strict=True)
            )
            trace.pairs += [rows for _, rows in found]
            step = naive.Step([expired], [evicted], bool(refused), buffered_in(engine))
            trace.steps.append(step)
    return trace


def assert_same_victims(engine: naive.Trace, twin: naive.Trace) -> None:
    """The engine and the naive join did the same at every step."""
    for serial, (real, right) in enumerate(zip(engine.steps, twin.steps, strict=True), start=1):
        got = (real.buffered, real.expired, real.evicted, real.refused)
        want = (right.buffered, [len(right.expired)], [len(right.evicted)], right.refused)
        assert got == want, f"at arrival {serial}: twin evicts {right.evicted}, {right}, not {real}"
    assert engine.pairs == twin.pairs
