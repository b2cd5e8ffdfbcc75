"""What the pages for newcomers show must run."""

import re
import sys
from pathlib import Path

import pytest

from tests.checks import ALL_CHECKS

ROOT = Path(__file__).parents[1]


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


@pytest.fixture(scope="module")
def laziest(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("policy")
    (folder / "laziest.py").write_text(blocks("CONTRIBUTING.md")[0])
    sys.path.insert(0, str(folder))
    yield "laziest:Laziest"
    sys.path.remove(str(folder))


@pytest.mark.parametrize("check", ALL_CHECKS, ids=lambda check: check.__name__)
def test_the_policy_of_the_contributing_page_passes_all_checks(laziest, check):
    check(laziest)


def test_readme_examples_run(tmp_path, monkeypatch):
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.chdir(tmp_path)
    stamps = pa.array(range(20), pa.timestamp("s"))
    for name in ("trades", "quotes"):
        pq.write_table(pa.table({"ts": stamps, "symbol": ["a", "b"] * 10}), f"{name}.parquet")
    whole, online, _on_spark = blocks("README.md")
    names: dict = {}
    exec(whole, names)
    assert names["answer"].stats.recall == 1
    assert names["answer"].table.num_rows == names["answer"].stats.exact_results > 0
    batch = pq.read_table("trades.parquet").to_batches()[0]
    names["incoming"] = [(batch, batch)]
    exec(online, names)
    assert names["join"].stats.results > 0
    assert isinstance(names["state"], bytes)
