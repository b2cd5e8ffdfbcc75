"""The algorithms of the paper as scores, for many runs at once; the tuples that score most stay.

RAND, PROB and LIFE know when the noise of the partner stream cannot reach a tuple any more, and
forget it then first. Of equal scores the older tuple goes.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from recollect.forecast import Survival, Trend, Walk
from recollect.forecast.precomputed import trend_curve, walk_curve
from recollect.forecast.survival import alpha_for_lifetime
from recollect_papers.stochastic.configurations import Runs
from recollect_papers.theory.steps import Candidates, Score

Floats = NDArray[np.float64]


def remaining(runs: Runs, candidates: Candidates, now: int) -> Floats:
    """Tell for how many more steps the partner stream can show the value of a tuple."""
    ends = [
        (candidates.value - law.intercept - law.noise.low) // law.slope - now
        if isinstance(law, Trend)
        else np.inf
        for law in runs.laws
    ]
    return np.maximum(np.where(candidates.stream == 0, ends[1], ends[0]), 0)


def rand(runs: Runs, capacity: int) -> Score:
    """RAND: any tuple."""
    random = np.random.default_rng(1)

    def score(candidates: Candidates, now: int) -> Floats:
        alive = remaining(runs, candidates, now) > 0
        return np.where(alive, random.random(candidates.value.shape), -1)

    return score


def prob(runs: Runs, capacity: int) -> Score:
    """PROB: by how often the partner stream showed the value so far."""
    return _by_frequency(runs, lambda frequency, life: frequency)


def life(runs: Runs, capacity: int) -> Score:
    """LIFE: by that times how long the tuple can still be met."""
    return _by_frequency(runs, lambda frequency, life: frequency * life)


def life_of_seen_once(runs: Runs, capacity: int) -> Score:
    """LIFE, if a value counts as seen once before it is."""
    return _by_frequency(runs, lambda frequency, life: (frequency + 1) * life)


def _by_frequency(runs: Runs, worth: Callable[[Floats, Floats], Floats]) -> Score:
    values = runs.values
    low = values.min()
    seen = np.zeros((*values.shape[:2], values.max() - low + 1))
    lines = np.arange(len(values))[:, None]

    def score(candidates: Candidates, now: int) -> Floats:
        seen[lines, [0, 1], values[:, :, now] - low] += 1
        frequency = seen[lines, 1 - candidates.stream, candidates.value - low]
        left = remaining(runs, candidates, now)
        return np.where(left > 0, worth(frequency, left), -1)

    return score


def heeb(runs: Runs, capacity: int) -> Score:
    """HEEB with L as the paper chooses it (sections 7.3 and 7.5)."""
    if isinstance(runs.laws[0], Walk):
        return heeb_with(runs, alpha=capacity)
    bounds = [law.noise.high for law in runs.laws if isinstance(law, Trend)]
    return heeb_with(runs, alpha_for_lifetime(sum(bounds) / 2))


def heeb_of_lifetime(runs: Runs, capacity: int) -> Score:
    """HEEB with L for as long as tuples stay: two come at each step, so that is half the cache."""
    return heeb_with(runs, alpha_for_lifetime(max(1, capacity / 2)))


def heeb_with(runs: Runs, alpha: float) -> Score:
    """HEEB: by the expected benefit under the law of the partner stream, looked up in a curve."""
    survival = Survival("exp", alpha)
    curves = [
        walk_curve(law, survival) if isinstance(law, Walk) else trend_curve(law, survival)
        for law in runs.laws
    ]

    def score(candidates: Candidates, now: int) -> Floats:
        partner = np.take_along_axis(runs.positions[..., now], 1 - candidates.stream, axis=-1)
        apart = candidates.value - partner
        return np.where(candidates.stream == 0, curves[1].at(apart), curves[0].at(apart))

    return score


LIFE_PLUS_ONE, LIFETIME_HEEB = "LIFE, seen+1", "HEEB, L of k/2"
SCORES: Mapping[str, Callable[[Runs, int], Score]] = {
    "RAND": rand,
    "PROB": prob,
    "LIFE": life,
    LIFE_PLUS_ONE: life_of_seen_once,
    "HEEB": heeb,
    LIFETIME_HEEB: heeb_of_lifetime,
}
