"""Values of the stochastic paper's setting that were known before, from small runs.

A buffer of 10 for both streams, 2,000 steps, results after 40, means of 3 runs. That is taken as
2,000 steps that count, after 40 that do not, because it comes closer for TOWER and ROOF; if the 40
are part of the 2,000, these come out 1 to 3 % lower than known (FLOOR's optimum is then closer).
Of WALK only orders are checked: one run may have thirty times the results of another.
"""

import numpy as np
import pytest

from recollect.forecast import Ar1, DiscreteLaw, Survival, Trend, Walk
from recollect.forecast.precomputed import ar1_surface, trend_curve, walk_curve
from recollect.forecast.survival import alpha_for_lifetime
from recollect.optimum import best_steps, lfd_hits, run_steps

CAPACITY, WARM_UP, RUNS = 10, 40, 3
STEPS = WARM_UP + 2_000
BOUNDS = (10, 15)
NOISE = {
    "TOWER": (DiscreteLaw.normal(1, 10), DiscreteLaw.normal(2, 15)),
    "ROOF": (DiscreteLaw.normal(3.3, 10), DiscreteLaw.normal(5, 15)),
    "FLOOR": (DiscreteLaw.uniform(-10, 10), DiscreteLaw.uniform(-15, 15)),
}
KNOWN = {  # RAND, PROB, HEEB, OPT
    "TOWER": (1202, 684, 1675, 1677),
    "ROOF": (964, 762, 1439, 1860),
    "FLOOR": (721, 696, 772, 1782),
}


def outlived(candidates, now):
    """Whether the partner stream's noise cannot reach a tuple from the next step on."""
    partner_centre = np.where(candidates.stream == 0, now + 1, now)
    bound = np.where(candidates.stream == 0, BOUNDS[1], BOUNDS[0])
    return candidates.value < partner_centre - bound


def rand(seed):
    random = np.random.default_rng(seed)
    return lambda candidates, now: random.random(len(candidates.value))


def prob(left, right):
    """How often a value came in the partner stream; of equal ones the younger stays."""
    streams = (left, right)

    def score(candidates, now):
        counts = [
            np.count_nonzero(streams[1 - stream][: now + 1] == value)
            for stream, value in zip(candidates.stream, candidates.value, strict=True)
        ]
        return np.array(counts) + 1e-6 * candidates.arrived

    return score


def in_window(score):
    return lambda candidates, now: np.where(outlived(candidates, now), -1.0, score(candidates, now))


def heeb_of_trends(left: Trend, right: Trend):
    survival = Survival("exp", alpha_for_lifetime(sum(BOUNDS) / 2))
    curves = trend_curve(left, survival), trend_curve(right, survival)

    def score(candidates, now):
        return np.where(
            candidates.stream == 0,
            curves[1].at(candidates.value - (right.slope * now + right.intercept)),
            curves[0].at(candidates.value - (left.slope * now + left.intercept)),
        )

    return score


@pytest.mark.parametrize("name", KNOWN)
def test_trends(name):
    laws = Trend(1, -1, NOISE[name][0]), Trend(1, 0, NOISE[name][1])
    heeb = heeb_of_trends(*laws)
    found = []
    for seed in range(RUNS):
        streams = laws[0].sample(STEPS, seed), laws[1].sample(STEPS, seed + 100)
        best = best_steps(*streams, CAPACITY, WARM_UP).results
        scores = [in_window(rand(seed)), in_window(prob(*streams)), heeb]
        results = [run_steps(*streams, CAPACITY, score, WARM_UP).results for score in scores]
        assert max(results) <= best
        found.append([*results, best])
    means = np.mean(found, axis=0)
    assert means[0] == pytest.approx(KNOWN[name][0], rel=0.1)
    assert means[1] == pytest.approx(KNOWN[name][1], rel=0.1)
    assert means[2:] == pytest.approx(KNOWN[name][2:], rel=0.03)


def test_walks():
    law = Walk(DiscreteLaw.normal(1))
    curve = walk_curve(law, Survival("exp", CAPACITY))
    found = []
    for seed in range(RUNS):
        streams = law.sample(600, seed), law.sample(600, seed + 100)

        def heeb(candidates, now, last=streams):
            return curve.at(
                candidates.value - np.where(candidates.stream == 0, last[1][now], last[0][now])
            )

        scores = [rand(seed), prob(*streams), heeb]
        results = [run_steps(*streams, CAPACITY, score, WARM_UP).results for score in scores]
        found.append([*results, best_steps(*streams, CAPACITY, WARM_UP).results])
        assert max(results) <= found[-1][-1]
    means = np.mean(found, axis=0)
    assert means[2] > max(means[:2])


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
    surface = ar1_surface(law, alpha=150, caching=True)
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
