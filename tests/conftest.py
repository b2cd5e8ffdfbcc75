"""Tests that need the same machine code go to the same worker, so that no other waits for it."""

import re
from pathlib import Path

import pytest

from recollect.policies import policy_names

HERE = Path(__file__).parent
SAME_CODE = {"elba": "lba", "life": "prob"}
THOROUGH = re.compile(
    r"workload/test_twins.*lba"
    r"|policies/test_universal.*heeb-.*bytes"
    r"|policies/test_lba.*sketch"
    r"|join/test_unordered.*::test_all_pairs.*\[(age|clock-exp|elba|gdj:method=2|lfu)\]"
    r"|counting/test_lossy_policies"
    r"|spark/test_bounded_types.*::test_keys_are_equal"
    r"|spark/test_restart.*HDFSBacked"
    r"|spark/test_pipeline.*::test_ingest_and_join_run_together"
)
"""Tests that compile a variant for themselves or need many micro-batches: ``make thorough``."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Group the tests of a policy; each room has a kernel of its own."""
    known = set(policy_names())
    for item in items:
        if THOROUGH.search(item.nodeid):
            item.add_marker(pytest.mark.thorough)
        if not item.path.is_relative_to(HERE) or item.get_closest_marker("xdist_group"):
            continue
        room = item.path.relative_to(HERE).parts[0]
        kernel = room if room in ("lookup", "workload") else "join"
        for value in getattr(getattr(item, "callspec", None), "params", {}).values():
            policy = re.split("[: ]", str(value))[0]
            if policy in known:
                group = f"{kernel} {SAME_CODE.get(policy, policy)}"
                item.add_marker(pytest.mark.xdist_group(group))
                break
