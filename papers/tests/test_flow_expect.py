"""FLOWEXPECT against all plans, the paper's counter-example, and how it does in small runs."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.tests.naive_flow_expect import best_plan, best_strategy
from recollect.errors import InputError
from recollect.forecast import DiscreteLaw, Forecast, Trend
from recollect.forecast.base import steps_ahead
from recollect.streams.checks import whole_numbers
from recollect_papers.theory import best_steps, run_steps
from recollect_papers.theory.flow_expect import FlowExpect
from recollect_papers.theory.steps import Candidates
from tests.policies.scenarios import examples

NOTHING = (-100, -200)
"""A value that never joins, by stream."""


class Timetable(Forecast):
    """Values with probabilities that are told for each step; what is missing joins nothing."""

    def __init__(self, by_step):
        self.by_step = by_step

    def probabilities(self, values, deltas, now):
        return np.array(
            [
                [self.by_step.get(now.time + delta, {}).get(value, 0.0) for delta in steps]
                for steps in [steps_ahead(deltas).tolist()]
                for value in whole_numbers(values).tolist()
            ]
        )

    @classmethod
    def fit(cls, values):
        raise NotImplementedError

    def sample(self, n, seed=0):
        raise NotImplementedError


def candidates(*rows):
    return Candidates(*(np.array(column, np.int64) for column in zip(*rows, strict=True)))


COMING = (
    {1: {2: 1.0}, 2: {3: 1.0}, 3: {2: 0.5}},
    {1: {3: 0.5}, 2: {1: 0.8}, 3: {1: 0.8}},
)


def test_the_counter_example_of_the_paper():
    """It keeps what promises 1.6, though 1.75 can be had by deciding when more has been seen."""
    here = candidates((0, 1, -1), (0, NOTHING[0], 0), (1, 2, 0))
    policy = FlowExpect(
        tuple(map(Timetable, COMING)), ([NOTHING[0]], [2]), capacity=1, look_ahead=3, reach=300
    )
    plan = policy.plan(here, now=0)
    assert plan.expected == pytest.approx(1.6)
    assert plan.kept.tolist() == [True, False, False]
    futures = [
        [
            (one * two, (left, right))
            for (left, one), (right, two) in product(
                *(
                    [*table[step].items(), (NOTHING[side], 1 - sum(table[step].values()))]
                    for side, table in enumerate(COMING)
                )
            )
        ]
        for step in (1, 2, 3)
    ]
    tuples = [(0, 1), (0, NOTHING[0]), (1, 2)]
    assert best_strategy(tuples, futures, 1) == pytest.approx(1.75)
    assert best_strategy(tuples[:1], futures, 1) == pytest.approx(1.6)
    assert best_strategy(tuples[2:], futures, 1) == pytest.approx(1.75)


chances = st.dictionaries(st.integers(0, 3), st.sampled_from([0.1, 0.25, 0.3]), max_size=3)


@examples(30)
@given(
    tables=st.lists(st.lists(chances, min_size=3, max_size=3), min_size=2, max_size=2),
    here=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=4),
    capacity=st.integers(1, 3),
)
def test_no_plan_is_better(tables, here, capacity):
    tables = [dict(enumerate(table, 1)) for table in tables]
    policy = FlowExpect(tuple(map(Timetable, tables)), ([0], [0]), capacity, look_ahead=3)
    plan = policy.plan(candidates(*((*one, 0) for one in here)), now=0)

    def benefit(name, step):
        kind, stream, value = name
        partner = tables[1 - stream][step]
        if kind == "here":
            return partner.get(value, 0.0)
        return sum(chance * partner.get(key, 0.0) for key, chance in tables[stream][value].items())

    names = [("here", *one) for one in here]
    coming = {step: [("coming", 0, step), ("coming", 1, step)] for step in (1, 2, 3)}
    assert plan.expected == pytest.approx(best_plan(names, coming, capacity, 3, benefit))
    assert plan.kept.sum() <= capacity


def test_looking_ahead_pays():
    """On a small TOWER it finds nearly what can be found, as HEEB does."""
    laws = (Trend(1, -1, DiscreteLaw.normal(1, 5)), Trend(1, 0, DiscreteLaw.normal(2, 8)))
    streams = laws[0].sample(120, 1), laws[1].sample(120, 2)
    best = best_steps(*streams, 5).results
    random = np.random.default_rng(0)
    rand = run_steps(*streams, 5, lambda all_, now: random.random(len(all_.value))).results
    ahead = run_steps(*streams, 5, FlowExpect(laws, streams, 5, look_ahead=6)).results
    blind = run_steps(*streams, 5, FlowExpect(laws, streams, 5, look_ahead=1)).results
    assert rand < blind < ahead <= best
    assert ahead > 0.85 * best


def test_mistakes():
    law = Trend(1, 0, DiscreteLaw.uniform(0, 1))
    with pytest.raises(InputError, match="look_ahead must be"):
        FlowExpect((law, law), ([1], [1]), 1, look_ahead=0)
    with pytest.raises(InputError, match="capacity must be"):
        FlowExpect((law, law), ([1], [1]), 0)
    with pytest.raises(InputError, match="whole numbers"):
        FlowExpect((law, law), ([1.5], [1]), 1)
