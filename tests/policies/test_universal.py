"""All policies, and one that a user wrote, pass the universal checks."""

import pytest

from recollect.policies import policy_names
from tests.checks import ALL_CHECKS

POLICIES = [
    *policy_names(),
    "prob:counts=exact",
    "prob:counts=sketch,entries=64",
    "gdj:method=2",
    "tests.policies.forget_newest:ForgetTheNewest:patience=2",
]


@pytest.mark.parametrize("check", ALL_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("policy", POLICIES)
def test_check(policy, check):
    check(policy)
