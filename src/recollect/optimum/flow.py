"""The most results that any choice of what to keep could have given: a minimum-cost flow.

The memory is a flow of as many units as tuples fit in, along the time line. A unit may leave the
time line where a tuple arrives, which then takes up that unit until it meets one of its partners,
and return there; the longer the way, the more partners are met. What earns most is a flow of
minimum cost, and that is solved as a linear program with one variable per way, "this tuple is kept
until this partner comes". Solutions at the corners are whole numbers, as for all such flows.

The time line is cut only where tuples arrive that will have a partner: between these, memory is at
most returned. Partners of a tuple that come in between are met on the same way.

References
----------
Das, Gehrke, Riedewald: Approximate Join Processing over Data Streams, SIGMOD 2003; Xie, Yang, Chen:
On Joining and Caching Stochastic Streams, 2005, section 2 (OPT-offline).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recollect.errors import InputError, MissingExtraError, RecollectError
from recollect.streams.checks import require_whole

Whole = NDArray[np.int64]
MOST_ARCS = 4_000_000
"""More would take hours and tens of gigabytes."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """What would have been possible."""

    results: int
    found: NDArray[np.bool_]
    """By match: whether it is found by a best choice of what to keep."""
    arcs: int
    """The size of the flow network."""


class _Ways(NamedTuple):
    """The ways a tuple may be kept: from a cut of the time line to a later one."""

    line: Whole
    """By match, in order of tuple and time: its way."""
    tuple_: Whole
    begin: Whole
    end: Whole
    earned: Whole
    """The results of keeping it so long."""
    cuts: int


def most_results(
    kept: ArrayLike, arrival: ArrayLike, meeting: ArrayLike, capacity: int, worth: ArrayLike = 1
) -> Optimum:
    """Find the largest number of matches that a buffer of some capacity can give.

    A match is a pair of tuples of which the earlier must be buffered from its own arrival until
    the later one comes. Memory is taken up after an arrival and is free again for whatever arrives
    with, or after, the partner that it was kept for.

    Parameters
    ----------
    kept
        By match: a number that names the earlier tuple.
    arrival
        By match: when the earlier tuple arrived.
    meeting
        By match: when the later one did.
    capacity
        How many tuples fit into the buffer.
    worth
        By match, or for all: what it counts; 0 for those that need not be found.

    Examples
    --------
    A tuple arrives at 0 and meets partners at 2 and 9, another one arrives at 1 and meets three:

    >>> matches = [0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [2, 9, 3, 4, 5]
    >>> best = most_results(*matches, capacity=1)
    >>> best.results, best.found.tolist()
    (3, [False, False, True, True, True])
    >>> most_results(*matches, capacity=2).results
    5
    """
    require_whole("capacity", capacity, least=0)
    columns = [np.asarray(column) for column in (kept, arrival, meeting, worth)]
    if any(column.size and column.dtype.kind not in "iub" for column in columns):
        raise InputError("matches are described by whole numbers, and count as whole numbers")
    tuples, arrivals, meetings, worths = np.broadcast_arrays(
        *(column.astype(np.int64) for column in columns)
    )
    if np.any(meetings <= arrivals) or np.any(worths < 0):
        raise InputError("a match needs a partner that comes later, and cannot count less than 0")
    if len(tuples) == 0 or capacity == 0:
        return Optimum(0, np.zeros(len(tuples), bool), 0)
    order = np.lexsort((meetings, tuples))
    ways = _ways(tuples[order], arrivals[order], meetings[order], worths[order])
    arcs = 2 * len(ways.tuple_) + ways.cuts
    if arcs > MOST_ARCS:
        raise InputError(
            f"the optimum over {len(tuples):,} exact results needs a network of {arcs:,} arcs, more"
            f" than {MOST_ARCS:,}; take a part of the input, or a shorter window"
        )
    chosen = _solved(ways, capacity)
    # A way includes all shorter ones of its tuple.
    longest = np.full(int(ways.tuple_[-1]) + 1, -1)
    np.maximum.at(longest, ways.tuple_[chosen], np.flatnonzero(chosen))
    found = np.empty(len(tuples), bool)
    found[order] = ways.line <= longest[ways.tuple_[ways.line]]
    return Optimum(int(worths[found].sum()), found, arcs)


def _ways(tuples: Whole, arrivals: Whole, meetings: Whole, worths: Whole) -> _Ways:
    cuts = np.unique(arrivals)
    begin, end = np.searchsorted(cuts, arrivals), np.searchsorted(cuts, meetings)
    first = np.append(True, tuples[1:] != tuples[:-1])
    new = first | np.append(True, end[1:] != end[:-1])
    line = np.cumsum(new) - 1
    total = np.cumsum(worths)
    before = np.maximum.accumulate(np.where(first, total - worths, 0))
    last = np.append(np.flatnonzero(new)[1:] - 1, len(tuples) - 1)
    return _Ways(
        line=line,
        tuple_=(np.cumsum(first) - 1)[new],
        begin=begin[new],
        end=end[new],
        earned=(total - before)[last],
        cuts=len(cuts),
    )


def _solved(ways: _Ways, capacity: int) -> NDArray[np.bool_]:
    """Tell which ways a flow of minimum cost takes."""
    highspy = load_solver()
    n, cuts = len(ways.tuple_), ways.cuts
    tuples = int(ways.tuple_[-1]) + 1
    back = np.flatnonzero(ways.end < cuts)
    way, cut = np.arange(n), np.arange(cuts)
    # The columns are the ways and, for each cut, what goes on along the time line. The rows say
    # that nothing gets lost at a cut, and that a tuple is kept in one way at the most.
    rows = np.concatenate([ways.begin, ways.end[back], cuts + ways.tuple_, cut, cut[1:]])
    columns = np.concatenate([way, way[back], way, n + cut, n + cut[:-1]])
    signs = np.repeat([1.0, -1.0, 1.0, 1.0, -1.0], [n, len(back), n, cuts, cuts - 1])
    order = np.lexsort((rows, columns))
    inflow = np.zeros(cuts)
    inflow[0] = capacity
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    # On a network of 216,000 arcs this took 5 s of processor time, dual simplex 29 s.
    solver.setOptionValue("solver", "ipm")
    solver.passModel(
        n + cuts, cuts + tuples, len(order),
        int(highspy.MatrixFormat.kColwise), int(highspy.ObjSense.kMaximize), 0.0,
        np.concatenate([ways.earned.astype(np.float64), np.zeros(cuts)]),
        np.zeros(n + cuts),
        np.repeat([1.0, float(capacity)], [n, cuts]),
        np.concatenate([inflow, np.full(tuples, -highspy.kHighsInf)]),
        np.concatenate([inflow, np.ones(tuples)]),
        np.searchsorted(columns[order], np.arange(n + cuts)).astype(np.int32),
        rows[order].astype(np.int32),
        signs[order],
        np.zeros(n + cuts, np.int32),
    )  # fmt: skip
    solver.run()
    status = solver.getModelStatus()
    if status != highspy.HighsModelStatus.kOptimal:
        raise RecollectError(
            f"the solver found no optimum ({solver.modelStatusToString(status)}); take a part of"
            " the input"
        )
    taken = np.asarray(solver.getSolution().col_value)[:n]
    chosen = taken > 0.5
    if abs(ways.earned[chosen].sum() - solver.getInfo().objective_function_value) > 0.5:
        raise RecollectError("the solver's optimum is not a whole number; take a part of the input")
    return chosen


def load_solver() -> Any:
    """Import the solver, or say how to get it."""
    try:
        import highspy
    except ImportError:
        raise MissingExtraError(
            "the optimum needs a solver: pip install 'recollect[optimum]'"
        ) from None
    return highspy
