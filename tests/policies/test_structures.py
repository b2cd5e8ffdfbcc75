"""The ladder, the ranking and the tournament against plain lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.join import buffer as buffers
from recollect.policies import ladder as ladders
from recollect.policies import ranking as rankings
from recollect.policies.search import tournament as tournaments
from recollect.policies.shape import Pair
from tests.policies.scenarios import examples, runs

SLOTS = 12


# -- ladder --------------------------------------------------------------------------------------

ladder_steps = runs(
    st.tuples(st.sampled_from(["enter", "climb", "climb", "climb", "leave"]), st.integers(0, 99)),
    longest=80,
)


def _enter_ladder(ladder, model, slot, rank):
    """Put a tuple on the rung of a rank, or on a new one with the value 0 below all others."""
    if not model or (rank == 0 and min(value for _, value in model) > 0):
        rung = ladders.new_rung(ladder, 0, ladders.NONE)
        value = 0
    else:
        rank = rank % len(model) + 1
        rung = ladders.rung_of_rank(ladder, rank)
        value = sorted(value for _, value in model)[rank - 1]
        assert ladder.value[rung] == value
    ladders.stand(ladder, slot, rung)
    model.append((slot, value))


class LadderModel:
    """A ladder and the values that should be on it."""

    def __init__(self, slots):
        self.slots = slots
        self.ladder = ladders.new_ladder(slots)
        # Nothing may be read that was not written: that would show, but must not crash.
        for name in ("first", "last", "below", "above"):
            getattr(self.ladder, name)[:] = slots
        self.ladder.value[:] = -77
        self.ladder.members[:] = 1000
        self.values = []  # (slot, value), in the order of the last change

    def do(self, step, number):
        if step == "enter" and len(self.values) < self.slots:
            free = set(range(self.slots)) - {slot for slot, _ in self.values}
            _enter_ladder(self.ladder, self.values, min(free), number % 20)
        elif step != "enter" and self.values:
            slot, value = self.values.pop(number % len(self.values))
            if step == "climb":
                ladders.climb(self.ladder, slot)
                self.values.append((slot, value + 1))
            else:
                ladders.step_off(self.ladder, slot)

    def check(self, rank):
        if not self.values:
            return
        values = sorted(value for _, value in self.values)
        expected = next(slot for slot, value in self.values if value == values[0])
        assert ladders.lowest(self.ladder) == expected
        rank = min(rank, len(values))
        assert self.ladder.value[ladders.rung_of_rank(self.ladder, rank)] == values[rank - 1]


@examples(60)
@given(ladder_steps)
def test_ladder(steps):
    model = LadderModel(SLOTS)
    for step, number in steps:
        model.do(step, number)
        model.check(number // 4 + 1)


@pytest.mark.parametrize("slots", [3, 40])
def test_long_ladder(slots):
    random = np.random.default_rng(slots)
    model = LadderModel(slots)
    for _ in range(4000):
        step = random.choice(["enter", "climb", "leave"], p=[0.25, 0.5, 0.25])
        model.do(step, int(random.integers(1000)))
        if random.random() < 0.7:
            model.check(int(random.integers(1, 3 * slots)))  # mostly the highest


# -- ranking -------------------------------------------------------------------------------------


class RankingModel:
    """A ranking and a list that should have the same order."""

    def __init__(self, slots):
        self.ranking = rankings.new_ranking(slots)
        self.free = list(range(slots))
        self.order = []  # (credit, slot)

    def insert(self, credit):
        blocks = len(self.ranking.order)
        assert self.ranking.totals[rankings.BLOCKS] < blocks, "no block is left"
        slot = self.free.pop()
        rankings.insert(self.ranking, slot, credit)
        place = sum(other <= credit for other, _ in self.order)
        self.order.insert(place, (credit, slot))

    def remove(self, place):
        _, slot = self.order.pop(place)
        assert rankings.remove(self.ranking, slot) == place + 1
        self.free.append(slot)

    def check(self):
        count = len(self.order)
        assert self.ranking.totals[rankings.COUNT] == count
        got = [rankings.select(self.ranking, rank) for rank in range(1, count + 1)]
        assert got == [slot for _, slot in self.order]


@pytest.mark.parametrize("spread", [1, 5, 10_000], ids=["all equal", "many equal", "few equal"])
def test_ranking_of_a_thousand(spread):
    model = RankingModel(1000)
    random = np.random.default_rng(spread)
    for target in (1000, 20, 700, 0, 300):
        while len(model.order) != target:
            grow = len(model.order) < target
            if grow != (random.random() < 0.1) and model.free:
                model.insert(int(random.integers(spread)))
            elif model.order:
                model.remove(int(random.integers(len(model.order))))
        model.check()


@pytest.mark.compiled
@pytest.mark.parametrize("upwards", [True, False])
@pytest.mark.parametrize("from_below", [True, False])
def test_ranking_never_runs_out_of_blocks(upwards, from_below):
    """Fill up at one end and thin out what is new, from its one side to the other, repeatedly."""
    model = RankingModel(1500)
    credit = 0
    for _ in range(12):
        stay = len(model.order)
        while model.free:
            credit += 1 if upwards else -1
            model.insert(credit)
        first = stay if upwards else 0
        places = [place for place in range(first, first + 1500 - stay) if place % 40]
        if from_below:  # what was taken out moves the rest down
            places = [place - taken for taken, place in enumerate(places)]
        else:
            places.reverse()
        for place in places:
            model.remove(place)
        model.check()


@examples(30)
@given(runs(st.tuples(st.booleans(), st.integers(-3, 3)), longest=120))
def test_small_ranking(steps):
    model = RankingModel(SLOTS)
    for enters, number in steps:
        if enters and model.free:
            model.insert(number)
        elif not enters and model.order:
            model.remove(number % len(model.order))
    model.check()


# -- tournament ----------------------------------------------------------------------------------


class TournamentModel:
    """A tournament and the players in it, in a buffer of which only some fields are set."""

    def __init__(self, slots, aging):
        self.aging = aging
        self.storage = buffers.allocate(slots, 0, Pair())
        self.buffer = buffers.view(self.storage, Pair())
        self.trees = tournaments.new_tournament(slots, aging)
        self.players = {}
        self.serial = 0

    def grow(self, slots):
        self.storage = buffers.with_slots(self.storage, slots, Pair())
        self.buffer = buffers.view(self.storage, Pair())
        self.trees = tournaments.with_slots(self.trees, slots)

    def enter(self, slot, stream, lifetime, weight):
        if slot not in self.players:
            self.serial += 1
            self.buffer.serial[slot] = self.serial
            self.buffer.stream[slot] = stream
            self.buffer.expires[slot] = self.buffer.clock[stream] + lifetime
        self.players[slot] = weight
        tournaments.enter(self.trees, self.buffer, slot, float(weight))

    def leave(self, slot):
        del self.players[slot]
        tournaments.leave(self.trees, self.buffer, slot)

    def advance(self, stream, units):
        """Let time pass, but let no player become older than his lifetime."""
        left = [
            int(self.buffer.expires[slot]) - int(self.buffer.clock[stream])
            for slot in self.players
            if self.buffer.stream[slot] == stream
        ]
        self.buffer.clock[stream] += min([units, *left])

    def check(self):
        for stream in (0, 1):
            now = int(self.buffer.clock[stream])

            def rank(slot, now=now):
                expires = int(self.buffer.expires[slot])
                lifetime = expires - now if self.aging else 1
                return self.players[slot] * lifetime, expires, self.buffer.serial[slot]

            mine = [slot for slot in self.players if self.buffer.stream[slot] == stream]
            expected = min(mine, key=rank, default=tournaments.NOBODY)
            assert tournaments.least(self.trees, self.buffer, stream) == expected


tournament_steps = runs(
    st.tuples(
        st.sampled_from(["enter", "enter", "leave", "advance", "advance", "check"]),
        st.integers(0, SLOTS - 1),
        st.integers(0, 1),
        st.integers(0, 30),
        st.integers(0, 6),
    ),
    longest=60,
)


def _play(model, steps, grow_at=None):
    for number, (step, slot, stream, lifetime, weight) in enumerate(steps):
        if number == grow_at:
            model.grow(2 * SLOTS + 3)
        if step == "enter":
            model.enter(slot, stream, lifetime, weight)
        elif step == "leave" and slot in model.players:
            model.leave(slot)
        elif step == "advance":
            model.advance(stream, 1 + weight)
        elif step == "check":
            model.check()
    model.check()


@pytest.mark.parametrize("aging", [False, True])
@examples(60)
@given(tournament_steps)
def test_tournament(aging, steps):
    _play(TournamentModel(SLOTS, aging), steps)


@pytest.mark.parametrize("aging", [False, True])
@examples(50)
@given(tournament_steps, st.integers(0, 30))
def test_tournament_that_grows(aging, steps, grow_at):
    _play(TournamentModel(SLOTS, aging), steps, grow_at)


@pytest.mark.parametrize("slots", [1, 2, 3, 100])
@pytest.mark.parametrize("aging", [False, True])
def test_long_tournament(aging, slots):
    random = np.random.default_rng(slots)
    model = TournamentModel(slots, aging)
    for _ in range(600):
        slot = int(random.integers(slots))
        if slot in model.players and random.random() < 0.5:
            model.leave(slot)
        else:
            model.enter(slot, *random.integers((2, 300, 20)).tolist())
        model.advance(int(random.integers(2)), int(random.integers(5)))
        if random.random() < 0.3:
            model.check()
    model.check()
