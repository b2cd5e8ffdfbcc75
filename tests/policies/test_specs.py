"""Policies as text: what is understood, what is refused and how it is said."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from recollect.errors import PolicyError
from recollect.join.online import Join
from recollect.policies import Policy, Room, parse_policy, policy_names
from recollect.policies.clock import Clock
from recollect.policies.gdj import Gdj, percentile_rank
from recollect.policies.prob import Prob
from recollect.testing.joins import PAIR, SCHEMA, Tuple, feed, finish, make_stream
from tests.policies.forget_newest import ForgetTheNewest

NEWEST = "tests.policies.forget_newest:ForgetTheNewest"
SPECS = {
    "gdj": Gdj(),
    "gdj:percentile=0.95": Gdj(percentile=0.95),
    "gdj:percentile=1,method=2": Gdj(1.0, 2),
    "gdj:method=3": Gdj(method=3),
    " gdj ": Gdj(),
    "clock:w0=2": Clock(2),
    "clock:w0=2.5": Clock(2.5),
    "clock:w0=0.5": Clock(0.5),
    "prob:counts=sketch,entries=1e3": Prob("sketch", 1000),
    NEWEST: ForgetTheNewest(),
    f"{NEWEST}:patience=3": ForgetTheNewest(3),
}
REFUSED = {
    "gdjj": "did you mean gdj?",
    "nothing": "known are",
    "": "known are",
    "gdj:percentil=1": "percentile, method",
    "gdj:percentile": "percentile, method",
    "gdj:percentile=": "percentile=",
    "gdj:percentile=high": "high",
    "gdj:percentile=1.5": "1.5",
    "gdj:percentile=-0.1": "-0.1",
    "gdj:percentile=nan": "nan",
    "gdj:method=4": "method=4",
    "gdj:method=1.5": "1.5",
    "clock:w0=-1": "w0=-1",
    "clock:w0=inf": "w0=inf",
    "clock-exp:rho=0": "rho=0",
    "clock-exp:rho=1": "rho=1",
    "clock-exp:w0=-2": "w0=-2",
    "prob:counts=some": "some",
    "prob:entries=3": "3",
    "life:entries=0": "life",
    "age:sample=0": "sample=0",
    "lru:depth=3": "takes no parameters",
    "no_such_module:Thing": "no_such_module",
    "tests.policies.forget_newest:Nothing": "Nothing",
    "tests.policies.forget_newest:State": "State",
    "tests.policies.forget_newest:ForgetTheNewest:patience=x": "patience=x",
    "tests.policies.forget_newest:ForgetTheNewest:haste=1": "patience",
    ":Thing": "Thing",
    "..up:Thing": "Thing",
}


@pytest.mark.parametrize("spec", SPECS)
def test_what_is_understood(spec):
    assert parse_policy(spec) == SPECS[spec]


@pytest.mark.parametrize("spec", REFUSED)
def test_what_is_refused(spec):
    with pytest.raises(PolicyError) as caught:
        parse_policy(spec)
    message = str(caught.value)
    assert REFUSED[spec] in message
    assert "\n" not in message


@pytest.mark.parametrize("thing", [3, None, ["gdj"], int])
def test_what_is_no_policy_at_all(thing):
    with pytest.raises(PolicyError, match="is not a policy"):
        parse_policy(thing)


def test_objects_and_classes_are_taken_as_they_are():
    policy = Gdj(method=2)
    assert parse_policy(policy) is policy
    assert parse_policy(ForgetTheNewest) == ForgetTheNewest()


@pytest.mark.parametrize("policy", [*SPECS.values(), Clock(0.1), *policy_names()], ids=str)
def test_spec_goes_there_and_back(policy):
    policy = parse_policy(policy)
    assert parse_policy(policy.spec) == policy


@pytest.mark.parametrize("policy", [Clock(2.5), ForgetTheNewest(4)])
def test_a_policy_object_survives_saving(policy):
    rows = make_stream(PAIR, 1, 60)
    join = PAIR.start(policy, 8)
    pairs = feed(PAIR, join, rows[:30])
    copy = Join.load(join.save())
    whole = finish(join, pairs + feed(PAIR, join, rows[30:], 31))
    assert finish(copy, pairs + feed(PAIR, copy, rows[30:], 31)) == whole


@pytest.mark.parametrize("count", [1, 2, 7, 10, 50, 100, 200, 1000])
def test_percentile_is_the_nearest_rank(count):
    """The rank is ceil(p * count), for p as it is written: 0.55 of 100 is 55, not 56."""
    got = {percent: percentile_rank(percent / 100, count) for percent in range(1, 101)}
    assert got == {percent: -(-percent * count // 100) for percent in got}
    assert percentile_rank(0.0, count) == 1


# -- policies that cannot work -------------------------------------------------------------------


class Misspelt(NamedTuple):
    place: np.ndarray

    def victm(self, buffer, newcomer):
        return 0


@dataclass(frozen=True)
class WithoutVictim(Policy):
    kind: str = "misspelt"

    def start(self, room: Room):
        place = np.zeros(1, np.int64)
        return {"misspelt": Misspelt(place), "tuple": (place,), "array": place}.get(self.kind)


@pytest.mark.parametrize("kind", ["misspelt", "tuple", "array", "nothing"])
def test_a_state_must_have_a_method_victim(kind):
    with pytest.raises(PolicyError, match=r"start\(\) must return a NamedTuple .* victim\(\)"):
        PAIR.start(WithoutVictim(kind), 8)


class AllocatingState(NamedTuple):
    place: np.ndarray

    def victim(self, buffer, newcomer):
        return np.argmin(np.zeros(3))


@dataclass(frozen=True)
class Allocating(Policy):
    def start(self, room: Room) -> AllocatingState:
        return AllocatingState(np.zeros(1, np.int64))


class PythonicState(NamedTuple):
    place: np.ndarray

    def victim(self, buffer, newcomer):
        return sorted(buffer.slots, key=lambda slot: slot.age)[0]


@dataclass(frozen=True)
class Pythonic(Policy):
    strength: int = 1

    def start(self, room: Room) -> PythonicState:
        return PythonicState(np.zeros(1, np.int64))


class StrayingState(NamedTuple):
    slot: np.ndarray

    def victim(self, buffer, newcomer):
        return self.slot[0]


@dataclass(frozen=True)
class Straying(Policy):
    slot: int = 0

    def start(self, room: Room) -> StrayingState:
        return StrayingState(np.array([self.slot]))


@dataclass(frozen=True)
class WithoutStart(Policy):
    pass


@pytest.mark.compiled
@pytest.mark.parametrize("policy", [Allocating(), Pythonic(strength=3)], ids=["array", "python"])
def test_a_policy_that_does_not_compile_is_named(policy):
    join = Join(on="k", time="t", window=5, budget=5, policy=policy)
    join.expect("left", SCHEMA)
    with pytest.raises(PolicyError) as caught:
        join.expect("right", SCHEMA)
    message = str(caught.value)
    assert policy.spec in message
    assert "\n" not in message
    if isinstance(policy, Allocating):
        assert "must not create arrays" in message


def test_a_policy_without_start_says_so():
    with pytest.raises(PolicyError, match="WithoutStart"):
        PAIR.start(WithoutStart(), 8)


@pytest.mark.parametrize(("slot", "split"), [(-2, None), (10**9, None), (7, "7:1"), (0, "equal")])
def test_a_victim_that_is_not_there_is_an_error(slot, split):
    """Below and beyond all slots, an empty slot, a tuple of the other part of the budget."""
    join = Join(on="k", time="t", window="unlimited", budget=8, split=split, policy=Straying(slot))
    rows = [Tuple(int(time >= 4), time, time) for time in range(13)]
    with pytest.raises(PolicyError, match=r"Straying.* victim"):
        finish(join, feed(PAIR, join, rows))
