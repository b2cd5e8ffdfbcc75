"""HEEB's scores under ``exp`` without the sum: from the score a step earlier, or of another value.

The step forward in time divides by γ = exp(-1/α), so it makes rounding errors grow by a factor of e
every α steps: after some 30 α steps a score is noise, and must be computed afresh before. The step
back multiplies by γ and is safe for ever. Only for laws whose values do not depend on each other.

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, section 6.1 (Corollaries 3 to 5).
"""

from math import isclose
from typing import TypeVar

import numpy as np

from recollect.errors import InputError
from recollect.forecast.base import Now, Probabilities
from recollect.forecast.survival import decay
from recollect.forecast.trend import Trend

Score = TypeVar("Score", float, Probabilities)
"""One score, or an array of them."""


def next_joining_score(score: Score, probability: Score, alpha: float) -> Score:
    """Carry scores of a join one step forward (Corollary 3).

    Parameters
    ----------
    score
        The scores one step ago.
    probability
        How likely the partner stream, seen from then, would show each value now.
    alpha
        The scale of survival.

    Examples
    --------
    A value that comes with probability 0.2 at every step keeps its score.

    >>> gamma = decay(10)
    >>> score = 0.2 * gamma / (1 - gamma)
    >>> isclose(next_joining_score(score, 0.2, 10), score)
    True
    """
    return score / decay(alpha) - probability


def next_caching_score(score: Score, probability: Score, alpha: float) -> Score:
    """Carry scores of a cache one step forward (Corollary 4).

    The parameters are those of :func:`next_joining_score`; a probability of 1 leaves nothing to
    conclude from, and gives NaN.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.divide(score / decay(alpha) - probability, 1 - probability)


def earlier_joining_score(score: Score, probability: Score, alpha: float) -> Score:
    """Carry scores of a join one step back: the reverse of :func:`next_joining_score`."""
    return decay(alpha) * (score + probability)


def earlier_caching_score(score: Score, probability: Score, alpha: float) -> Score:
    """Carry scores of a cache one step back: the reverse of :func:`next_caching_score`."""
    return decay(alpha) * (probability + (1 - probability) * score)


def joining_score_from_neighbour(
    law: Trend, value: int, neighbour: int, score: float, now: Now, alpha: float
) -> float:
    """Score a value from the score of another one, under a linear trend (Corollary 5).

    The trend stands to one value now as it stands to the other at another time; time is then
    carried there step by step.

    Parameters
    ----------
    law
        The law of the partner stream.
    value
        The value to score.
    neighbour, score
        A value and its score now.
    now
        What is known of the partner stream.
    alpha
        The scale of survival.

    Examples
    --------
    >>> from recollect.forecast import DiscreteLaw, Survival
    >>> from recollect_papers.theory.heeb_scores import joining_scores
    >>> law = Trend(2, 0, DiscreteLaw.normal(3, bound=10))
    >>> now = Now(time=50, recent=np.array([100]))
    >>> known, wanted = joining_scores(law, [102, 108], now, Survival("exp", 8))
    >>> isclose(joining_score_from_neighbour(law, 108, 102, known, now, 8), wanted)
    True
    """
    steps = round((neighbour - value) / law.slope) if law.slope else 0
    if not isclose(steps * law.slope, neighbour - value, abs_tol=1e-9):
        raise InputError(
            f"a trend of slope {law.slope} is never to {neighbour} as it is to {value} now;"
            " their distance must be a multiple of the slope"
        )
    time = now.time
    while time < now.time + steps:
        time += 1
        score = next_joining_score(score, _chance(law, neighbour, time), alpha)
    while time > now.time + steps:
        score = earlier_joining_score(score, _chance(law, neighbour, time), alpha)
        time -= 1
    return float(score)


def _chance(law: Trend, value: int, time: int) -> float:
    return float(law.noise.at(value - law.centre(time)))
