"""HEEB: forget the row that is least likely to be referenced soon, under a forecast of the stream.

The score of a row is the sum over Δ of P(its first reference from now is at now + Δ) · exp(-Δ/α):
what it is expected to bring while it would still be cached. Scores are looked up in what
:mod:`recollect.forecast.precomputed` has worked out once: a curve over the distance from the trend
or from the last reference (walk), or a surface over the last reference and the key (AR(1), Markov).
All scores change with every reference, so the victim is found by looking at all rows, or at a
random sample of them. Under a stationary law the order is that of LFU, which needs neither.

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, sections 5.3, 6.1 and 7.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from recollect.compiled import inlined
from recollect.errors import InputError, PolicyError
from recollect.forecast import Ar1, Forecast, Markov, Stationary, Survival, Trend, Walk
from recollect.forecast.precomputed import Curve, Surface, markov_surface, walk_curve
from recollect.forecast.survival import LEAST_ALPHA
from recollect.lookup.policies.base import CacheRoom, known_as
from recollect.lookup.policies.history import (
    History,
    is_full,
    longer,
    new_history,
    remember,
)
from recollect.lookup.policies.lfu import Lfu
from recollect.policies import NEWCOMER, Policy, Room
from recollect.policies.base import Array
from recollect.policies.heeb_tables import Table, trend_table
from recollect.policies.rand import below

LAWS: dict[str, type[Forecast]] = {law.name: law for law in (Ar1, Markov, Stationary, Trend, Walk)}
LEARNING, CURVE, SURFACE = range(3)
UNKNOWN = -1
MOST_ALPHA = 1e9
LAST, STEP, PLACE = range(3)


class Scores(NamedTuple):
    """Where scores are looked up, and by what."""

    kind: Array
    table: Array
    """``table[last, value]``; a curve has one line."""
    states: Array
    """Of a surface: the values that lines and columns stand for."""
    line: Array
    """Of a curve: its first place, places per unit, and the centre as shares of the last value, of
    the step and of 1."""


class State(NamedTuple):
    """The rows' keys as whole numbers, the last reference, and the scores."""

    number: Array
    """By slot."""
    place: Array
    """By slot: where a surface has the number, or UNKNOWN."""
    last: Array
    """The last reference as a number, its step, and its place on a surface."""
    scores: Scores
    history: History
    alpha: Array
    unit: Array
    """What counts as 1; negative if keys are fractions."""
    bits: Array
    real: Array
    """The same memory as ``bits``, for codes that are the bits of a fraction."""
    sample: Array
    generator: Array

    def crowded(self):
        """Whether it is time to fit the law."""
        return is_full(self.history)

    def tick(self, buffer, arrival):
        """Note where the stream is."""
        number = _number_of(self, arrival.key)
        self.last[LAST] = number
        self.last[STEP] = arrival.serial - 1
        self.last[PLACE] = _at_or_below(self.scores.states, number)
        remember(self.history, number)

    def admit(self, buffer, slot):
        """Note the key."""
        number = _number_of(self, buffer.key[buffer.group[slot]])
        self.number[slot] = number
        self.place[slot] = _place_of(self.scores.states, number)

    def victim(self, buffer, newcomer):
        """Return the row with the least score, or the newcomer if that has less."""
        if self.scores.kind[0] == LEARNING:
            return buffer.oldest[0]
        # All slots have a row, or there would be no need for a victim.
        rows = buffer.live[0]
        looks = rows if self.sample[0] == 0 else self.sample[0]
        chosen, least = NEWCOMER, np.inf
        for look in range(looks):
            slot = look if self.sample[0] == 0 else below(rows, self.generator)
            score = _score(self, self.number[slot], self.place[slot])
            if score < least or (score == least and buffer.serial[slot] < buffer.serial[chosen]):
                chosen, least = slot, score
        own = _place_of(self.scores.states, self.last[LAST])
        return NEWCOMER if _score(self, self.last[LAST], own) < least else chosen


@inlined
def _number_of(state, key):
    unit = state.unit[0]
    if unit < 0:
        state.bits[0] = key
        return np.int64(np.floor(state.real[0] / -unit + 0.5))
    return key if unit == 1 else np.int64(np.floor(key / unit + 0.5))


@inlined
def _at_or_below(states, number):
    """The place of the last state that is not above a number, or of the first."""
    low, high = 0, len(states)
    while low + 1 < high:
        middle = (low + high) // 2
        if states[middle] <= number:
            low = middle
        else:
            high = middle
    return low


@inlined
def _place_of(states, number):
    place = _at_or_below(states, number)
    return place if states[place] == number else UNKNOWN


@inlined
def _score(state, number, place):
    scores, last = state.scores, state.last
    if scores.kind[0] == SURFACE:
        return scores.table[last[PLACE], place] if place != UNKNOWN else 0.0
    line = scores.line
    centre = line[2] * last[LAST] + line[3] * last[STEP] + line[4]
    at = np.int64(np.floor((number - centre) * line[1] + 0.5)) - np.int64(line[0])
    return scores.table[0, at] if 0 <= at < scores.table.shape[1] else 0.0


NO_SCORES = Scores(np.array([LEARNING]), np.zeros((1, 1)), np.zeros(1, np.int64), np.zeros(5))


