"""The page on streams is complete."""

from pathlib import Path

from recollect import streams

PAGE = (Path(__file__).parents[2] / "docs" / "streams.md").read_text()


def test_every_generator_is_listed():
    names = [name for name in streams.__all__ if name.endswith(("Stream", "Intervals"))]
    assert len(names) == 5
    assert all(f"`{name}" in PAGE for name in names)
