"""All policies, and one that a user wrote, pass the universal checks; faulty ones do not."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from recollect.compiled import interpreted
from recollect.errors import PolicyError
from recollect.policies import (
    Policy,
    Room,
    cache_policy_names,
    parse_cache_policy,
    parse_policy,
    policy_names,
)
from recollect.testing import check_policy
from recollect.testing import joins as checks
from recollect.testing.caches import make_stream, refer, start
from recollect.testing.joins import MANY, PAIR

POLICIES = [
    *sorted({*policy_names(), *cache_policy_names()}),
    "prob:counts=exact",
    "prob:counts=sketch,entries=64",
    "prob:counts=lossy,entries=64",
    "gdj:method=2",
    "heeb:forecast=trend,warmup=20",
    "lba:h=5,warmup=20",
    "tests.policies.forget_newest:ForgetTheNewest:patience=2",
]
LONG = {"elba", "prob:counts=exact", "prob:counts=lossy,entries=64", "lba"}
"""Those that take long and have a shorter one of the same code beside them."""
SAMPLES = ["clock", "prob", "lba:h=3,warmup=20", "heeb:forecast=trend,warmup=20", "gdj:method=2"]
"""One of each family."""


@pytest.mark.parametrize(
    "policy",
    [pytest.param(p, marks=pytest.mark.thorough if p in LONG else ()) for p in POLICIES],
)
def test_policy(policy):
    check_policy(policy)


# -- compiled or not -----------------------------------------------------------------------------


def agree(run):
    with interpreted():
        plain = run()
    assert run() == plain


@pytest.mark.compiled
@pytest.mark.parametrize("policy", [*policy_names(), *SAMPLES[2:]])
def test_compiled_pairs(policy):
    rows = checks.make_stream(PAIR, 1, 400, keys=30)
    case = PAIR.with_windows(100, "60rows")
    agree(lambda: checks.run(case, parse_policy(policy), rows, 20))


@pytest.mark.compiled
@pytest.mark.parametrize("policy", SAMPLES)
def test_compiled_workloads(policy):
    rows = checks.make_stream(MANY, 2, 300, keys=30)
    agree(lambda: checks.run(MANY, parse_policy(policy), rows, 15, True))


@pytest.mark.compiled
@pytest.mark.parametrize("policy", cache_policy_names())
def test_compiled_caches(policy):
    keys = make_stream(3, 900, keys=80)
    agree(lambda: refer(start(parse_cache_policy(policy), keys, 15), keys))


# -- what the checks find ------------------------------------------------------------------------


class Oldest(NamedTuple):
    """Forgets the oldest tuple, and counts what it has to do with."""

    streams: np.ndarray
    count: np.ndarray

    def victim(self, buffer, newcomer):
        slots = [int(buffer.oldest[stream]) for stream in self.streams]
        return min((slot for slot in slots if slot >= 0), key=lambda slot: buffer.serial[slot])


class Unseeded(Oldest):
    def victim(self, buffer, newcomer):
        return (
            -1 if np.random.default_rng().random() < 0.3 else Oldest.victim(self, buffer, newcomer)
        )


class CountsBatches(Oldest):
    """Depends on what is not saved."""

    seen = 0

    def victim(self, buffer, newcomer):
        type(self).seen = max(type(self).seen, int(newcomer.serial)) + 1
        return -1 if type(self).seen % 3 else Oldest.victim(self, buffer, newcomer)


class Growing(Oldest):
    """Depends on how many slots there are."""

    def victim(self, buffer, newcomer):
        return -1 if len(buffer.serial) < 40 else Oldest.victim(self, buffer, newcomer)


class Straying(Oldest):
    def victim(self, buffer, newcomer):
        return int(buffer.oldest[1 - self.streams[0]])


@dataclass(frozen=True)
class Made(Policy):
    kind: type = Oldest

    def start(self, room: Room):
        return self.kind(np.array(room.streams), np.zeros(1, np.int64))


def test_a_sound_one_that_cannot_be_named():
    check_policy(Made(Oldest))


@pytest.mark.parametrize(
    ("kind", "error", "found"),
    [
        (Unseeded, AssertionError, "check_same_seed_same_victims"),
        (CountsBatches, AssertionError, "check_same_seed_same_victims"),
        (Growing, AssertionError, "check_growth_makes_no_difference"),
        (Straying, PolicyError, "not in its part of the buffer"),
    ],
)
def test_faulty_ones(kind, error, found):
    with pytest.raises(error, match=found):
        check_policy(Made(kind), kinds=["pair"])


def test_what_is_no_kind():
    with pytest.raises(PolicyError, match="'cash' is not one of pair, many, cache"):
        check_policy("fifo", kinds=["cash"])
