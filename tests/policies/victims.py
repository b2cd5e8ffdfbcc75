"""The real engine, one arrival at a time, so that every victim can be seen."""

from unittest import mock

import numpy as np
from recollect.join.encoding import no_feed

from recollect.join import buffer as buffers
from recollect.join import engine as engines
from recollect.join.engine import Capacity, Engine
from recollect.join.kernel import COUNT, FOREVER, LANDMARK, TIME, UNLIMITED, Feed, Output
from recollect.join.residual import EMPTY
from recollect.policies import parse_policy
from tests.naive import join as naive

UNTIL = np.full(2, FOREVER)
KINDS = {
    naive.TimeWindow: TIME,
    naive.CountWindow: COUNT,
    naive.LandmarkWindow: LANDMARK,
    naive.UnlimitedWindow: UNLIMITED,
}


def new_engine(policy, windows, capacity, seed=0, sizes=False) -> Engine:
    """An engine for naive windows and a naive capacity.

    With ``sizes`` a tuple counts its own size and 1 for the engine, without it counts 1.
    """
    kinds = [KINDS[type(window)] for window in windows]
    spans = [window[0] if window else 0 for window in windows]
    if capacity is None:
        room = engines.UNLIMITED
    else:
        room = Capacity(capacity if isinstance(capacity, tuple) else (capacity,))
    engine = Engine(parse_policy(policy), kinds, spans, room, EMPTY, seed=seed)
    engine.plan.overhead[0] = int(sizes)
    return engine


def _frozen(values, kind) -> np.ndarray:
    array = np.array(values, kind)
    array.flags.writeable = False
    return array


def encode(arrivals) -> Feed:
    """Arrivals of any stream as one feed; a slice of each array is a feed too."""
    return Feed(
        key=_frozen([0 if row[2] is None else row[2] for row in arrivals], np.int64),
        time=_frozen([row[1] for row in arrivals], np.int64),
        size=_frozen([row[3] - 1 if len(row) > 3 else 0 for row in arrivals], np.int64),
        skip=_frozen([row[2] is None for row in arrivals], np.uint8),
        extra=_frozen(np.empty((len(arrivals), 0)), np.int64),
    )


def run_one(engine: Engine, stream: int, feed: Feed, serial: int, output: Output) -> None:
    """Let one tuple arrive; its row number is its serial."""
    feeds = (feed, no_feed(0)) if stream == 0 else (no_feed(0), feed)
    base = np.full(2, serial, np.int64)
    output.filled[0] = 0
    while engine.run(feeds, UNTIL, base, output)[1:] == (0, 0):
        pass  # it had to grow first


def serials_of(engine: Engine) -> list[int]:
    """The serials of all buffered tuples."""
    serial = buffers.view(engine.storage).serial
    return sorted(int(n) for stream in (0, 1) for n in serial[engine.rows_of(stream)[0]])


def trace_engine(
    policy, arrivals, windows, capacity, seed=0, first_slots=engines.FIRST_SLOTS, before=None
) -> naive.Trace:
    """What the engine does, arrival by arrival.

    Parameters
    ----------
    first_slots
        How many slots the buffer has at first; few make it grow often.
    before
        Called with the engine before each arrival.
    """
    trace = naive.Trace()
    feed = encode(arrivals)
    rows = len(arrivals)
    output = Output(np.empty(rows, np.int64), np.empty(rows, np.int64), np.zeros(1, np.int64))
    with mock.patch.object(engines, "FIRST_SLOTS", first_slots):
        sizes = any(len(arrival) > 3 for arrival in arrivals)
        engine = new_engine(policy, windows, capacity, seed, sizes)
        ledger = engine.ledger
        for i, arrival in enumerate(arrivals):
            if before is not None:
                before(engine)
            counted = [ledger.expired.sum(), ledger.evicted.sum(), ledger.refused.sum()]
            one = Feed(*(array[i : i + 1] for array in feed))
            run_one(engine, arrival[0], one, i + 1, output)
            expired, evicted, refused = (
                int(now.sum() - then)
                for now, then in zip(
                    (ledger.expired, ledger.evicted, ledger.refused), counted, strict=True
                )
            )
            found = output.filled[0]
            trace.pairs += zip(
                output.left[:found].tolist(), output.right[:found].tolist(), strict=True
            )
            trace.steps.append(naive.Step([expired], [evicted], bool(refused), serials_of(engine)))
    return trace


def assert_same_victims(engine: naive.Trace, twin: naive.Trace) -> None:
    """The engine and the naive join did the same at every step."""
    for serial, (real, right) in enumerate(zip(engine.steps, twin.steps, strict=True), start=1):
        got = (real.buffered, real.expired, real.evicted, real.refused)
        want = (right.buffered, [len(right.expired)], [len(right.evicted)], right.refused)
        assert got == want, f"at arrival {serial}: twin evicts {right.evicted}, {right}, not {real}"
    assert engine.pairs == twin.pairs
