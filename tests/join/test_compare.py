"""A comparison gives for every policy and budget what joining with it alone gives."""

import pyarrow as pa
import pytest

import recollect as rc
from recollect.errors import BudgetError, InputError, PolicyError
from recollect.streams import ZipfStream
from tests.join.brute import brute_force, random_table

NAMES = pa.array([f"some payload {i}" for i in range(600)])
LEFT, RIGHT = (random_table(seed, 600, 40, name=NAMES) for seed in (1, 2))
WHAT = {"on": "key", "time": "time", "window": 90}
POLICIES = ["fifo", "clock", "prob", "clock:w0=3"]
BUDGETS = ["10%", 33, "25kB", "unlimited"]
COUNTED = [
    *("policy", "budget", "budget_tuples", "budget_bytes", "tuples_in", "results"),
    *("evicted", "expired", "refused", "peak_tuples", "mean_tuples"),
]


def counts(stats) -> dict:
    return {name: getattr(stats, name) for name in COUNTED}


@pytest.mark.compiled
@pytest.mark.parametrize(
    "more",
    [{}, {"split": True}, {"split": "20:80"}, {"where": "left.n != right.n"}, {"seed": 5}],
    ids=str,
)
def test_same_as_each_join_alone(more):
    comparison = rc.compare(LEFT, RIGHT, policies=POLICIES, budgets=BUDGETS, **WHAT, **more)
    assert [(run.policy, run.budget) for run in comparison.runs] == [
        (policy, str(budget)) for policy in POLICIES for budget in BUDGETS
    ]
    for run in comparison.runs:
        arguments = WHAT | more | {"policy": run.policy, "budget": run.budget}
        alone = rc.join(LEFT, RIGHT, exact=True, count_only=True, **arguments).stats
        assert counts(run) == counts(alone)
        assert run.exact_results == alone.exact_results == comparison.survey.exact_results
        assert run.recall == alone.recall == run.results / run.exact_results
        listed = rc.join(LEFT, RIGHT, **arguments)
        assert counts(listed.stats) == counts(run)
        assert listed.table.num_rows == run.results


def test_the_exact_join_is_exact():
    comparison = rc.compare(LEFT, RIGHT, policies=["fifo"], budgets=["unlimited", 20], **WHAT)
    exact = len(brute_force(LEFT, RIGHT, (90, 90)))
    assert comparison.survey.exact_results == comparison.runs[0].results == exact
    assert comparison.runs[0].recall == 1.0
    assert 0 < comparison.runs[1].recall < 1
    assert comparison.survey.arrivals == (600, 600)
    assert comparison.survey.shares == (0.5, 0.5)


@pytest.mark.compiled
def test_more_room_and_evidence_help():
    streams = [ZipfStream(5_000, keys=500, seed=seed) for seed in (1, 2)]
    what = WHAT | {"window": 800}
    runs = rc.compare(*streams, policies=["fifo", "prob"], budgets=["5%", "50%"], **what).runs
    recalls = [run.recall for run in runs]
    assert recalls[0] < recalls[1]
    assert recalls[2] < recalls[3]
    assert recalls[0] < recalls[2]


def test_nothing_to_find_is_found_completely():
    nothing = rc.compare(LEFT.slice(0, 0), RIGHT, policies=["fifo"], budgets=["10%"], **WHAT)
    assert (nothing.runs[0].exact_results, nothing.runs[0].recall) == (0, 1.0)


def test_mistakes_are_found_before_anything_is_read():
    usual = {"policies": ["fifo"], "budgets": ["5%"]}
    for error, arguments in (
        (PolicyError, {"policies": ["fifo", "fifi"]}),
        (BudgetError, {"budgets": ["5%", "many"]}),
        (BudgetError, {"split": "half"}),
        (rc.RecollectError, {"policies": []}),
        (rc.RecollectError, {"budgets": []}),
        (InputError, {"on": "kee"}),
    ):
        with pytest.raises(error):
            rc.compare(LEFT, RIGHT, **(WHAT | usual | arguments))
