"""Values of the stochastic paper's setting that were known before, from small runs.

A buffer of 10 for both streams, 2,000 steps, results after 40, means of 3 runs. Which streams these
runs had is not written down, but can be told from the results: only streams drawn just so have the
known optimum in all four configurations. On them PROB and, but for WALK, HEEB give the known
numbers to the last digit, too.
"""

from math import erf, sqrt

import numpy as np
import pytest

from recollect.forecast import Ar1, DiscreteLaw, Survival, Trend, Walk
from recollect.forecast.precomputed import markov_surface, trend_curve, walk_curve
from recollect.forecast.survival import alpha_for_lifetime
from recollect_papers.theory import best_steps, lfd_hits, run_steps

CAPACITY, WARM_UP, STEPS, RUNS = 10, 40, 2_000, 3
BOUNDS = (10, 15)


def rounded_normal(deviation, bound):
    """The law of a normal number that is rounded, if it is within the bound."""
    below = [erf((end - 0.5) / deviation / sqrt(2)) for end in range(-bound, bound + 2)]
    return DiscreteLaw(-bound, np.diff(below) / (below[-1] - below[0]))


NOISE = {
    "TOWER": (rounded_normal(1, 10), rounded_normal(2, 15)),
    "ROOF": (rounded_normal(3.3, 10), rounded_normal(5, 15)),
    "FLOOR": (DiscreteLaw.uniform(-10, 10), DiscreteLaw.uniform(-15, 15)),
}
KNOWN = {  # RAND, PROB, HEEB, OPT
    "TOWER": (1202, 684, 1675, 1677),
    "ROOF": (964, 762, 1439, 1860),
    "FLOOR": (721, 696, 772, 1782),
    "WALK": (196, 156, 531, 1359),
}


def trends(name, seed):
    random = np.random.default_rng(seed)
    left, right = (noise.draw(random, STEPS) for noise in NOISE[name])
    return np.arange(STEPS) - 1 + left, np.arange(STEPS) + right


def walks(seed):
    steps = np.rint(np.random.default_rng(seed).normal(size=(2, STEPS)))
    return np.cumsum(steps.astype(np.int64), axis=1)


def mean_results(streams, *scores):
    """Results in the mean over some runs, by what makes a score from the streams of a run."""
    found = np.array(
        [
            [run_steps(*pair, CAPACITY, make(*pair), WARM_UP).results for make in scores]
            + [best_steps(*pair, CAPACITY, WARM_UP).results]
            for pair in streams
        ]
    )
    assert np.all(found[:, :-1] <= found[:, -1:])
    return found.mean(axis=0)


def rand(left, right):
    random = np.random.default_rng(0)
    return lambda candidates, now: random.random(len(candidates.value))


def prob(left, right):
    """How often a value came in the partner stream so far, this step included."""
    low = min(left.min(), right.min())
    counts = np.zeros((2, max(left.max(), right.max()) - low + 1))

    def score(candidates, now):
        counts[[0, 1], [left[now] - low, right[now] - low]] += 1
        return counts[1 - candidates.stream, candidates.value - low]

    return score


def in_window(make):
    """Forget first what the partner stream's noise cannot reach from the next step on."""

    def aware(*streams):
        score = make(*streams)

        def scored(candidates, now):
            partner_centre = np.where(candidates.stream == 0, now + 1, now)
            bound = np.where(candidates.stream == 0, BOUNDS[1], BOUNDS[0])
            reached = candidates.value >= partner_centre - bound
            return np.where(reached, score(candidates, now), -1.0)

        return scored

    return aware


def heeb_of_trends(noises):
    survival = Survival("exp", alpha_for_lifetime(sum(BOUNDS) / 2))
    curves = [trend_curve(Trend(1, 0, noise), survival) for noise in noises]

    def score(candidates, now):
        return np.where(
            candidates.stream == 0,
            curves[1].at(candidates.value - now),
            curves[0].at(candidates.value - (now - 1)),
        )

    return lambda left, right: score


@pytest.mark.parametrize("name", NOISE)
def test_trends(name):
    streams = [trends(name, seed) for seed in range(RUNS)]
    found = mean_results(streams, in_window(rand), in_window(prob), heeb_of_trends(NOISE[name]))
    assert found[0] == pytest.approx(KNOWN[name][0], rel=0.1)
    assert found[1:].round().tolist() == list(KNOWN[name][1:])


def heeb_of_walks(first_to_go):
    """Farther values go first; of values equally far from the walk, those on one side."""
    curve = walk_curve(Walk(rounded_normal(1, 10)), Survival("exp", CAPACITY)).at(range(STEPS))

    def of(left, right):
        def score(candidates, now):
            apart = candidates.value - np.where(candidates.stream == 0, right[now], left[now])
            return curve[np.abs(apart)] - 1e-13 * (np.sign(apart) == first_to_go)

        return score

    return of


def test_walks():
    """The curve falls alike on both sides, so it says nothing about two values as far apart.

    Breaking these ties at random gives from 519 to 581. In the known runs rounding broke them.
    """
    streams = [walks(seed) for seed in range(RUNS)]
    found = mean_results(streams, rand, prob, heeb_of_walks(1), heeb_of_walks(-1))
    known = KNOWN["WALK"]
    assert found[0] == pytest.approx(known[0], rel=0.1)
    assert found[1].round() == known[1]
    assert found[2] == pytest.approx(known[2], rel=0.03)
    assert found[2] < known[2] < found[3]
    assert found[4].round() == known[3]


def hits(references, capacity, score):
    """Hits of a cache that keeps the rows with the highest scores, the row fetched among them."""
    cached, found = np.empty(0, np.int64), 0
    for now, row in enumerate(references):
        if row in cached:
            found += 1
        else:
            cached = np.append(cached, row)
        if len(cached) > capacity:
            cached = np.delete(cached, np.argmin(score(cached, now)))
    return found


def test_generated_temperatures():
    """The caching problem on the paper's model of REAL, in tenths of a degree."""
    law = Ar1(0.72, 55.9, 42.2)
    references = law.sample(3_650, seed=1)
    surface = markov_surface(law.chain, alpha=150, caching=True)
    heeb = hits(references, 150, lambda cached, now: surface.at(cached, references[now]))
    lru_hits = lru_hits_of(references, 150)
    best = lfd_hits(references, 150)
    assert lru_hits < heeb <= best
    assert heeb / lru_hits == pytest.approx(1.19, abs=0.06)


def lru_hits_of(references, capacity):
    cached: dict[int, None] = {}
    found = 0
    for row in references.tolist():
        found += row in cached
        cached.pop(row, None)
        cached[row] = None
        if len(cached) > capacity:
            del cached[next(iter(cached))]
    return found