def scores_under(law: Forecast, alpha: float) -> Scores:
    """Work out the scores under a law."""
    survival = Survival("exp", alpha)
    if isinstance(law, Trend):
        return _of_curve(trend_table(law, survival, caching=True), 0, law.slope, law.intercept)
    if isinstance(law, Walk):
        return _of_curve(walk_curve(law, survival, caching=True), 1, 0, 0)
    if isinstance(law, Ar1 | Markov):
        chain = law.chain if isinstance(law, Ar1) else law
        return _of_surface(markov_surface(chain, alpha, caching=True))
    raise PolicyError(f"heeb: a cache has no scores for the forecast {type(law).__name__}")


def _of_curve(curve: Curve | Table, last: float, slope: float, intercept: float) -> Scores:
    line = np.array([curve.low, curve.per_unit, last, slope, intercept], np.float64)
    return Scores(np.array([CURVE]), curve.scores[None].copy(), np.zeros(1, np.int64), line)


def _of_surface(surface: Surface) -> Scores:
    states = np.array(surface.states, np.int64)
    return Scores(np.array([SURFACE]), surface.scores.copy(), states, np.zeros(5))


@known_as("heeb")
@dataclass(frozen=True)
class Heeb(Policy):
    """Forget the row that is least likely to be referenced soon.

    Parameters
    ----------
    forecast
        The law of the references: ``stationary``, ``trend``, ``walk``, ``ar1`` or ``markov``, which
        is then fitted to the first of them; or an object of :mod:`recollect.forecast`. What a chain
        has no state for counts as the next lower state.
    alpha
        How long rows are expected to stay, in references; 0 stands for the size of the cache.
    unit
        What counts as 1: keys are divided by it and rounded to whole numbers.
    learn
        After how many references the law is fitted for the first time. It is fitted again each time
        they have doubled; until the first time, rows go in the order they came.
    sample
        How many random rows to look at for a victim; 0 for all.
    """

    forecast: Any = "stationary"
    alpha: float = 0.0
    unit: float = 1.0
    learn: int = 1_000
    sample: int = 0

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        if not isinstance(self.forecast, Forecast) and self.forecast not in LAWS:
            raise PolicyError(
                f"heeb: forecast={self.forecast} is not one of {', '.join(sorted(LAWS))}"
            )
        for name in ("alpha", "sample"):
            if not 0 <= getattr(self, name) < np.inf:
                raise PolicyError(f"heeb: {name}={getattr(self, name)} is not 0 or more")
        if self.alpha and not LEAST_ALPHA <= self.alpha <= MOST_ALPHA:
            raise PolicyError(
                f"heeb: alpha={self.alpha} is not from {LEAST_ALPHA} to {MOST_ALPHA:g}, nor 0"
            )
        if not 0 < self.unit < np.inf:
            raise PolicyError(f"heeb: unit={self.unit} is not above 0")
        if not 3 <= self.learn <= 2**16:
            raise PolicyError(f"heeb: learn={self.learn} is not from 3 to {2**16}")

    @property
    def _stationary(self) -> bool:
        return bool(self.forecast == "stationary")

    def start(self, room: Room) -> Any:
        """See :class:`Policy`."""
        if self._stationary:
            return Lfu().start(room)
        kind = room.key_type if isinstance(room, CacheRoom) else pa.int64()
        if kind is None or pa.types.is_boolean(kind):
            raise PolicyError(
                "heeb: a forecast other than stationary needs one key column of numbers or times"
            )
        given = isinstance(self.forecast, Forecast)
        alpha = self.alpha or float(room.capacity if isinstance(room, CacheRoom) else room.slots)
        bits = np.zeros(1, np.int64)
        return State(
            number=np.zeros(room.slots, np.int64),
            place=np.zeros(room.slots, np.int64),
            last=np.zeros(3, np.int64),
            scores=scores_under(self.forecast, alpha) if given else NO_SCORES,
            history=new_history(0 if given else self.learn),
            alpha=np.array([alpha]),
            unit=np.array([-self.unit if pa.types.is_floating(kind) else self.unit]),
            bits=bits,
            real=bits.view(np.float64),
            sample=np.array([self.sample]),
            generator=np.array([room.seed % 2**64], np.uint64),
        )

    def grow(self, state: Any, room: Room) -> Any:
        """See :class:`Policy`."""
        if self._stationary:
            return Lfu().grow(state, room)
        more = (0, room.slots - len(state.number))
        return state._replace(number=np.pad(state.number, more), place=np.pad(state.place, more))

    def enlarge(self, state: Any) -> Any:
        """See :class:`Policy`; this is the time to learn."""
        if self._stationary:
            return Lfu().enlarge(state)
        history = longer(state.history)
        try:
            law = LAWS[self.forecast].fit(state.history.seen)
            scores = scores_under(law, float(state.alpha[0]))
        except InputError:  # such a law does not fit these references, perhaps later ones
            return state._replace(history=history)
        places = np.searchsorted(scores.states, state.number)
        known = scores.states[np.minimum(places, len(scores.states) - 1)] == state.number
        return state._replace(
            place=np.where(known, places, UNKNOWN), scores=scores, history=history
        )
