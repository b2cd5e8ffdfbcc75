"""How tests run: interpreted in the rooms of the engine, compiled where they are marked so.

Compiling the inner loop for one policy takes seconds, interpreting a few hundred arrivals
milliseconds. Tests that need the same machine code go to the same worker, so that no other waits.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from recollect.compiled import interpreted
from recollect.join import engine
from recollect.policies import policy_names

TESTS = Path(__file__).parent / "tests"
ROOMS = Path(__file__).parent / "src" / "recollect"
INTERPRETED = (
    "compiled.py", "forecast", "hashing.py", "join", "lookup", "optimum",
    "policies", "testing", "workload",
)  # fmt: skip
"""The rooms whose tests and examples run interpreted, unless they are marked ``compiled``."""
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


def _room(path: Path) -> str:
    """The part of the library that a test or an example belongs to."""
    for root in (TESTS, ROOMS):
        if path.is_relative_to(root):
            first = path.relative_to(root).parts[0]
            return first.removeprefix("test_")
    return ""


def _is_interpreted(item: pytest.Item) -> bool:
    return _room(item.path) in INTERPRETED and not item.get_closest_marker("compiled")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Group the tests that share a Spark session, and the compiled tests of a policy."""
    known = set(policy_names())
    for item in items:
        if item.name in LONG_EXAMPLES:
            item.add_marker(pytest.mark.compiled)
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.xdist_group("spark"))
        if not item.path.is_relative_to(TESTS) or item.get_closest_marker("xdist_group"):
            continue
        room = _room(item.path)
        kernel = room if room in ("lookup", "workload") else "join"
        for value in getattr(getattr(item, "callspec", None), "params", {}).values():
            policy = re.split("[: ]", str(value))[0]
            if policy in known and not _is_interpreted(item):
                group = f"{kernel} {SAME_CODE.get(policy, policy)}"
                item.add_marker(pytest.mark.xdist_group(group))
                break


@pytest.fixture(autouse=True)
def mode(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run kernels and policies as plain Python in the rooms for which that is enough."""
    if _is_interpreted(request.node):
        with interpreted():
            yield
    elif request.node.get_closest_marker("compiled"):
        with mock.patch.object(engine, "FEW_ARRIVALS", -1):  # compiled from the first arrival on
            yield
    else:
        yield
