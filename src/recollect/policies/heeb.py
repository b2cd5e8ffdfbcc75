"""HEEB: forget the tuple whose expected benefit under a forecast of its partner stream is least.

A tuple with value v scores the sum over Δ of P(partner shows v at now + Δ) · L(Δ), where L tells
how likely the tuple is buffered still. Steps are tuples of the partner stream. Its law is given, or
fitted to its last tuples when there are enough of them, and again as the stream goes on; until
there is one, and if no law fits better than a stationary one, tuples are valued as PROB does.

Scores are looked up in a table that is made at each fit (:mod:`~recollect.policies.heeb_laws`): by
the distance from where the partner stream is, or by its last value and the tuple's. In a cache
only the first of all matches counts, so its tables are others. Distances change with every step,
but not the order of the values. So in a join of two streams the distinct values are kept sorted,
and as a curve has few places where it turns from rising to falling, the least score is at one of
few values. Where windows end soon enough to matter, or for a surface, all distinct values are
scored. Elsewhere all tuples are valued anew for every victim, or those that are drawn
(``sample``).

A tuple whose window ends after l steps loses the terms of the sum that come later. Under a trend
and ``exp`` these are L(l) times the score that the tuple would have then. Otherwise they are taken
as the share of all L(Δ) that comes later. Values that a table does not reach score less than all
others, the farther the less.

Where a tuple takes part in several joins, its value is the number of results that it is expected to
give from now on, the sum over them. A stream that it meets holds some tuples with its key already,
and will show more while it is buffered, as many as the score says. Every choice of one tuple of
each stream gives a result, and those of tuples that are all there already have been found. So the
value is the product of what is there and what is to come, over the streams, less the product of
what is there: for a join of two the score itself. A stream whose law is not known is then expected
to show a key as often as it did so far.

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, sections 5.1, 5.3, 6.1 and 7.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from recollect import counting
from recollect.compiled import inlined
from recollect.counting import frequency
from recollect.errors import InputError, PolicyError
from recollect.forecast import Ar1, Markov, Survival, Trend, Walk
from recollect.forecast.survival import LEAST_ALPHA, alpha_for_lifetime
from recollect.policies import base
from recollect.policies.base import NEWCOMER, Array, Policy, Room
from recollect.policies.heeb_laws import (
    ARRIVALS,
    AT,
    HORIZON,
    KIND,
    LAWS,
    NEXT_FIT,
    REMEMBERED,
    SCALE,
    TURNS,
    UNIT,
    Laws,
    fitted,
    is_due,
    learn,
    new_laws,
    score_of,
    steps_buffered,
    with_survival,
    with_table,
)
from recollect.policies.heeb_stay import ADMITTED, Stay, look, new_stay, pass_by, steps_left
from recollect.policies.heeb_tables import FAR, MOST_CELLS, SURFACE, UNKNOWN, table_of
from recollect.policies.lba import Lba
from recollect.policies.prob import Prob
from recollect.policies.rand import Rand
from recollect.policies.search import by_value
from recollect.policies.search.by_value import ByValue, enter, first_from, leave, new_by_value
from recollect.policies.search.scan import (
    Drawn,
    Everywhere,
    find_least,
    let_go,
    take_in,
    worth,
    worth_of,
)
from recollect.policies.search.tournament import NOBODY
from recollect.policies.shape import (
    column,
    group_in,
    joins,
    key_in,
    other,
    others,
    takes_part,
)

CHOICE = ("auto", "locality", *LAWS)


class InOrder(NamedTuple):
    """The search in a join of two streams: among the distinct values, in their order."""

    by_value: ByValue

    def take_in(self, state, buffer, slot):
        """See the function of this name, here and below."""
        enter(self.by_value, buffer, slot)

    def let_go(self, state, buffer, slot):  # noqa: D102
        leave(self.by_value, buffer, slot)

    def find_least(self, state, buffer, newcomer):  # noqa: D102
        chosen, least = NOBODY, np.inf
        for stream in state.streams:
            chosen, least = _least(self.by_value, state, buffer, stream, chosen, least)
        return NEWCOMER if worth_of(state, buffer, newcomer) < least else chosen


@inlined
def _least(ordered, state, buffer, stream, chosen, least):
    """Of a tuple with some score and those of a stream: the one with the least."""
    partner = 1 - stream
    values, groups = ordered.values[stream], ordered.groups[stream]
    count = ordered.distinct[stream]
    if count == 0:
        return chosen, least
    tally, law = state.laws.tally[partner], state.laws.law[partner]
    unit = np.int64(law[UNIT])
    width = tally[TURNS]
    first_to_expire = buffer.expires[buffer.oldest[stream]]
    windows_matter = _ahead(state, buffer, partner, stream, first_to_expire) < law[HORIZON]
    by_turns = not windows_matter and tally[KIND] != SURFACE and 16 * width < count
    # Between two turns the curve only rises, or only falls: its least value is the first or last.
    line = (tally[AT] % unit) * width
    begin = 0
    for number in range(width + 1 if by_turns else count):
        place, end = number, number + 1
        if by_turns:
            end = count
            if number < width and state.laws.turns[partner, line + number] != FAR:
                turn = (state.laws.turns[partner, line + number] - tally[AT]) // unit
                end = first_from(values, count, turn + 1)
            place = begin if number % 2 == 0 else end - 1
        if begin < end:
            slot = buffer.first[groups[place], stream]
            value = worth(state, buffer, slot)
            if value < least:
                chosen, least = slot, value
        begin = end
    return chosen, least


class State(NamedTuple):
    """What is known of the keys of each stream in each join: its *column*."""

    streams: Array
    popular: Any
    """What PROB knows, for streams whose law is not known."""
    laws: Laws
    """By column."""
    heard: Array
    """The columns whose laws are needed."""
    enough: Array
    """How many of them must be known, or PROB chooses."""
    stay: Stay
    caching: Array
    """The size of a cache, in which only the first of all matches counts; else 0."""
    unit: Array
    """What counts as 1 in a key; negative if keys are fractions."""
    search: Any

    def crowded(self):
        """Whether it is time to fit a law, or the counts have no room for another key."""
        due = base.crowded(self.popular)
        for number in self.heard:
            due = due or is_due(self.laws, number)
        return due

    def arrive(self, buffer, arrival):
        """See where the keys of the stream are now."""
        base.arrive(self.popular, buffer, arrival)
        pass_by(self.stay, buffer, self.streams)
        for join in range(joins(buffer.shape)):
            if takes_part(buffer.shape, arrival, join):
                number = column(buffer.shape, join, arrival.stream)
                learn(self.laws, number, _value_of(self, key_in(buffer.shape, arrival, join)))

    def admit(self, buffer, slot):
        """Count it in."""
        base.admit(self.popular, buffer, slot)
        self.stay.tally[ADMITTED] += 1
        take_in(self.search, self, buffer, slot)

    def forget(self, buffer, slot):
        """Count it out."""
        base.forget(self.popular, buffer, slot)
        let_go(self.search, self, buffer, slot)

    def victim(self, buffer, newcomer):
        """Return the tuple with the least value, or the newcomer if that has less."""
        known = 0
        for number in self.heard:
            if self.laws.tally[number, KIND] != UNKNOWN:
                known += 1
        if known < self.enough[0]:
            return base.victim(self.popular, buffer, newcomer)
        return find_least(self.search, self, buffer, newcomer)

    def worth(self, buffer, slot):
        """How many results a buffered tuple is expected to give from now on."""
        value = 0.0
        for join in range(joins(buffer.shape)):
            group = buffer.group[slot, join]
            if group >= 0:
                value += _results(
                    self, buffer, join, buffer.stream[slot], buffer.key[group], group,
                    buffer.expires[slot],
                )  # fmt: skip
        return value

    def worth_of(self, buffer, newcomer):
        """The same for the arriving tuple."""
        value = 0.0
        for join in range(joins(buffer.shape)):
            if takes_part(buffer.shape, newcomer, join):
                value += _results(
                    self, buffer, join, newcomer.stream,
                    key_in(buffer.shape, newcomer, join),
                    group_in(buffer.shape, newcomer, join), newcomer.expires,
                )  # fmt: skip
        return value


@inlined
def _value_of(state, key):
    """The whole number that a key stands for."""
    unit = state.unit[0]
    if unit == 1:
        return key
    if unit < 0:
        return np.int64(np.floor(np.int64(key).view(np.float64) / -unit + 0.5))
    return np.int64(np.floor(key / unit + 0.5))


@inlined
def _ahead(state, buffer, partner, stream, expires):
    """How many tuples come in a column before the window of a tuple of a stream ends."""
    arrivals = state.laws.tally[partner, ARRIVALS]
    return steps_left(state.stay, buffer, stream, expires, arrivals)


@inlined
def _results(state, buffer, join, stream, key, group, expires):
    """How many results a tuple is expected to give in a join from now on."""
    # Π (there + coming) − Π there, not as a difference of what may be large.
    shape = buffer.shape
    results, found = 0.0, 1.0
    for place in range(others(shape, join, stream)):
        partner = other(shape, join, stream, place)
        number = column(shape, join, partner)
        ahead = _ahead(state, buffer, number, stream, expires)
        coming = _coming(state, number, key, ahead)
        if joins(shape) == 1 and others(shape, join, stream) == 1:
            return coming
        coming = max(coming, 0.0)
        there = np.float64(buffer.population[group, partner]) if group >= 0 else 0.0
        results = results * (there + coming) + found * coming
        found *= there
    return results


@inlined
def _coming(state, number, key, ahead):
    """How many tuples with a key come in a column while a tuple is buffered."""
    tally = state.laws.tally[number]
    if tally[KIND] != UNKNOWN:
        return score_of(state.laws, number, _value_of(state, key), ahead)
    share = np.float64(frequency(state.popular.counts, number, key)) / max(tally[ARRIVALS], 1)
    return share * steps_buffered(state.laws.law[number, SCALE], ahead)


@dataclass(frozen=True)
class Heeb(Prob, name="heeb", cache="heeb"):
    """Forget the tuple whose expected benefit under a forecast of its partner stream is least.

    Parameters
    ----------
    counts, entries
        How keys are counted where there is no law, as for :class:`~recollect.policies.prob.Prob`.
    forecast
        The kind of law that is fitted to each stream: ``trend``, ``walk``, ``ar1``, ``markov``;
        ``stationary``, which is PROB, or ``locality``, which is LBA; ``auto`` takes the one that
        predicts best, without ``locality``.
    survival
        ``exp`` or ``fixed``: the kind of L.
    alpha
        The scale of L, in tuples of the partner stream. 0: from how long tuples are seen to stay;
        in a cache, its size.
    sample
        Draw so many candidates and forget the worst of them. 0: the worst of all.
    warmup
        How many tuples of a stream come before a law is fitted to it.
    unit
        What counts as 1: keys are divided by it and rounded to whole numbers. Fractions need it, in
        a cache or a join of two streams with one key column.
    left, right
        The laws of the streams of a plain join of two, if they are known: both or none; only from
        Python. To go on with a join that was saved, :meth:`Join.load <recollect.Join.load>` must be
        given the policy, too. In a cache ``right`` is the law of the references.

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
    unit: float = 1.0
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
        if self.left is not None and self.right is None:
            raise PolicyError("heeb: give the laws of both streams, left and right, or of none")
        if not 0 < self.unit < np.inf:
            raise PolicyError(f"heeb: unit={self.unit} is not above 0")

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
        given = self.right is not None
        if given and not room.is_pair:
            raise PolicyError(
                "heeb: left and right are laws of the streams of one plain join of two; in a"
                " workload only the kind of law can be given (forecast=trend)"
            )
        if given and self.left is None and not room.is_cache:
            raise PolicyError("heeb: give the laws of both streams, left and right, or of none")
        fractions = room.key_type is not None and pa.types.is_floating(room.key_type)
        numbers = room.key_type is not None and not pa.types.is_boolean(room.key_type)
        if room.is_cache and not numbers and (given or self.forecast != "auto"):
            raise PolicyError(
                "heeb: a forecast other than stationary needs one key column of numbers or times"
            )
        # In a budget of bytes, values and tables of each stream may take a sixty-fourth of it.
        cells = MOST_CELLS if room.bytes is None else max(self.warmup, room.bytes // (64 * 8))
        columns = len(room.joins) * room.stream_count
        shape = room.shape
        heard = [
            column(shape, join, other(shape, join, stream, place))
            for join in range(len(room.joins))
            for stream in room.streams
            for place in range(others(shape, join, stream))
        ]
        unit = self.unit if room.key_type is not None else 1.0
        fractions = fractions and (room.is_cache or unit != 1.0)
        search: Any = Everywhere()
        if self.sample:
            search = Drawn(Rand().start(room), np.array([self.sample]))
        elif room.is_pair and unit == 1 and not fractions:
            search = InOrder(new_by_value(room.slots))
        return State(
            streams=np.array(room.streams, np.int64),
            popular=super().start(room),
            laws=new_laws(columns, 1 if given else self.warmup, cells),
            heard=np.array(sorted(set(map(int, heard))), np.int64),
            enough=np.array([len(set(heard)) if room.is_pair else 1]),
            stay=new_stay(room.stream_count),
            caching=np.array([room.capacity]),
            unit=np.array([-unit if fractions else unit]),
            search=search,
        )

    def grow(self, state: Any, room: Room) -> Any:
        """See :class:`Policy`."""
        if self._other is not None:
            return self._other.grow(state, room)
        search = state.search
        if isinstance(search, Drawn):
            search = search._replace(drawn=Rand().grow(search.drawn, room))
        elif isinstance(search, InOrder):
            search = InOrder(by_value.with_slots(search.by_value, room.slots))
        return state._replace(popular=super().grow(state.popular, room), search=search)

    def expand(self, state: Any) -> Any:
        """Fit the laws if that is due, and give the counts more room if they need it."""
        if self._other is not None:
            return self._other.expand(state)
        if counting.crowded(state.popular.counts):
            state = state._replace(popular=super().expand(state.popular))
        due = [int(number) for number in state.heard if is_due(state.laws, number)]
        for number in due:
            state = self._fitted(state, number)
        if due:
            self._look(state)
        return state

    def _fitted(self, state: Any, number: int) -> Any:
        """Fit the law of a column, and make its table."""
        laws = state.laws
        tally = laws.tally[number]
        tally[NEXT_FIT] += min(tally[ARRIVALS], REMEMBERED)
        survival = self._survival(state, number)
        caching = bool(state.caching[0])
        try:
            law = self.left if number == 0 else self.right
            if law is None:
                law = fitted(laws, number, self.forecast, survival, caching)
            table = table_of(law, survival, int(laws.most_cells[0]), caching)
        except InputError as error:
            if self.right is not None:
                raise PolicyError(f"{self.spec}: {error}") from None
            tally[KIND] = UNKNOWN
            return state
        return state._replace(laws=with_table(laws, number, table, survival))

    def _survival(self, state: Any, number: int) -> Survival:
        """Tell how long tuples stay, in tuples of a column."""
        lifetime = look(state.stay, int(state.laws.tally[number, ARRIVALS]))
        if self.survival == "fixed":
            return Survival("fixed", int(self.alpha or lifetime + 0.5))
        size = float(state.caching[0])
        return Survival("exp", self.alpha or size or alpha_for_lifetime(lifetime))

    def _look(self, state: Any) -> None:
        """See how long tuples stay, for columns without a law."""
        for number in state.heard:
            if state.laws.tally[number, KIND] == UNKNOWN:
                with_survival(state.laws, number, self._survival(state, number))
