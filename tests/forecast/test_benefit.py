"""Benefit curves, dominance, and that HEEB's scores agree with it (Theorems 1 and 2)."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import InputError
from recollect.forecast import DiscreteLaw, Markov, Now, Stationary, Survival, Trend, Walk
from recollect.forecast.heeb_scores import caching_scores, joining_scores
from recollect_papers.theory.benefit import caching_benefit, joining_benefit
from recollect_papers.theory.dominance import dominated_subset, dominates, strongly_dominates
from tests.forecast.laws import EXAMPLES
from tests.naive import forecast as naive
from tests.policies.scenarios import examples

HORIZON = 40
SURVIVALS = [Survival("fixed", 7), Survival("inf"), Survival("inv"), Survival("exp", 6.0)]


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_curves(example):
    law, twin, history, values = example
    now = Now.after(history)
    joining = [[naive.probability(twin, history, v, d) for d in (1, 2, 3)] for v in values]
    caching = [[naive.first_probability(twin, history, v, d) for d in (1, 2, 3)] for v in values]
    assert joining_benefit(law, values, 3, now) == pytest.approx(np.cumsum(joining, 1), abs=1e-7)
    assert caching_benefit(law, values, 3, now) == pytest.approx(np.cumsum(caching, 1), abs=1e-7)


CURVES = st.integers(1, 3).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 2), min_size=width, max_size=width), min_size=1, max_size=6
    )
)


@examples(150)
@given(CURVES, st.data())
def test_dominated_subset_is_the_largest_there_is(lines, data):
    most = data.draw(st.integers(0, len(lines)))
    found = dominated_subset(lines, most)
    sizes = [
        size
        for size in range(most + 1)
        for inside in combinations(range(len(lines)), size)
        if naive.is_dominated(lines, set(inside))
    ]
    assert len(found) == max(sizes)
    assert naive.is_dominated(lines, set(found.tolist()))


def test_dominance_of_pairs():
    assert dominates([1, 2], [1, 2])
    assert not strongly_dominates([1, 3], [1, 2])
    assert strongly_dominates([2, 3], [1, 2])
    assert not dominates([0, 9], [1, 2])
    with pytest.raises(InputError, match="line per tuple"):
        dominated_subset([1, 2], 1)
    with pytest.raises(InputError, match="most must be"):
        dominated_subset([[1, 2]], 2)


def random_law(random: np.random.Generator):
    """A law of any kind with random parameters, and a moment in it."""
    weights = random.dirichlet(np.ones(5))
    noise = DiscreteLaw(int(random.integers(-4, 1)), weights)
    kind = random.integers(4)
    if kind == 0:
        return Stationary(np.arange(5), weights), Now.after([1])
    if kind == 1:
        return Trend(float(random.integers(-3, 4)) / 2, 0.0, noise), Now(4, np.array([0]))
    if kind == 2:
        return Walk(noise), Now.after([1])
    return Markov(np.arange(5), random.dirichlet(np.ones(5), 5)), Now.after([2])


@pytest.mark.parametrize("caching", [False, True])
def test_scores_agree_with_every_dominance(caching):
    """Theorem 2, for random laws, all survivals, and windows as long for both tuples."""
    random = np.random.default_rng(7)
    benefit = caching_benefit if caching else joining_benefit
    score = caching_scores if caching else joining_scores
    strong = weak = 0
    for _ in range(40):
        law, now = random_law(random)
        values = np.arange(-6, 12)
        lines = benefit(law, values, HORIZON, now)
        for survival in SURVIVALS:
            if not caching and not survival.for_joins:
                continue
            scores = score(law, values, now, survival, HORIZON)
            for x, y in combinations(range(len(values)), 2):
                for one, two in ((x, y), (y, x)):
                    if dominates(lines[one], lines[two]):
                        weak += 1
                        assert scores[one] >= scores[two] - 1e-12
                    if strongly_dominates(lines[one], lines[two] + 1e-12):
                        strong += 1
                        assert scores[one] > scores[two]
    assert strong > 1_000
    assert weak > strong


@pytest.mark.parametrize("caching", [False, True])
@pytest.mark.parametrize("name", EXAMPLES)
def test_scores_are_the_definition(name, caching):
    law, twin, history, values = EXAMPLES[name]
    score = caching_scores if caching else joining_scores
    found = score(law, values, Now.after(history), Survival("exp", 5.0), horizon=3)
    expected = [naive.score(twin, history, v, naive.exponential(5.0), 3, caching) for v in values]
    assert found == pytest.approx(expected, abs=1e-7)


def test_windows_end_the_benefit():
    law, now = Stationary.fit([1, 2]), Now.after([1])
    scores = joining_scores(law, [1, 1, 1], now, Survival("fixed", 9), lifetimes=[0, 3, 20])
    assert scores == pytest.approx([0, 1.5, 4.5])


def test_mistakes_in_scores():
    law, now = Stationary.fit([1]), Now.after([1])
    with pytest.raises(InputError, match="for caches only"):
        joining_scores(law, [1], now, Survival("inf"), 5)
    with pytest.raises(InputError, match="say how far"):
        caching_scores(law, [1], now, Survival("inf"))
    with pytest.raises(InputError, match="horizon must be"):
        joining_benefit(law, [1], 0, now)
    for kind, scale in (("exp", 0), ("fixed", 2.5), ("inf", 3), ("ever", 1)):
        with pytest.raises(InputError):
            Survival(kind, scale)
