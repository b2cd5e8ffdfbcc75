"""The examples with a session of their own run in that of all tests."""

import pytest

from tests.examples import run_notebook, run_script

pytestmark = pytest.mark.spark


@pytest.fixture(autouse=True)
def session(spark, monkeypatch):
    monkeypatch.setattr("recollect.spark.session", lambda *_, **__: spark)


def test_script(tmp_path, monkeypatch, capsys):
    run_script("spark_stream.py", tmp_path, monkeypatch)
    said = capsys.readouterr().out
    assert "batch 0, rows_in 10,000" in said
    assert "98,004 of 121,192 exact results (80.9%)" in said


def test_notebook(tmp_path, monkeypatch):
    variables = run_notebook("spark_streaming_join.ipynb", tmp_path, monkeypatch)
    assert 0.7 < variables["found"].recall < 0.95
    assert variables["found"].foreign == 0
