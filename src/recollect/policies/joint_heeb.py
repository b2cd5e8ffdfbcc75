"""HEEB where a tuple takes part in many joins: its value is the sum over them.

In each join the value of a tuple is the number of results that it is expected to give from now on.
A stream that it meets there holds some tuples with its key already, and will show more while it is
buffered: as many as HEEB's score says, under the forecast of the keys of that stream in that join.
Every choice of one tuple of each stream gives a result, and those of tuples that are all there
already have been found. So the value is the product of what is there and what is to come, over the
streams, less the product of what is there: for a join of two the score itself. This takes it that
the streams bring their tuples independently, and that the others of a result stay, too.

A stream whose law is not known (yet), or that no law foretells better than the popularity of its
keys, is expected to show a key as often as it did so far. If that holds for all, this is PROB.

For every victim all buffered tuples are valued anew, or those that are drawn: the first is exact
and slow. Of equal values the older goes first, or the one drawn first.

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, sections 5.1 and 5.3.
"""

from typing import Any, NamedTuple

import numpy as np

from recollect.compiled import inlined
from recollect.counting import frequency
from recollect.policies import base
from recollect.policies.base import NEWCOMER, Array, Room, group_in, key_in, takes_part
from recollect.policies.heeb_laws import (
    ARRIVALS,
    KIND,
    SCALE,
    Laws,
    is_due,
    learn,
    score_of,
    steps_buffered,
)
from recollect.policies.heeb_stay import ADMITTED, Stay, new_stay, pass_by, steps_left
from recollect.policies.heeb_tables import UNKNOWN
from recollect.policies.rand import below
from recollect.policies.tournament import NOBODY


class JointState(NamedTuple):
    """What is known of the keys of each stream in each join: column ``join * streams + stream``."""

    streams: Array
    partners: Array
    """By join, stream and other stream: whether they meet there."""
    popular: Any
    """What PROB knows."""
    laws: Laws
    heard: Array
    """The columns whose laws are needed."""
    stay: Stay
    drawn: Any
    """What RAND knows, for a sampled victim."""
    sample: Array
    """How many candidates are drawn; 0 if all count."""

    def crowded(self):
        """Whether it is time to fit a law, or the counts have no room for another key."""
        due = base.crowded(self.popular)
        for column in self.heard:
            due = due or is_due(self.laws, column)
        return due

    def tick(self, buffer, arrival):
        """See where the keys of the stream are now."""
        base.tick(self.popular, buffer, arrival)
        pass_by(self.stay, buffer, self.streams)
        for join in range(len(self.partners)):
            if takes_part(arrival, join):
                column = join * self.partners.shape[1] + arrival.stream
                learn(self.laws, column, key_in(arrival, join))

    def admit(self, buffer, slot):
        """Count it in."""
        base.admit(self.popular, buffer, slot)
        self.stay.tally[ADMITTED] += 1
        if self.sample[0] > 0:
            base.admit(self.drawn, buffer, slot)

    def forget(self, buffer, slot):
        """Count it out."""
        base.forget(self.popular, buffer, slot)
        if self.sample[0] > 0:
            base.forget(self.drawn, buffer, slot)

    def victim(self, buffer, newcomer):
        """Return the tuple with the least value, or the newcomer if that has less."""
        foretold = False
        for column in self.heard:
            foretold = foretold or self.laws.tally[column, KIND] != UNKNOWN
        if not foretold:
            return base.victim(self.popular, buffer, newcomer)
        # All are valued at one place in the code, the newcomer last: it takes long to compile.
        chosen, least = NOBODY, np.inf
        slot, tried = NOBODY, 0
        while True:
            if self.sample[0] == 0:
                slot, tried = _next(self, buffer, slot, tried)
            elif tried < self.sample[0]:
                slot = self.drawn.members[below(self.drawn.size[0], self.drawn.generator)]
                tried += 1
            else:
                slot = NOBODY
            value = _value(self, buffer, slot, newcomer)
            if slot == NOBODY:
                return NEWCOMER if value < least else chosen
            older = (
                self.sample[0] == 0 and chosen >= 0 and buffer.serial[slot] < buffer.serial[chosen]
            )
            if value < least or (value == least and older):
                chosen, least = slot, value


@inlined
def _next(state, buffer, slot, tried):
    """The next of all buffered tuples, and how many streams were begun; NOBODY after the last."""
    slot = NOBODY if slot == NOBODY else buffer.newer[slot]
    while slot == NOBODY and tried < len(state.streams):
        slot = buffer.oldest[state.streams[tried]]
        tried += 1
    return slot, tried


@inlined
def _value(state, buffer, slot, newcomer):
    """The value of a buffered tuple, or of the newcomer, if the slot is NOBODY."""
    is_new = slot == NOBODY
    stream = newcomer.stream if is_new else buffer.stream[slot]
    expires = newcomer.expires if is_new else buffer.expires[slot]
    value = 0.0
    for join in range(len(state.partners)):
        group = group_in(newcomer, join) if is_new else buffer.in_group[slot, join]
        if group >= 0 or (is_new and takes_part(newcomer, join)):
            key = key_in(newcomer, join) if is_new else buffer.key[group]
            value += _results(state, buffer, join, stream, key, group, expires)
    return value


@inlined
def _results(state, buffer, join, stream, key, group, expires):
    """How many results a tuple is expected to give in a join from now on."""
    # Π (there + coming) − Π there, not as a difference of what may be large.
    streams = state.partners.shape[1]
    results, found = 0.0, 1.0
    for other in range(streams):
        if state.partners[join, stream, other] != 0:
            there = np.float64(buffer.population[group, other]) if group >= 0 else 0.0
            coming = _expected(state, buffer, join * streams + other, stream, key, expires)
            results = results * (there + coming) + found * coming
            found *= there
    return results


@inlined
def _expected(state, buffer, column, stream, key, expires):
    """How many tuples with a key come in a column while a tuple is buffered."""
    tally = state.laws.tally[column]
    ahead = steps_left(state.stay, buffer, stream, expires, tally[ARRIVALS])
    if tally[KIND] != UNKNOWN:
        return max(score_of(state.laws, column, key, ahead), 0.0)
    share = np.float64(frequency(state.popular.counts, column, key)) / max(tally[ARRIVALS], 1)
    return share * steps_buffered(state.laws.law[column, SCALE], ahead)


def start(room: Room, popular: Any, laws: Laws, drawn: Any, sample: int) -> JointState:
    """Make the state of an empty buffer."""
    partners = room.partners()
    return JointState(
        streams=np.array(room.streams, np.int64),
        partners=partners,
        popular=popular,
        laws=laws,
        heard=np.flatnonzero(partners[:, list(room.streams)].any(axis=1)),
        stay=new_stay(room.stream_count),
        drawn=drawn,
        sample=np.array([sample]),
    )
