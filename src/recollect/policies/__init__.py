"""Which tuple to forget. One file per policy; ``base`` is the contract, ``registry`` the names."""

from recollect.policies import (
    age,
    clock,
    clock_exp,
    elba,
    fifo,
    gdj,
    heeb,
    hist,
    lba,
    lfu,
    life,
    lru,
    prob,
    rand,
)
from recollect.policies.base import NEWCOMER, Policy, Room
from recollect.policies.registry import parse_policy, policy_names, quick_policy_names

__all__ = [
    "NEWCOMER",
    "Policy",
    "Room",
    "age",
    "clock",
    "clock_exp",
    "elba",
    "fifo",
    "gdj",
    "heeb",
    "hist",
    "lba",
    "lfu",
    "life",
    "lru",
    "parse_policy",
    "policy_names",
    "prob",
    "quick_policy_names",
    "rand",
]
