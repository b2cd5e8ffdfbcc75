"""The workloads of the five papers by name, and the real data that stand beside them.

>>> from recollect_papers import catalogue
>>> tower = catalogue.load("tower", tuples=1_000, seed=7)
>>> tower.paper, tower.about
('stochastic §8', 'TOWER: two linear trends with narrow normal noise')
>>> tower.streams["R"]
TrendStream(tuples=1000, slope=1.0, lag=1, deviation=1.0, bound=10, seed=2083679832)
>>> import recollect
>>> answer = recollect.join(*tower.streams.values(), **tower.query, budget=10, policy="clock")
>>> answer.stats.tuples_in
2000
"""

from collections.abc import Mapping
from dataclasses import replace

from recollect.errors import InputError
from recollect.streams.checks import require_whole
from recollect_papers.catalogue.caches import CACHES
from recollect_papers.catalogue.clock import CLOCK
from recollect_papers.catalogue.greedydual import GREEDYDUAL
from recollect_papers.catalogue.locality import LOCALITY
from recollect_papers.catalogue.stochastic import STOCHASTIC
from recollect_papers.catalogue.temporal import TEMPORAL
from recollect_papers.catalogue.workload import Folder, Recipe, Workload

RECIPES: Mapping[str, Recipe] = {
    **GREEDYDUAL, **LOCALITY, **STOCHASTIC, **TEMPORAL, **CLOCK, **CACHES,
}  # fmt: skip


def names(paper: str | None = None) -> list[str]:
    """Return the names of the workloads.

    Parameters
    ----------
    paper
        Only those of one paper: gdj, locality, stochastic, temporal or clock.

    Examples
    --------
    >>> names("temporal")
    ['ds1', 'ds2', 'flights', 'trips']
    """
    if paper is None:
        return list(RECIPES)
    papers = dict.fromkeys(recipe.paper.split()[0] for recipe in RECIPES.values())
    if paper not in papers:
        raise InputError(f"unknown paper {paper!r}; known are {', '.join(papers)}")
    return [name for name, recipe in RECIPES.items() if recipe.paper.split()[0] == paper]


def load(name: str, *, tuples: int | None = None, seed: int = 0, data: Folder = None) -> Workload:
    """Return a workload: its streams, its query and what else the paper says about it.

    Generated streams are made while they are read; real ones are read into memory.

    Parameters
    ----------
    name
        One of :func:`names`.
    tuples
        Length of every stream; that of the paper, or all of a real stream, if left out.
    seed
        Which of the many streams of this kind; real ones are always the same.
    data
        Folder of the real data; the environment variable RECOLLECT_DATA if left out.

    Raises
    ------
    InputError
        If there is no such workload, or a file that it needs is missing.
    MissingExtraError
        If it needs a package that is missing.

    Examples
    --------
    >>> load("ds1", tuples=100).query
    {'start': 'start', 'end': 'end', 'value': 'value'}
    """
    if name not in RECIPES:
        raise InputError(f"unknown workload {name!r}; known are {', '.join(RECIPES)}")
    recipe = RECIPES[name]
    require_whole("seed", seed, least=0)
    if tuples is not None:
        require_whole("tuples", tuples, least=0)
    if recipe.tuples is None:
        made = recipe.make(data)
        if tuples is not None:
            made = made.head(tuples)
    else:
        made = recipe.make(recipe.tuples if tuples is None else tuples, seed)
    return replace(made, name=name, paper=recipe.paper, about=recipe.about)
