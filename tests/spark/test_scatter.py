"""Any work is spread over the cluster, and comes back in order."""

import pytest

from papers.tests import toy
from recollect.spark.scatter import scatter
from recollect_papers.places import OnSpark, Task

pytestmark = pytest.mark.spark


def test_results_come_back_in_order(spark):
    assert scatter(spark, lambda item: item * 2, ["a", 3, [None]]) == ["aa", 6, [None, None]]
    assert scatter(spark, len, []) == []


def test_points_of_an_experiment(spark):
    tasks = [Task(toy.measure, {"budget": budget, "seed": 1}) for budget in range(20)]
    assert list(OnSpark(spark).results(tasks)) == [
        (number, task()) for number, task in enumerate(tasks)
    ]
