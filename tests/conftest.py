"""Which worker runs which test, where several do.

All tests that need Spark share one session, so one worker runs them. Tests of a policy need the
same machine code, so one worker compiles it.
"""

from pathlib import Path

import pytest

from recollect.policies import policy_names

HERE = Path(__file__).parent
SAME_CODE = {"elba": "lba", "life": "prob"}
LONG_EXAMPLES = {
    "recollect",
    "recollect.counting.estimate.estimated_entries",
    "recollect.join.whole.compare",
    "recollect.join.whole.join",
    "recollect.locality.profile.profile",
    "recollect.report.profile.write_profile_report",
    "recollect.workload.declaration.Workload",
}
"""Docstrings whose examples have streams of a size that only compiled code is made for."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put each test into the group whose worker runs it."""
    known = set(policy_names())
    for item in items:
        if item.name in LONG_EXAMPLES:
            item.add_marker(pytest.mark.compiled)
        if item.get_closest_marker("xdist_group") or not item.path.is_relative_to(HERE):
            continue
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.xdist_group("spark"))
            continue
        room = item.path.relative_to(HERE).parts[0]
        kernel = room if room in ("lookup", "workload") else "join"
        for value in getattr(getattr(item, "callspec", None), "params", {}).values():
            policy = str(value).partition(":")[0]
            if policy in known:
                group = f"{kernel} {SAME_CODE.get(policy, policy)}"
                item.add_marker(pytest.mark.xdist_group(group))
                break
