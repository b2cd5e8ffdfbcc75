"""What the pages of the documentation show must run, and the site must build."""

import importlib
import re
from collections import Counter

import pytest

from recollect.lookup import cache_policy_names
from recollect.policies import policy_names
from tests.page_files import names_of, write_files
from tests.pages import ROOT, blocks, in_folder, pages, run_page, uses_spark

NOT_RUN = {
    "README.md": 1,  # make demo, make test
    "docs/index.md": 1,  # installs
    "docs/papers/package.md": 1,  # installs
    "docs/pipeline.md": 1,  # minutes on Spark
    "docs/spark.md": 1,  # a cluster
    "docs/tutorial.md": 1,  # installs
}
"""How many blocks of which pages are not run; each says why."""


@pytest.mark.compiled
@pytest.mark.parametrize("page", [page for page in pages() if not uses_spark(page)])
def test_every_block_runs(page, tmp_path):
    """Those of other pages are run in ``tests/spark/test_pages.py``."""
    write_files(tmp_path)
    with in_folder(tmp_path):
        for _ in run_page(page, names_of(page), {}):
            pass


def test_few_blocks_are_not_run():
    found = [block for page in pages() for block in blocks(page)]
    assert Counter(block.page for block in found if block.reason is not None) == NOT_RUN
    assert sum((ROOT / page).read_text().count("\n```") for page in pages()) == 2 * len(found)


@pytest.mark.parametrize("name", sorted({*policy_names(), *cache_policy_names()}))
def test_every_policy_has_a_page(name):
    page = {"elba": "lba"}.get(name, name)
    assert f"[`{name}`](policies/{page}.md)" in (ROOT / "docs/policies.md").read_text()
    shown = (ROOT / "docs/policies" / f"{page}.md").read_text()
    for picture in ("memory", "recall"):
        assert f"(pictures/{page}-{picture}.svg)" in shown


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as ``make docs`` does: a warning is an error."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder)))
    return folder


@pytest.mark.xdist_group("site")
@pytest.mark.parametrize("room", ["", "spark", "streams", "forecast", "optimum", "workload"])
def test_the_reference_is_complete(site, room):
    module = importlib.import_module(f"recollect.{room}".rstrip("."))
    pages = [site / "reference" / f"{room or 'recollect'}.html"]
    if not room:
        pages += [site / "reference" / f"{name}.html" for name in ("policies", "errors")]
    described = "".join(page.read_text(encoding="utf-8") for page in pages)
    names = set(re.findall(r'<h\d id="[\w.]*?(\w+)"', described))
    assert set(module.__all__) <= names


@pytest.mark.xdist_group("site")
@pytest.mark.parametrize("room", ["streams", "theory"])
def test_the_reference_of_the_papers_is_complete(site, room):
    described = (site / "reference" / "papers.html").read_text(encoding="utf-8")
    names = set(re.findall(r'<h\d id="[\w.]*?(\w+)"', described))
    assert set(importlib.import_module(f"recollect_papers.{room}").__all__) <= names


@pytest.mark.xdist_group("site")
def test_the_site_loads_nothing_from_elsewhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="(?:https?:)?//[^"]*', text)


@pytest.mark.xdist_group("site")
def test_formulas_are_formulas(site):
    assert "<math" in (site / "policies" / "heeb.html").read_text(encoding="utf-8")
