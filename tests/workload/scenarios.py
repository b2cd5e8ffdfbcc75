"""Small random workloads."""

from hypothesis import strategies as st

from tests.naive.workload import Problem, Row
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
    subjects = draw(st.booleans())
    return Problem(spans, tuple(joins), tuple(sorted(filtered)), subjects=subjects)


@st.composite
def inputs(draw, problem: Problem, longest: int = 40) -> list[Row]:
    """A merged input: few keys, bursts of equal times, some NULL keys, some subjects."""
    key = st.one_of(st.integers(0, 2), st.integers(0, 2), st.none())
    gap = st.sampled_from([0, 0, 1, 1, 2, 9])
    stream = st.integers(0, len(problem.windows) - 1)
    keys = st.tuples(*(key for _ in problem.joins))
    about = st.one_of(st.none(), st.integers(0, 2)) if problem.subjects else st.none()
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
