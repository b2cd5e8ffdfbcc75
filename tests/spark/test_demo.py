"""The demo goes all the way: streams, profile, policies, the join on Spark, quality, one page."""

import re
import sys

import pytest

from recollect.cli.demo import demo
from recollect.spark.pipeline import read_config
from tests.cli.command import call

pytestmark = pytest.mark.spark


class Borrowed:
    """The session of all tests, which must not be stopped."""

    def __init__(self, spark):
        self.__dict__ = {"spark": spark}

    def __getattr__(self, name):
        return getattr(self.spark, name)

    def stop(self):
        pass


def test_one_line_per_stage_and_three_numbers(spark, tmp_path, monkeypatch, capsys):
    demo_module = sys.modules[demo.__module__]
    monkeypatch.setattr(demo_module, "TUPLES", 6_000)
    monkeypatch.setattr(demo_module, "BATCHES", 1)
    monkeypatch.setattr(demo_module, "_session", lambda _: Borrowed(spark))
    (tmp_path / "demo" / "streams").mkdir(parents=True)
    (tmp_path / "demo" / "streams" / "left").write_text("of an earlier demo")
    outcome = call(
        tmp_path, "demo", "--out", str(tmp_path / "demo"), patch=monkeypatch, capture=capsys
    )
    assert outcome.code == 0, outcome.err
    stages = re.findall(r"^(\w+): .* in [\d,.]+ s$", outcome.err, re.MULTILINE)
    asked = ["generate", "ingest", "profile", "compare", "join", "quality", "report"]
    assert stages == asked
    assert outcome.err.count("\n") == len(asked)
    memory, kept, otherwise = (
        float(re.search(rf"^{name} +([\d.]+)%", outcome.out, re.MULTILINE)[1])
        for name in ("memory", "kept", "otherwise")
    )
    assert 18 < memory < 22
    assert otherwise < kept < 100
    page = (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")
    headings = re.findall("<h2>(.*?)</h2>", page)
    assert {"Recall over time", "Policies by memory budget", "The streams"} <= {*headings}
    config = read_config(tmp_path / "demo" / "pipeline.toml")
    assert config.join.policy == "prob"
    assert config.compare.budgets == ("5%", "10%", "20%", "40%")
