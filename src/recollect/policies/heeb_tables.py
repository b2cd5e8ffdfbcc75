"""HEEB's scores as tables for the policy: curves and surfaces that stay small for any buffer.

:mod:`recollect.forecast.precomputed` has the same tables, summed up term by term. A large buffer
keeps tuples for tens of thousands of steps, and then that takes minutes. Under ``exp`` the scores
of a trend follow from each other, S(d) = γ (p(d) + S(d - slope)) in a join and
S(d) = γ (p(d) + (1 - p(d)) S(d - slope)) in a cache, and those of a walk are one
division in the frequency domain, so both are found at once.
"""

from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.compiled import cached
from recollect.errors import InputError
from recollect.forecast import Ar1, DiscreteLaw, Forecast, Markov, Survival, Trend, Walk
from recollect.forecast.precomputed import FINE, Curve, markov_surface, trend_curve, walk_curve
from recollect.forecast.survival import NEGLIGIBLE, decay

Floats = NDArray[np.float64]
UNKNOWN, LINE, WALK, SURFACE = range(4)
MOST_CELLS = 2**20
"""The size of a table, unless memory is bounded more tightly."""
MOST_TERMS = 2**22
"""Up to so many terms a curve is summed up by definition, if it cannot be exact otherwise."""
FAR = 2**60
"""A place beyond all others."""


class Table(NamedTuple):
    """The scores that tuples have under the law of their partner stream."""

    kind: int
    """By the distance from the LINE of a trend, or from the last value of a WALK; SURFACE: by the
    last value and the value."""
    scores: Floats
    low: int = 0
    """The place of the first score of a curve."""
    per_unit: int = 1
    """How many places of a curve there are per whole distance."""
    states: NDArray[np.int64] = np.zeros(1, np.int64)
    """The values that the lines and columns of a surface stand for."""
    slope: float = 0.0
    intercept: float = 0.0
    """Where the line is."""

    def turns(self) -> NDArray[np.int64]:
        """Find the places where a curve stops rising or stops falling.

        Between two of them the least of some tuples is the first or the last. Beyond its ends a
        curve goes on falling away, so the first turn is always one from rising to falling. At one
        moment all tuples are at places a whole distance apart, so there is a line for each of the
        first places, with the turns among those that are whole distances from it. (A surface has
        none.)
        """
        if self.kind == SURFACE:
            return np.zeros((1, 0), np.int64)
        lines = []
        for first in range(self.per_unit):
            scores = self.scores[first :: self.per_unit]
            rising = np.diff(scores, prepend=-1.0, append=-1.0) >= 0
            lines.append(first + self.per_unit * np.flatnonzero(rising[1:] != rising[:-1]))
        turns = np.full((self.per_unit, max(map(len, lines))), FAR)
        for line, places in zip(turns, lines, strict=True):
            line[: len(places)] = places
        return turns


def table_of(
    law: Forecast, survival: Survival, most_cells: int = MOST_CELLS, caching: bool = False
) -> Table:
    """Make the table of a law; InputError if it has none, or one that is too large.

    Examples
    --------
    >>> from recollect.forecast import DiscreteLaw
    >>> law = Trend(1, 7, DiscreteLaw.uniform(-2, 2))
    >>> table = table_of(law, Survival("exp", 5))
    >>> table.low, table.scores[:4].round(3)
    (-3, array([0.   , 0.   , 0.164, 0.298]))
    """
    if isinstance(law, Trend):
        table = trend_table(law, survival, most_cells, caching)
    elif isinstance(law, Walk):
        table = _walk_table(law, survival, most_cells, caching)
    elif isinstance(law, Markov | Ar1):
        table = _surface_table(law, survival, most_cells, caching)
    else:
        raise InputError(f"there is no table of scores for a {type(law).__name__}")
    if table.scores.size > most_cells:
        raise InputError(f"its table would have {table.scores.size} cells, not up to {most_cells}")
    return table


def smoothed(law: DiscreteLaw, samples: int) -> DiscreteLaw:
    """Smooth frequencies that were counted in so many samples, if these are far between.

    The width is Silverman's for a normal law. Besides being nearer to the truth, such a law has a
    curve with few turns.

    Examples
    --------
    >>> smoothed(DiscreteLaw(0, [0.5, 0, 0, 0, 0.5]), samples=1_000).weights
    array([0.5, 0. , 0. , 0. , 0.5])
    >>> wide = DiscreteLaw.empirical([0, 40, 70, 90, 100, 110, 130, 160, 200])
    >>> bool(smoothed(wide, samples=9).weights.max() < 0.01)
    True
    """
    numbers = np.arange(law.low, law.high + 1)
    deviation = np.sqrt(law.weights @ (numbers - law.mean) ** 2)
    width = floor(1.06 * deviation * samples**-0.2)
    if width < 2:
        return law
    box = np.full(width, 1 / width)
    weights = np.convolve(law.weights, np.convolve(box, box))
    return DiscreteLaw(law.low - width + 1, weights / weights.sum())


