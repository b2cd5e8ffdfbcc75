"""What a workload of a paper is: streams, what is asked of them, and where it comes from."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from recollect.streams.generator import Generator

Stream: TypeAlias = Generator | pa.Table
Folder: TypeAlias = str | os.PathLike[str] | None
"""Where real data are; None for the folder that the environment names."""


@dataclass(frozen=True)
class Workload:
    """Streams and a query over them, made by :func:`recollect_papers.catalogue.load`.

    Parameters
    ----------
    streams
        The streams by name, in the order in which the query takes them. A generator holds the law
        it draws from in its parameters. A self-join has the same stream twice.
    query
        The words of the query, as the function for it takes them: :func:`recollect.join` for a
        join (``on``, ``time``, ``window``, ``where``).
    facts
        What else the paper says of the experiment; ``chosen`` names what it leaves open.
    name, paper, about
        What the workload is called, which paper and section it is from, and what it is.
    """

    streams: Mapping[str, Stream]
    query: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    paper: str = ""
    about: str = ""

    def head(self, tuples: int) -> "Workload":
        """Return the workload with only the first tuples of each stream that is a table."""
        return replace(
            self,
            streams={
                name: stream.slice(0, tuples) if isinstance(stream, pa.Table) else stream
                for name, stream in self.streams.items()
            },
        )


Make: TypeAlias = Callable[..., Workload]


@dataclass(frozen=True)
class Recipe:
    """How to make a workload.

    Parameters
    ----------
    paper
        Paper and section.
    tuples
        Length of the streams in the paper, or ours where it says none; None if they are real.
    make
        Called with ``tuples`` and ``seed``, or with the folder of the data if they are real.
    """

    paper: str
    tuples: int | None
    make: Make

    @property
    def about(self) -> str:
        """What the workload is, in a sentence."""
        return (self.make.__doc__ or "").partition("\n")[0].rstrip(".")


class Recipes(dict[str, Recipe]):
    """The recipes of one paper, by name; each is a function with a docstring.

    Parameters
    ----------
    paper
        What the paper is called for short.

    Examples
    --------
    >>> recipes = Recipes("a paper")
    >>> @recipes.generated("nothing", "§1", tuples=0)
    ... def nothing(tuples, seed):
    ...     "No streams at all."
    ...     return Workload({})
    >>> recipes["nothing"].paper, recipes["nothing"].about
    ('a paper §1', 'No streams at all')
    """

    def __init__(self, paper: str) -> None:
        super().__init__()
        self.paper = paper

    def generated(self, name: str, section: str, tuples: int) -> Callable[[Make], Make]:
        """Return a decorator for a function that is called with ``tuples`` and ``seed``."""
        return self._add(name, section, tuples)

    def real(self, name: str, section: str) -> Callable[[Make], Make]:
        """Return a decorator for a function that is called with the folder of the data."""
        return self._add(name, section, None)

    def _add(self, name: str, section: str, tuples: int | None) -> Callable[[Make], Make]:
        def add(make: Make) -> Make:
            self[name] = Recipe(f"{self.paper} {section}", tuples, make)
            return make

        return add


def seeds(seed: int, count: int) -> list[int]:
    """Return seeds for the streams of a workload, different ones for every seed of the workload.

    Parameters
    ----------
    seed
        The seed of the workload.
    count
        How many streams there are.

    Examples
    --------
    >>> len({*seeds(0, 2), *seeds(1, 2)})
    4
    """
    return np.random.SeedSequence(seed).generate_state(count).tolist()
