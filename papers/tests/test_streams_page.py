"""The page on the streams of the papers is complete."""

from pathlib import Path

from recollect_papers import catalogue, streams
from recollect_papers.catalogue import caches, clock, greedydual, locality, stochastic, temporal
from recollect_papers.data_folder import DataFile

PAGE = (Path(__file__).parents[2] / "docs" / "papers" / "package.md").read_text()


def test_every_generator_is_listed():
    assert all(f"`{name}" in PAGE for name in streams.__all__)


def test_every_workload_is_listed():
    for name, recipe in catalogue.RECIPES.items():
        length = f"{recipe.tuples:,}" if recipe.tuples else "real"
        assert f"| `{name}` | {recipe.paper} | {recipe.about} | {length} |" in PAGE


def test_every_file_is_listed():
    modules = (caches, clock, greedydual, locality, stochastic, temporal)
    files = {v for module in modules for v in vars(module).values() if isinstance(v, DataFile)}
    assert len(files) == 9
    for file in files:
        assert f"| `{file.name}.parquet` | {', '.join(file.columns)} | {file.origin} |" in PAGE
