"""The examples that need no Spark; the others are in tests/spark/test_examples_on_spark.py."""

import pytest

from tests.examples import EXAMPLES, run_notebook, run_script

SAYS = {
    "join_files.py": "749,360 of 854,208 results (87.7%)",
    "choose_policy_and_budget.py": "prob    40%   96.3% <-- enough, with the least memory",
    "join_online.py": "after 5 batches: 113,822 results, saved and loaded",
    "enrich_from_database.py": "of the orders needed no query",
    "flights_in_the_air.py": "Report: flights.html",
}


@pytest.mark.compiled
@pytest.mark.parametrize("name", SAYS)
def test_script(name, tmp_path, monkeypatch, capsys):
    run_script(name, tmp_path, monkeypatch)
    assert SAYS[name] in capsys.readouterr().out


@pytest.mark.compiled
def test_notebook(tmp_path, monkeypatch):
    variables = run_notebook("policies_and_budgets.ipynb", tmp_path, monkeypatch)
    assert variables["recall"].loc["prob"].is_monotonic_increasing
    assert variables["best"].recall > max(run.recall for run in variables["runs"])
    assert variables["answer"].stats.recall == variables["recall"].loc["prob", "20%"]


def test_no_example_is_forgotten():
    on_spark = {"spark_stream.py", "spark_streaming_join.ipynb"}
    there = {path.name for ending in ("py", "ipynb") for path in EXAMPLES.glob(f"*.{ending}")}
    assert there == {*SAYS, *on_spark, "policies_and_budgets.ipynb"}
