"""HEEB: forget the tuple whose expected benefit under a forecast of its partner stream is least.

A tuple with value v scores the sum over Δ of P(partner shows v at now + Δ) · L(Δ), where L tells
how likely the tuple is buffered still. Steps are tuples of the partner stream. Its law is given, or
fitted to its last tuples when there are enough of them, and again as the stream goes on; until
there is one, and if no law fits better than a stationary one, tuples are valued as PROB does.

Scores are looked up in a table (:mod:`~recollect.policies.heeb_tables`) that is made at each fit:
by the distance from where the partner stream is, or by its last value and the tuple's. Distances
change with every step, but not the order of the values. So the distinct values are kept sorted, and
as a curve has few places where it turns from rising to falling, the least score is at one of few
values. Where windows end soon enough to matter, or for a surface, all distinct values are scored.

A tuple whose window ends after l steps loses the terms of the sum that come later. Under a trend
and ``exp`` these are L(l) times the score that the tuple would have then. Otherwise they are taken
as the share of all L(Δ) that comes later. Values that a table does not reach score less than all
others, the farther the less.

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, sections 5.3, 6.1 and 7.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from recollect import counting
from recollect.compiled import inlined
from recollect.errors import InputError, PolicyError
from recollect.forecast import (
    Ar1,
    Forecast,
    Markov,
    Survival,
    Trend,
    Walk,
    forecast_class,
    judge,
)
from recollect.forecast.survival import alpha_for_lifetime
from recollect.policies import base, by_value
from recollect.policies.base import NEWCOMER, Array, Policy, Room
from recollect.policies.by_value import ByValue, enter, first_from, leave, new_by_value
from recollect.policies.heeb_tables import (
    FAR,
    LINE,
    MOST_CELLS,
    SURFACE,
    UNKNOWN,
    smoothed,
    table_of,
)
from recollect.policies.lba import Lba
from recollect.policies.prob import Prob
from recollect.policies.rand import Rand, below
from recollect.policies.tournament import FOREVER, NOBODY, STREAMS, remaining

LAWS = ("stationary", "trend", "walk", "ar1", "markov")
"""From the simplest to the richest."""
CHOICE = ("auto", "locality", *LAWS)
REMEMBERED = 4096
"""How many of the last values of a stream a law is fitted to."""
JUDGED = 1024
"""How many of them laws are compared on."""
RARELY = 65_536
"""After so many arrivals the kind of law is chosen again, however long the stream is."""
ENOUGH = 32
"""How many arrivals it takes to see for how long tuples are held, and what is assumed before."""
NOT_STARTED = np.iinfo(np.int64).min
FURTHEST = 2**53
"""Values beyond are taken as this."""

KIND, ARRIVALS, NEXT_FIT, NEXT_CHOICE, CHOSEN, FIRST, LOW, WIDTH, TURNS, AT = range(10)
SLOPE, INTERCEPT, UNIT, DRIFT, SCALE, HORIZON = range(6)
HELD, ADMITTED, SEEN = range(3)


class State(NamedTuple):
    """The laws of the streams, and the distinct values that are buffered of each."""

    streams: Array
    popular: Any
    """What PROB knows, for streams whose law is not known."""
    tally: Array
    """By stream: the KIND of its table, how many ARRIVALS it had, when the NEXT_FIT and the
    NEXT_CHOICE of a law are due, which was CHOSEN, the FIRST moment on its clock; the LOW end and
    WIDTH of its table, how many TURNS a line of it has, where in it the stream is AT now."""
    law: Array
    """By stream: SLOPE and INTERCEPT of its trend, UNIT: places of its curve per whole distance,
    DRIFT: places that it moves per step, the SCALE of survival, negative if that is fixed, and its
    HORIZON."""
    scores: Array
    """By stream: its table."""
    states: Array
    """By stream: what the lines and columns of a surface stand for."""
    turns: Array
    """By stream: where its curve turns, a line per first place."""
    by_value: ByValue
    recent: Array
    """By stream: its last values, each at the place of its number."""
    held: Array
    """Of late: tuples HELD, summed over arrivals, tuples ADMITTED and arrivals SEEN."""
    lifetime: Array
    """For how many arrivals a tuple is held."""
    drawn: Any
    """What RAND knows, for a sampled victim."""
    sample: Array
    """How many candidates are drawn; 0 if all count."""
    most_cells: Array
    """The largest table that there is memory for."""

    def crowded(self):
        """Whether it is time to fit a law, or the counts have no room for another key."""
        due = base.crowded(self.popular)
        for stream in self.streams:
            partner = self.tally[1 - stream]
            due = due or partner[ARRIVALS] >= partner[NEXT_FIT]
        return due

    def tick(self, buffer, arrival):
        """See where the stream is now."""
        base.tick(self.popular, buffer, arrival)
        tally = self.tally[arrival.stream]
        self.recent[arrival.stream, tally[ARRIVALS] % self.recent.shape[1]] = arrival.key
        tally[ARRIVALS] += 1
        _move(self, arrival.stream, arrival.key)
        self.held[SEEN] += 1
        for stream in self.streams:
            self.held[HELD] += buffer.live[stream]
            if self.tally[stream, FIRST] == NOT_STARTED:
                self.tally[stream, FIRST] = buffer.clock[stream]

    def admit(self, buffer, slot):
        """Enter its value."""
        base.admit(self.popular, buffer, slot)
        self.held[ADMITTED] += 1
        if self.sample[0] > 0:
            base.admit(self.drawn, buffer, slot)
        else:
            enter(self.by_value, buffer, slot)

    def forget(self, buffer, slot):
        """Strike its value off."""
        base.forget(self.popular, buffer, slot)
        if self.sample[0] > 0:
            base.forget(self.drawn, buffer, slot)
        else:
            leave(self.by_value, buffer, slot)

    def victim(self, buffer, newcomer):
        """Return the tuple with the least score, or the newcomer if that has less."""
        for stream in self.streams:
            if self.tally[1 - stream, KIND] == UNKNOWN:
                return base.victim(self.popular, buffer, newcomer)
        if self.sample[0] > 0:
            chosen, least = _least_of_sample(self, buffer)
        else:
            chosen, least = NOBODY, np.inf
            for stream in self.streams:
                chosen, least = _least(self, buffer, stream, chosen, least)
        ahead = _ahead(self, buffer, newcomer.stream, newcomer.expires)
        worth = _score(self, newcomer.stream, newcomer.key, ahead)
        return NEWCOMER if worth < least else chosen


@inlined
def _move(state, stream, value):
    """Set where a stream is in its table after its latest value."""
    tally, law = state.tally[stream], state.law[stream]
    if tally[KIND] == SURFACE:
        # A value that is not a state is taken as the next one that is.
        place = first_from(state.states[stream], tally[WIDTH], value)
        tally[AT] = min(place, tally[WIDTH] - 1) * tally[WIDTH]
    elif tally[KIND] != UNKNOWN:
        position = np.float64(min(max(value, -FURTHEST), FURTHEST))
        if tally[KIND] == LINE:
            position = law[SLOPE] * np.float64(tally[ARRIVALS] - 1) + law[INTERCEPT]
        tally[AT] = np.int64(np.floor(0.5 - position * law[UNIT])) - tally[LOW]


@inlined
def _place_of(state, partner, value):
    """Where a value is in the table of a stream."""
    tally = state.tally[partner]
    near = min(max(value, -FURTHEST), FURTHEST)
    if tally[KIND] != SURFACE:
        return near * np.int64(state.law[partner, UNIT]) + tally[AT]
    states = state.states[partner]
    place = first_from(states, tally[WIDTH], near)
    if place == tally[WIDTH]:
        return place + (near - states[place - 1])
    if place == 0:
        return near - states[0]
    return place if states[place] == near else -1


@inlined
def _score_at(state, partner, place):
    tally = state.tally[partner]
    if place < 0:
        return np.float64(place)
    if place >= tally[WIDTH]:
        return np.float64(tally[WIDTH] - 1 - place)
    return state.scores[partner, place + (tally[AT] if tally[KIND] == SURFACE else 0)]


@inlined
def _ahead(state, buffer, stream, expires):
    """How many tuples of the partner stream come before a window ends."""
    first = state.tally[stream, FIRST]
    lifetime = remaining(buffer, stream, expires)
    if lifetime == FOREVER or first == NOT_STARTED:
        return np.inf
    elapsed = np.float64(max(buffer.clock[stream] - first, 1))
    # A tuple that came late may have outlived its window already.
    return np.float64(max(lifetime, 0)) * np.float64(state.tally[1 - stream, ARRIVALS]) / elapsed


@inlined
def _score(state, stream, value, ahead):
    """The score of a tuple of a stream whose window ends after so many steps."""
    partner = 1 - stream
    law = state.law[partner]
    place = _place_of(state, partner, value)
    score = _score_at(state, partner, place)
    if ahead < law[HORIZON]:
        moved = np.int64(np.floor(law[DRIFT] * ahead + 0.5))
        later = _score_at(state, partner, place - moved)
        if later > 0:
            scale = law[SCALE]
            score -= later * (np.exp(-ahead / scale) if scale > 0 else 1 + ahead / scale)
    return score


@inlined
def _lesser(state, buffer, stream, value, slot, chosen, least):
    """Of a tuple with some score and another one, with this value: the one with the least."""
    ahead = _ahead(state, buffer, stream, buffer.expires[slot])
    score = _score(state, stream, value, ahead)
    return (slot, score) if score < least else (chosen, least)


@inlined
def _least(state, buffer, stream, chosen, least):
    """Of a tuple with some score and those of a stream: the one with the least."""
    values, groups = state.by_value.values[stream], state.by_value.groups[stream]
    count = state.by_value.distinct[stream]
    if count == 0:
        return chosen, least
    tally, law = state.tally[1 - stream], state.law[1 - stream]
    unit = np.int64(law[UNIT])
    width = tally[TURNS]
    first_to_expire = buffer.expires[buffer.oldest[stream]]
    windows_matter = _ahead(state, buffer, stream, first_to_expire) < law[HORIZON]
    by_turns = not windows_matter and tally[KIND] != SURFACE and 16 * width < count
    # Between two turns the curve only rises, or only falls: its least value is the first or last.
    line = (tally[AT] % unit) * width
    begin = 0
    for number in range(width + 1 if by_turns else count):
        place, end = number, number + 1
        if by_turns:
            end = count
            if number < width and state.turns[1 - stream, line + number] != FAR:
                turn = (state.turns[1 - stream, line + number] - tally[AT]) // unit
                end = first_from(values, count, turn + 1)
            place = begin if number % 2 == 0 else end - 1
        if begin < end:
            slot = buffer.first[groups[place], stream]
            chosen, least = _lesser(state, buffer, stream, values[place], slot, chosen, least)
        begin = end
    return chosen, least


@inlined
def _least_of_sample(state, buffer):
    """The least of a few tuples that are drawn."""
    chosen, least = NOBODY, np.inf
    for _ in range(state.sample[0]):
        slot = state.drawn.members[below(state.drawn.size[0], state.drawn.generator)]
        value = buffer.key[buffer.group[slot]]
        chosen, least = _lesser(state, buffer, buffer.stream[slot], value, slot, chosen, least)
    return chosen, least


@dataclass(frozen=True)
class Heeb(Prob, name="heeb"):
    """Forget the tuple whose expected benefit under a forecast of its partner stream is least.

    Parameters
    ----------
    counts, entries
        How keys are counted where there is no law, as for :class:`~recollect.policies.prob.Prob`.
    forecast
        The kind of law that is fitted to each stream: ``trend``, ``walk``, ``ar1``, ``markov``;
        ``stationary``, which is PROB, or ``locality``, which is LBA; ``auto`` takes the one that
        foretells best, without ``locality``.
    survival
        ``exp`` or ``fixed``: the kind of L.
    alpha
        The scale of L, in tuples of the partner stream. 0: from how long tuples are seen to stay.
    sample
        Draw so many candidates and forget the worst of them. 0: the worst of all.
    warmup
        How many tuples of a stream come before a law is fitted to it.
    left, right
        The laws of the streams, if they are known: both or none; only from Python. To go on with a
        join that was saved, :meth:`Join.load <recollect.Join.load>` must be given the policy, too.

    Examples
    --------
    >>> from recollect.forecast import DiscreteLaw, Trend
    >>> law = Trend(slope=1, intercept=0, noise=DiscreteLaw.normal(2, bound=15))
    >>> Heeb(left=law, right=law, alpha=12).spec
    'heeb:alpha=12,left=Trend,right=Trend'
    """

    thorough = True

    forecast: str = "auto"
    survival: str = "exp"
    alpha: float = 0.0
    sample: int = 0
    warmup: int = 256
    left: Any = None
    right: Any = None

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        super().__post_init__()
        if self.forecast not in CHOICE:
            raise PolicyError(f"heeb: forecast={self.forecast} is not one of {', '.join(CHOICE)}")
        if self.survival not in ("exp", "fixed"):
            raise PolicyError(f"heeb: survival={self.survival} is not exp or fixed")
        for name, smallest, largest in (
            ("alpha", 0, 2**32),
            ("sample", 0, 2**20),
            ("warmup", 10, REMEMBERED),
        ):
            value = getattr(self, name)
            if not smallest <= value <= largest:
                raise PolicyError(f"heeb: {name}={value} is not from {smallest} to {largest}")
        least = 1 if self.survival == "fixed" else 1e-3
        if 0 < self.alpha < least:
            raise PolicyError(
                f"heeb: alpha={self.alpha} is less than {least}, the least for {self.survival}"
            )
        for side in ("left", "right"):
            law = getattr(self, side)
            if law is not None and not isinstance(law, Trend | Walk | Ar1 | Markov):
                raise PolicyError(
                    f"heeb: {side}={law} is not an object of Trend, Walk, Ar1 or Markov; in text"
                    " only the kind of law can be given (forecast=trend)"
                )
        if (self.left is None) != (self.right is None):
            raise PolicyError("heeb: give the laws of both streams, left and right, or of none")

    @property
    def spec(self) -> str:
        """See :class:`Policy`; of laws only the kind is told."""
        given = super().spec
        for side in ("left", "right"):
            law = getattr(self, side)
            given = given.replace(f"{side}={law}", f"{side}={type(law).__name__}")
        return given

    @property
    def _other(self) -> Policy | None:
        """The policy that this is under a law without a table."""
        if self.forecast == "stationary":
            return Prob(self.counts, self.entries)
        return Lba(self.counts, self.entries) if self.forecast == "locality" else None

    def start(self, room: Room) -> Any:
        """See :class:`Policy`."""
        if self._other is not None:
            return self._other.start(room)
        if not room.is_pair:
            raise PolicyError(
                "heeb foretells the one partner stream of a tuple, so it is for a join of two"
                " streams; in a workload take prob or clock"
            )
        # In a budget of bytes, values and tables of each stream may take a sixty-fourth of it.
        cells = MOST_CELLS if room.bytes is None else max(self.warmup, room.bytes // (64 * 8))
        tally = np.zeros((STREAMS, 10), np.int64)
        tally[:, NEXT_FIT] = 1 if self.left is not None else self.warmup
        tally[:, FIRST] = NOT_STARTED
        return State(
            streams=np.array(room.streams, np.int64),
            popular=super().start(room),
            tally=tally,
            law=np.zeros((STREAMS, 6)),
            scores=np.zeros((STREAMS, 2)),
            states=np.zeros((STREAMS, 2), np.int64),
            turns=np.zeros((STREAMS, 2), np.int64),
            by_value=new_by_value(2 if self.sample else room.slots),
            recent=np.zeros((STREAMS, min(REMEMBERED, cells)), np.int64),
            held=np.zeros(3, np.int64),
            lifetime=np.array([float(ENOUGH)]),
            drawn=Rand().start(room if self.sample else replace(room, slots=2)),
            sample=np.array([self.sample]),
            most_cells=np.array([cells]),
        )

    def grow(self, state: Any, room: Room) -> Any:
        """See :class:`Policy`."""
        if self._other is not None:
            return self._other.grow(state, room)
        state = state._replace(popular=super().grow(state.popular, room))
        if self.sample:
            return state._replace(drawn=Rand().grow(state.drawn, room))
        return state._replace(by_value=by_value.enlarge(state.by_value, room.slots))

    def enlarge(self, state: Any) -> Any:
        """Fit the laws if that is due, and give the counts more room if they need it."""
        if self._other is not None:
            return self._other.enlarge(state)
        if counting.crowded(state.popular.counts):
            state = state._replace(popular=super().enlarge(state.popular))
        for stream in state.streams:
            partner = state.tally[1 - stream]
            if partner[ARRIVALS] >= partner[NEXT_FIT]:
                state = self._fitted(state, 1 - int(stream))
        return state

    def _fitted(self, state: State, stream: int) -> State:
        """Fit the law of a stream, and make its table."""
        tally = state.tally[stream]
        tally[NEXT_FIT] += min(tally[ARRIVALS], REMEMBERED)
        survival = self._survival(state, stream)
        try:
            law = self._law(state, stream, survival)
            table = table_of(law, survival, int(state.most_cells[0]))
        except InputError as error:
            if self.left is not None:
                raise PolicyError(f"{self.spec}: {error}") from None
            tally[KIND] = UNKNOWN
            return state
        width = len(table.states) if table.kind == SURFACE else len(table.scores)
        drift = table.slope * table.per_unit if survival.kind == "exp" else 0.0
        scale = survival.scale if survival.kind == "exp" else -survival.scale
        turns = table.turns()
        tally[[KIND, LOW, WIDTH, TURNS]] = table.kind, table.low, width, turns.shape[1]
        state.law[stream] = (
            table.slope, table.intercept, table.per_unit, drift, scale, survival.horizon
        )  # fmt: skip
        state = state._replace(
            scores=_with_line(state.scores, stream, table.scores),
            states=_with_line(state.states, stream, table.states),
            turns=_with_line(state.turns, stream, turns.ravel()),
        )
        _move(state, stream, state.recent[stream, (tally[ARRIVALS] - 1) % state.recent.shape[1]])
        return state

    def _survival(self, state: State, stream: int) -> Survival:
        """Tell how long tuples stay, in tuples of a stream."""
        # By Little's law; what was admitted while the buffer was being filled stays longer yet.
        if state.held[SEEN] >= ENOUGH and state.held[ADMITTED] > 0:
            state.lifetime[0] = state.held[HELD] / state.held[ADMITTED]
            state.held[:] = 0
        arrivals = state.tally[:, ARRIVALS]
        lifetime = max(1.0, float(state.lifetime[0] * arrivals[stream] / arrivals.sum()))
        if self.survival == "fixed":
            return Survival("fixed", int(self.alpha or lifetime + 0.5))
        return Survival("exp", self.alpha or alpha_for_lifetime(lifetime))

    def _law(self, state: State, stream: int, survival: Survival) -> Forecast:
        """Tell the law of a stream, or fit one to its last values."""
        if self.left is not None:
            return self.right if stream else self.left
        tally, recent = state.tally[stream], state.recent[stream]
        arrivals = int(tally[ARRIVALS])
        values = np.roll(recent, -arrivals) if arrivals > len(recent) else recent[:arrivals]
        name = self.forecast
        if name == "auto":
            if arrivals >= tally[NEXT_CHOICE]:
                tally[NEXT_CHOICE] = arrivals + min(arrivals, RARELY)
                tally[CHOSEN] = _choice(values[-JUDGED:], survival, int(state.most_cells[0]))
            name = LAWS[tally[CHOSEN]]
        law = forecast_class(name).fit(values)
        if isinstance(law, Trend):  # it was fitted as if the stream began with these values
            start = law.slope * (arrivals - len(values))
            return Trend(law.slope, law.intercept - start, smoothed(law.noise, len(values)))
        if isinstance(law, Walk):
            return Walk(smoothed(law.steps, len(values)))
        return law


def _choice(values: Array, survival: Survival, most_cells: int) -> int:
    """Find the simplest law that foretells about as well as the best: its number among LAWS.

    The likelihood of a law is known to about one over the root of the number of values.
    """
    about_as_well: list[int] = []
    enough = -np.inf
    margin = 1 / np.sqrt(len(values))
    for one in judge(values, LAWS):
        if one.forecast is None or one.log_likelihood < enough:
            break
        number = LAWS.index(one.name)
        if number == 0 or _has_table(one.forecast, survival, most_cells):
            enough = max(enough, one.log_likelihood - margin)
            about_as_well.append(number)
    return min(about_as_well)


def _has_table(law: Forecast, survival: Survival, most_cells: int) -> bool:
    try:
        table_of(law, survival, most_cells)
    except InputError:
        return False
    return True


def _with_line(lines: Array, number: int, line: Array) -> Array:
    """Replace the beginning of a line of an array, which becomes wider if it must."""
    wide = np.zeros((len(lines), max(lines.shape[1], len(line))), lines.dtype)
    wide[:, : lines.shape[1]] = lines
    wide[number, : len(line)] = line
    return wide
