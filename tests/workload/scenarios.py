"""Small random workloads, and the engine's view of them."""

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from recollect.workload.engine import Engine, Shape
from recollect.workload.kernel import Feed

from recollect.join.where import compile_where
from recollect.policies import parse_policy
from tests.naive.join import CountWindow
from tests.naive.workload import Problem, Row, expires_of
from tests.policies.scenarios import runs, windows


@st.composite
def problems(draw, kinds: str = "any") -> Problem:
    """Two to four streams and joins of them, perhaps of a stream with itself, perhaps filtered."""
    streams = draw(st.integers(2, 4))
    validity = st.none() if kinds == "validity" else windows
    spans = tuple(draw(st.one_of(windows, validity)) for _ in range(streams))
    of_many = st.permutations(range(streams)).flatmap(
        lambda order: st.integers(2, streams).map(lambda width: tuple(order[:width]))
    )
    with_itself = st.integers(0, streams - 1).map(lambda stream: (stream, stream))
    joins = draw(st.lists(st.one_of(of_many, of_many, with_itself), min_size=1, max_size=2))
    left_out = [s for s in range(streams) if not any(s in join for join in joins)]
    joins += [(stream, (stream + 1) % streams) for stream in left_out]
    pairs = [join for join, of in enumerate(joins) if len(of) == 2]
    filtered = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return Problem(spans, tuple(joins), filtered=tuple(sorted(filtered)))


@st.composite
def inputs(draw, problem: Problem, longest: int = 40) -> list[Row]:
    """A merged input: few keys, bursts of equal times, some NULL keys, some subjects."""
    key = st.one_of(st.integers(0, 2), st.integers(0, 2), st.none())
    gap = st.sampled_from([0, 0, 1, 1, 2, 9])
    stream = st.integers(0, len(problem.windows) - 1)
    keys = st.tuples(*(key for _ in problem.joins))
    about = draw(st.sampled_from([st.none(), st.integers(0, 2)]))
    step = st.tuples(stream, gap, keys, st.integers(1, 20), about)
    time, rows = 0, []
    for stream_, wait, keys_, length, subject in draw(runs(step, longest)):
        time += wait or int(bool(rows) and stream_ < rows[-1].stream)
        taking = tuple(
            key if stream_ in join else None for key, join in zip(keys_, problem.joins, strict=True)
        )
        end = time + length if problem.windows[stream_] is None else None
        rows.append(Row(stream_, time, taking, end, subject))
    return rows


SERIAL = pa.schema([("n", pa.int64())])
FILTER = compile_where("left.n - right.n != 2 and left.n - right.n != -3", SERIAL, SERIAL)
"""What :func:`tests.naive.workload.passes` says."""


def feed_of(rows: list[Row], problem: Problem) -> Feed:
    """A merged input as the engine takes it."""
    ordinals = [0] * len(problem.windows)
    moments, ends = [], []
    subjects: dict = {}
    for row in rows:
        ordinals[row.stream] += 1
        window = problem.windows[row.stream]
        ordinal = ordinals[row.stream]
        moments.append(ordinal if isinstance(window, CountWindow) else row.time)
        ends.append(expires_of(window, row.time, ordinal, row.end))
        if row.subject is not None:
            subjects.setdefault((row.stream, row.subject), len(subjects))
    joins = len(problem.joins)
    serials = pa.record_batch({"n": range(1, len(rows) + 1)}, schema=SERIAL)
    keys = [[-5 if key is None else key for key in row.keys] for row in rows]
    present = [[key is not None for key in row.keys] for row in rows]
    about = [subjects.get((row.stream, row.subject), -1) for row in rows]
    return Feed(
        stream=np.array([row.stream for row in rows], np.int32),
        time=np.array([row.time for row in rows], np.int64),
        moment=np.array(moments, np.int64),
        expires=np.array(ends, np.int64),
        keys=np.array(keys, np.int64).reshape(-1, joins),
        present=np.array(present, np.uint8).reshape(-1, joins),
        subject=np.array(about, np.int64),
        extra=np.array(
            [FILTER.encode(side, serials) for _ in problem.filtered for side in (0, 1)], np.int64
        ).reshape(2 * len(problem.filtered), len(rows), FILTER.width),
    )


def run_engine(policy, rows, problem, pools, capacity, seed=0, listing=True) -> Engine:
    """Run the real thing."""
    shape = Shape(
        problem.joins,
        tuple(isinstance(window, CountWindow) for window in problem.windows),
        tuple(window is None for window in problem.windows),
        tuple(stream in problem.by_rate for stream in range(len(problem.windows))),
        tuple(
            FILTER.code if join in problem.filtered else None for join in range(len(problem.joins))
        ),
    )
    engine = Engine(parse_policy(policy), shape, pools, capacity, seed)
    return engine.run(feed_of(rows, problem), listing)


def results_of(engine: Engine) -> list[tuple[int, tuple[int, ...]]]:
    """The results by serials."""
    return [(join, tuple(row + 1 for row in rows)) for join, rows in engine.results]
