"""HEEB: forget the tuple whose expected benefit under a forecast of its partner stream is least.

A tuple with value v scores the sum over Δ of P(partner shows v at now + Δ) · L(Δ), where L tells
how likely the tuple is buffered still. Steps are tuples of the partner stream. Its law is given, or
fitted to its last tuples when there are enough of them, and again as the stream goes on; until
there is one, and if no law fits better than a stationary one, tuples are valued as PROB does.

Scores are looked up in a table that is made at each fit (:mod:`~recollect.policies.heeb_laws`): by
the distance from where the partner stream is, or by its last value and the tuple's. Distances
change with every step, but not the order of the values. So the distinct values are kept sorted, and
as a curve has few places where it turns from rising to falling, the least score is at one of few
values. Where windows end soon enough to matter, or for a surface, all distinct values are scored.

A tuple whose window ends after l steps loses the terms of the sum that come later. Under a trend
and ``exp`` these are L(l) times the score that the tuple would have then. Otherwise they are taken
as the share of all L(Δ) that comes later. Values that a table does not reach score less than all
others, the farther the less.

Where tuples take part in several joins, or in joins of several streams, see
:mod:`recollect.policies.joint_heeb`.

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
from recollect.forecast import Ar1, Markov, Survival, Trend, Walk
from recollect.forecast.survival import LEAST_ALPHA, alpha_for_lifetime
from recollect.policies import base, by_value, joint_heeb
from recollect.policies.base import NEWCOMER, Array, Policy, Room
from recollect.policies.by_value import ByValue, enter, first_from, leave, new_by_value
from recollect.policies.heeb_laws import (
    ARRIVALS,
    AT,
    HORIZON,
    KIND,
    LAWS,
    NEXT_FIT,
    REMEMBERED,
    TURNS,
    UNIT,
    Laws,
    fitted,
    is_due,
    learn,
    new_laws,
    score_of,
    with_survival,
    with_table,
)
from recollect.policies.heeb_stay import ADMITTED, Stay, look, new_stay, pass_by, steps_left
from recollect.policies.heeb_tables import FAR, MOST_CELLS, SURFACE, UNKNOWN, table_of
from recollect.policies.lba import Lba
from recollect.policies.prob import Prob
from recollect.policies.rand import Rand, below
from recollect.policies.tournament import NOBODY, STREAMS

CHOICE = ("auto", "locality", *LAWS)


class State(NamedTuple):
    """The laws of the streams, and the distinct values that are buffered of each."""

    streams: Array
    popular: Any
    """What PROB knows, for streams whose law is not known."""
    laws: Laws
    """By stream."""
    heard: Array
    """The streams whose laws are needed: the partners."""
    by_value: ByValue
    stay: Stay
    drawn: Any
    """What RAND knows, for a sampled victim."""
    sample: Array
    """How many candidates are drawn; 0 if all count."""

    def crowded(self):
        """Whether it is time to fit a law, or the counts have no room for another key."""
        due = base.crowded(self.popular)
        for partner in self.heard:
            due = due or is_due(self.laws, partner)
        return due

    def tick(self, buffer, arrival):
        """See where the stream is now."""
        base.tick(self.popular, buffer, arrival)
        learn(self.laws, arrival.stream, arrival.key)
        pass_by(self.stay, buffer, self.streams)

    def admit(self, buffer, slot):
        """Enter its value."""
        base.admit(self.popular, buffer, slot)
        self.stay.tally[ADMITTED] += 1
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
        for partner in self.heard:
            if self.laws.tally[partner, KIND] == UNKNOWN:
                return base.victim(self.popular, buffer, newcomer)
        if self.sample[0] > 0:
            chosen, least = _least_of_sample(self, buffer)
        else:
            chosen, least = NOBODY, np.inf
            for stream in self.streams:
                chosen, least = _least(self, buffer, stream, chosen, least)
        ahead = _ahead(self, buffer, newcomer.stream, newcomer.expires)
        worth = score_of(self.laws, 1 - newcomer.stream, newcomer.key, ahead)
        return NEWCOMER if worth < least else chosen


@inlined
def _ahead(state, buffer, stream, expires):
    """How many tuples of the partner stream come before a window ends."""
    arrivals = state.laws.tally[1 - stream, ARRIVALS]
    return steps_left(state.stay, buffer, stream, expires, arrivals)


@inlined
def _lesser(state, buffer, stream, value, slot, chosen, least):
    """Of a tuple with some score and another one, with this value: the one with the least."""
    ahead = _ahead(state, buffer, stream, buffer.expires[slot])
    score = score_of(state.laws, 1 - stream, value, ahead)
    return (slot, score) if score < least else (chosen, least)


@inlined
def _least(state, buffer, stream, chosen, least):
    """Of a tuple with some score and those of a stream: the one with the least."""
    values, groups = state.by_value.values[stream], state.by_value.groups[stream]
    count = state.by_value.distinct[stream]
    if count == 0:
        return chosen, least
    tally, law = state.laws.tally[1 - stream], state.laws.law[1 - stream]
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
            if number < width and state.laws.turns[1 - stream, line + number] != FAR:
                turn = (state.laws.turns[1 - stream, line + number] - tally[AT]) // unit
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
        The laws of the streams of a plain join of two, if they are known: both or none; only from
        Python. To go on with a join that was saved, :meth:`Join.load <recollect.Join.load>` must be
        given the policy, too.

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
        least = 1 if self.survival == "fixed" else LEAST_ALPHA
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
        if self.left is not None and not room.is_pair:
            raise PolicyError(
                "heeb: left and right are laws of the streams of one plain join of two; in a"
                " workload only the kind of law can be given (forecast=trend)"
            )
        # In a budget of bytes, values and tables of each stream may take a sixty-fourth of it.
        cells = MOST_CELLS if room.bytes is None else max(self.warmup, room.bytes // (64 * 8))
        first_fit = 1 if self.left is not None else self.warmup
        laws = new_laws(len(room.joins) * room.stream_count, first_fit, cells)
        popular = super().start(room)
        drawn = Rand().start(room if self.sample else replace(room, slots=2))
        if not room.is_pair:
            return joint_heeb.start(room, popular, laws, drawn, self.sample)
        return State(
            streams=np.array(room.streams, np.int64),
            popular=popular,
            laws=laws,
            heard=1 - np.array(room.streams, np.int64),
            by_value=new_by_value(2 if self.sample else room.slots),
            stay=new_stay(STREAMS),
            drawn=drawn,
            sample=np.array([self.sample]),
        )

    def grow(self, state: Any, room: Room) -> Any:
        """See :class:`Policy`."""
        if self._other is not None:
            return self._other.grow(state, room)
        state = state._replace(popular=super().grow(state.popular, room))
        if self.sample:
            return state._replace(drawn=Rand().grow(state.drawn, room))
        if not room.is_pair:
            return state  # which has nothing else by slot
        return state._replace(by_value=by_value.enlarge(state.by_value, room.slots))

    def enlarge(self, state: Any) -> Any:
        """Fit the laws if that is due, and give the counts more room if they need it."""
        if self._other is not None:
            return self._other.enlarge(state)
        if counting.crowded(state.popular.counts):
            state = state._replace(popular=super().enlarge(state.popular))
        due = [int(column) for column in state.heard if is_due(state.laws, column)]
        for column in due:
            state = self._fitted(state, column)
        if due:
            self._look(state)
        return state

    def _fitted(self, state: Any, column: int) -> Any:
        """Fit the law of a column, and make its table."""
        laws = state.laws
        tally = laws.tally[column]
        tally[NEXT_FIT] += min(tally[ARRIVALS], REMEMBERED)
        survival = self._survival(state, column)
        try:
            law = self.left if column == 0 else self.right
            if law is None:
                law = fitted(laws, column, self.forecast, survival)
            table = table_of(law, survival, int(laws.most_cells[0]))
        except InputError as error:
            if self.left is not None:
                raise PolicyError(f"{self.spec}: {error}") from None
            tally[KIND] = UNKNOWN
            return state
        return state._replace(laws=with_table(laws, column, table, survival))

    def _survival(self, state: Any, column: int) -> Survival:
        """Tell how long tuples stay, in tuples of a column."""
        lifetime = look(state.stay, int(state.laws.tally[column, ARRIVALS]))
        if self.survival == "fixed":
            return Survival("fixed", int(self.alpha or lifetime + 0.5))
        return Survival("exp", self.alpha or alpha_for_lifetime(lifetime))

    def _look(self, state: Any) -> None:
        """See how long tuples stay, for columns without a law."""
        for column in state.heard:
            if state.laws.tally[column, KIND] == UNKNOWN:
                with_survival(state.laws, column, self._survival(state, column))
