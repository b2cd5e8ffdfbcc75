"""The page on streams is complete."""

from pathlib import Path

from recollect import streams
from recollect.streams import Generator
from recollect_papers import catalogue
from recollect_papers.catalogue import caches, clock, greedydual, locality, stochastic, temporal
from recollect_papers.data_folder import DataFile

PAGE = (Path(__file__).parents[2] / "docs" / "streams.md").read_text()


def test_every_generator_is_listed():
    kinds = [getattr(streams, name) for name in streams.__all__]
    for kind in kinds:
        if isinstance(kind, type) and issubclass(kind, Generator) and kind is not Generator:
            assert f"`{kind.__name__}" in PAGE


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
