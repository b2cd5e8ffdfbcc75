"""Random relations with everything that makes trouble, and answers as plain rows."""

import math
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import recollect.intervals as intervals

SMALL = st.integers(-12, 12)
NUMBERS = {
    "whole": st.none() | st.integers(-5, 5),
    "huge": st.none() | st.sampled_from([2**62, -(2**62), 2**61 + 1, 1]),
    "decimal": st.none() | st.decimals(-99, 99, places=2),
    "float": st.none()
    | st.floats(width=64)
    | st.sampled_from([0.1, 0.2, 0.3, 1e16, -1e16, 5e-324, -0.0, 1.7e308]),
}
TYPES = {
    "whole": pa.int32(),
    "huge": pa.decimal128(38, 0),
    "decimal": pa.decimal128(9, 2),
    "float": pa.float64(),
}


@st.composite
def relations(draw: Any, kind: str | None = None, endless: bool = True) -> pa.Table:
    """Tuples with equal times, touching intervals, single moments, NULLs and open ends."""
    kind = kind or draw(st.sampled_from(list(NUMBERS)))
    length = st.sampled_from([0, 1, 1, 2, 3, 7, 20])
    tuples = draw(
        st.lists(
            st.tuples(SMALL, length, NUMBERS[kind], st.sampled_from(["x", "y", None])), max_size=12
        )
    )
    ends = [start + length for start, length, _, _ in tuples]
    if endless and draw(st.booleans()):
        ends = [None if end % 5 == 0 else end for end in ends]
    return pa.table(
        {
            "from": pa.array([row[0] for row in tuples], pa.int64()),
            "till": pa.array(ends, pa.int64()),
            "value": pa.array([row[2] for row in tuples], TYPES[kind]),
            "kind": pa.array([row[3] for row in tuples], pa.string()),
        }
    )


def tuples_of(table: pa.Table) -> list[tuple[Any, ...]]:
    """The tuples as the naive twin takes them."""
    columns = (table[name].to_pylist() for name in ("from", "till", "value"))
    return [(s, math.inf if e is None else e, v) for s, e, v in zip(*columns, strict=True)]


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    """The rows of an answer, an end that is NULL as infinity."""
    place = table.schema.names.index("end")
    rows = [tuple(row.values()) for row in table.to_pylist()]
    return [(*r[:place], math.inf if r[place] is None else r[place], *r[place + 1 :]) for r in rows]


def answer(table: Any, **arguments: Any) -> intervals.Aggregation:
    """Aggregate the value of such a relation."""
    return intervals.aggregate(table, "from", "till", "value", **arguments)