def trend_table(
    law: Trend, survival: Survival, most_cells: int = MOST_CELLS, caching: bool = False
) -> Table:
    """Make the table of a trend, for joins, or for caches: only the first of all matches counts."""
    moves: dict[str, Any] = {"slope": law.slope, "intercept": law.intercept}
    reach = law.slope * survival.horizon
    on_grid = law.slope * FINE == round(law.slope * FINE)
    terms = survival.horizon * FINE * (abs(reach) + len(law.noise.weights))
    if survival.kind != "exp" or (not on_grid and terms <= MOST_TERMS):
        curve = trend_curve(law, survival, caching)
        return Table(LINE, curve.scores, curve.low, curve.per_unit, **moves)
    whole = law.slope == round(law.slope) and law.intercept == round(law.intercept)
    per_unit = 1 if whole else FINE
    low = floor((law.noise.low - 0.5 + min(0.0, reach)) * per_unit)
    high = ceil((law.noise.high + 0.5 + max(0.0, reach)) * per_unit)
    # What lies so far ahead that it does not fit scores next to nothing.
    if law.slope > 0:
        high = min(high, low + most_cells - 1)
    else:
        low = max(low, high - most_cells + 1)
    distances = np.arange(low, high + 1) / per_unit
    chance = law.noise.at(np.ceil(distances - law.slope - 0.5))
    onwards = slice(None, None, 1 if law.slope >= 0 else -1)
    scores = np.zeros(len(distances))
    step = abs(law.slope) * per_unit
    _add_up(chance[onwards].copy(), step, decay(survival.scale), caching, scores)
    return Table(LINE, scores[onwards].copy(), low, per_unit, **moves)


@cached
def _add_up(chance, step, gamma, caching, scores):
    """Score each place from the one that is a step behind it, or from two between which that is."""
    whole = np.int64(np.floor(step))
    part = step - whole
    for place in range(len(scores)):
        behind = place - whole
        near = scores[behind] if 0 <= behind < place else 0.0
        far = scores[behind - 1] if behind >= 1 else 0.0
        left = 1 - chance[place] if caching else 1.0
        total = gamma * (chance[place] + left * ((1 - part) * near + part * far))
        # A step of less than a place starts from the score that is being found.
        scores[place] = total / (1 - gamma * left * (1 - part)) if whole == 0 else total


def _walk_table(law: Walk, survival: Survival, most_cells: int, caching: bool) -> Table:
    if survival.kind != "exp":
        curve = walk_curve(law, survival, caching)
        return Table(WALK, curve.scores, curve.low)
    curve = _discounted_walk(law, survival, most_cells)
    # Every visit begins with a first one, and a walk looks the same from everywhere.
    visits = 1 + curve.scores[-curve.low] if caching and 0 <= -curve.low < len(curve.scores) else 1
    return Table(WALK, curve.scores / visits, curve.low)


def _discounted_walk(law: Walk, survival: Survival, most_cells: int) -> Curve:
    steps, alpha = law.steps, survival.scale
    numbers = np.arange(steps.low, steps.high + 1)
    deviation = np.sqrt(steps.weights @ (numbers - steps.mean) ** 2)
    longest = max(abs(steps.low), abs(steps.high))
    # Scores fall off at least as fast as by this much per e.
    scale = deviation * np.sqrt(alpha / 2) + abs(steps.mean) * alpha + max(longest, 1)
    cells = 2 ** ceil(np.log2(2 * -np.log(NEGLIGIBLE) * scale))
    if cells > most_cells:
        raise InputError(f"it goes too far in {survival.horizon} steps for a table of {most_cells}")
    circle = np.zeros(cells)
    np.add.at(circle, numbers % cells, steps.weights)
    ahead = decay(alpha) * np.fft.rfft(circle)
    scores = np.roll(np.fft.irfft(ahead / (1 - ahead), cells), cells // 2)
    # What is left after rounding says nothing.
    kept = np.flatnonzero(scores > NEGLIGIBLE * scores.max())
    return Curve(int(kept[0]) - cells // 2, scores[kept[0] : kept[-1] + 1].clip(0))


def _surface_table(law: Markov | Ar1, survival: Survival, most_cells: int, caching: bool) -> Table:
    chain = law.chain if isinstance(law, Ar1) else law
    if len(chain.states) ** 2 > most_cells:
        raise InputError(f"{len(chain.states)} states need a table of more than {most_cells} cells")
    if survival.kind == "exp":
        scores = markov_surface(chain, survival.scale, caching).scores
    else:
        scores, ahead = np.zeros(chain.transitions.shape), np.eye(len(chain.states))
        for step in range(survival.horizon):
            again = np.diag(ahead) if caching and step else 0.0  # not a first visit
            ahead = chain.transitions @ ahead - chain.transitions * again
            scores += ahead
    return Table(SURFACE, scores.ravel(), states=chain.states)
