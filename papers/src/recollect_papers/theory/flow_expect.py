"""FLOWEXPECT: at each step, the plan with the largest expected benefit over the next l steps.

A plan says beforehand which tuples are kept until when: those that are here, and those that will
come, whose values are known only as probabilities. The best plan is a flow of minimum cost along
the time line, as the optimum is (:mod:`~recollect.optimum.flow`), with expected results for costs.
Of the plan only the first decision is taken; at the next step there is a new one.

It solves a linear program for every step, so it is for small buffers, and for seeing how much
looking ahead can gain. It is not optimal, however far it looks: plans cannot depend on what will
be seen.

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, section 4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recollect.errors import RecollectError
from recollect.forecast import Forecast, Now
from recollect.optimum.flow import load_solver
from recollect.streams.checks import require_whole, whole_numbers
from recollect_papers.theory.steps import Candidates

Floats = NDArray[np.float64]


class Plan(NamedTuple):
    """What to keep now."""

    expected: float
    """The results that the whole plan is expected to give."""
    kept: NDArray[np.bool_]
    """By candidate: whether it is kept until the next step."""


@dataclass(frozen=True, eq=False)
class FlowExpect:
    """A score for :func:`~recollect_papers.theory.run_steps`: 1 for tuples that are kept, 0 else.

    Parameters
    ----------
    laws
        Of the left and the right stream; their values must not depend on each other.
    streams
        Their values by step. At each step only those up to it are looked at.
    capacity
        How many tuples are kept.
    look_ahead
        The paper's l: how many steps a plan is for.
    reach
        Tuples to come are taken to be no farther than this from the last value of either stream.

    Examples
    --------
    >>> from recollect.forecast import DiscreteLaw, Trend
    >>> from recollect_papers.theory import best_steps, run_steps
    >>> laws = [Trend(1, lag, DiscreteLaw.normal(1, 3)) for lag in (-1, 0)]
    >>> streams = [law.sample(60, seed) for seed, law in enumerate(laws)]
    >>> found = run_steps(*streams, 2, FlowExpect(laws, streams, capacity=2, look_ahead=4))
    >>> 0 < found.results <= best_steps(*streams, 2).results
    True
    """

    laws: Sequence[Forecast]
    streams: Sequence[ArrayLike]
    capacity: int
    look_ahead: int = 10
    reach: int = 64

    def __post_init__(self) -> None:
        """Check the parameters."""
        require_whole("capacity", self.capacity, least=1)
        require_whole("look_ahead", self.look_ahead, least=1)
        require_whole("reach", self.reach, least=1)
        left, right = (whole_numbers(values, "streams") for values in self.streams)
        object.__setattr__(self, "streams", (left, right))

    def __call__(self, candidates: Candidates, now: int) -> Floats:
        """Score candidates at a step."""
        return self.plan(candidates, now).kept.astype(np.float64)

    def plan(self, candidates: Candidates, now: int) -> Plan:
        """Find the plan with the largest expected benefit."""
        begins, benefits = self._benefits(candidates, now)
        ways = [
            (number, begin, end)
            for number, begin in enumerate(begins)
            for end in range(begin + 1, self.look_ahead + 1)
        ]
        earned = np.array([benefits[number][: end - begin].sum() for number, begin, end in ways])
        taken = _solved(ways, earned, len(begins), self.look_ahead, self.capacity)
        kept = np.zeros(len(begins), bool)
        kept[[ways[way][0] for way in np.flatnonzero(taken)]] = True
        return Plan(float(earned[taken].sum()), kept[: len(candidates.value)])

    def _benefits(self, candidates: Candidates, now: int) -> tuple[list[int], list[Floats]]:
        """By tuple, here or to come: the step of its arrival, and what it brings at each later one.

        Steps are counted from now.
        """
        last = [np.asarray(values)[: now + 1] for values in self.streams]
        nows = [Now(now, values) for values in last]
        steps = np.arange(1, self.look_ahead + 1)
        near = np.arange(-self.reach, self.reach + 1)
        values = np.union1d(last[0][-1] + near, last[1][-1] + near)
        chances = [
            law.probabilities(values, steps, at) for law, at in zip(self.laws, nows, strict=True)
        ]
        # How likely the left tuple of one step (line) has the value of the right one of another.
        meet = chances[0].T @ chances[1]
        partners = (self.laws[1], nows[1]), (self.laws[0], nows[0])
        of_stream = [law.probabilities(candidates.value, steps, at) for law, at in partners]
        here = np.where((candidates.stream == 0)[:, None], *of_stream)
        begins, benefits = [0] * len(here), list(here)
        for step in range(1, self.look_ahead):
            begins += [step, step]
            benefits += [meet[step - 1, step:], meet[step:, step - 1]]
        return begins, benefits


def _solved(
    ways: list[tuple[int, int, int]], earned: Floats, tuples: int, steps: int, capacity: int
) -> NDArray[np.bool_]:
    """Tell which ways the best plan takes: a tuple, kept from after a step up to another one."""
    highspy = load_solver()
    # Rows: memory at each step, and that a tuple is kept in one way at the most.
    rows = [[*range(begin, end), steps + number] for number, begin, end in ways]
    starts = np.cumsum([0, *map(len, rows)])
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    # The solution must be a corner: there the flow is whole.
    solver.setOptionValue("solver", "simplex")
    solver.passModel(
        len(ways), steps + tuples, int(starts[-1]),
        int(highspy.MatrixFormat.kColwise), int(highspy.ObjSense.kMaximize), 0.0,
        earned, np.zeros(len(ways)), np.ones(len(ways)),
        np.full(steps + tuples, -highspy.kHighsInf),
        np.repeat([float(capacity), 1.0], [steps, tuples]),
        starts.astype(np.int32),
        np.concatenate(rows).astype(np.int32),
        np.ones(int(starts[-1])),
        np.zeros(len(ways), np.int32),
    )  # fmt: skip
    solver.run()
    status = solver.getModelStatus()
    if status != highspy.HighsModelStatus.kOptimal:
        raise RecollectError(f"the solver found no plan ({solver.modelStatusToString(status)})")
    return np.asarray(solver.getSolution().col_value) > 0.5
