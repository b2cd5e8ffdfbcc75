"""What one figure or table of a paper is: what is measured, how it is drawn, what it says.

>>> def points(scale):
...     return [{"budget": budget, "seed": seed} for budget in (10, 20) for seed in scale.seeds(2)]
>>> def measure(budget, seed):
...     return [{"budget": budget, "seed": seed, "recall": budget / 40}]
>>> figure_0 = Experiment(
...     name="figure-0", title="Recall over the budget", shows="More memory keeps more.",
...     points=points, measure=measure,
...     tabulate=lambda rows: mean_over_seeds(rows, ["budget"], ["recall"]),
...     figure=Figure("budget", "recall"),
...     judge=lambda rows: [agreement(
...         "More memory keeps more.", rows[0]["recall"] < rows[1]["recall"],
...         f"recall {rows[0]['recall']} and {rows[1]['recall']}")],
... )
>>> rows = [row for point in points(Scale()) for row in measure(**point)]
>>> figure_0.judge(figure_0.tabulate(rows))[0].verdict
'yes'
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from recollect.errors import InputError
from recollect_papers.figure import Figure
from recollect_papers.replication import Finding

SCALES = ("small", "full")

Point = Mapping[str, Any]
"""One piece of work, as arguments that JSON can hold."""
Row = Mapping[str, Any]
"""A line of a tidy table."""
Rows = Sequence[Row]


@dataclass(frozen=True)
class Scale:
    """How much is to be done.

    Parameters
    ----------
    name
        ``small`` for minutes, ``full`` for the sizes of the papers.
    data
        The folder of the real data; without it only generated streams are used.
    first_seed
        Where the seeds begin.
    """

    name: str = "small"
    data: str | None = None
    first_seed: int = 0

    def __post_init__(self) -> None:
        """Check the name."""
        if self.name not in SCALES:
            raise InputError(f"unknown scale {self.name!r}; known are {', '.join(SCALES)}")

    @property
    def full(self) -> bool:
        """Whether the sizes are those of the paper."""
        return self.name == "full"

    def seeds(self, count: int) -> range:
        """Return so many seeds."""
        return range(self.first_seed, self.first_seed + count)


@dataclass(frozen=True)
class Experiment:
    """A figure or table of a paper.

    Parameters
    ----------
    name
        Such as ``figure-3`` or ``table-1``; the name of its files.
    title
        Such as "Figure 3: methods and initial credit".
    shows
        What the paper shows with it, in a sentence or two.
    points
        The independent pieces of work for a scale.
    measure
        Does one of them: a function of a module, so that other processes find it, which is called
        with what is in the point and returns rows. Experiments with the same function and the same
        points share the work.
    tabulate
        Makes the table of the figure from the rows of all points.
    figure
        How the table is drawn.
    judge
        What the table says of each claim of the paper.
    """

    name: str
    title: str
    shows: str
    points: Callable[[Scale], Sequence[Point]]
    measure: Callable[..., Rows]
    tabulate: Callable[[Rows], Rows]
    figure: Figure
    judge: Callable[[Rows], Sequence[Finding]]


@dataclass(frozen=True)
class Paper:
    """A paper and its experiments.

    Parameters
    ----------
    name
        What it is called on the command line.
    title
        Authors, title, venue and year.
    experiments
        In the order of the paper.
    """

    name: str
    title: str
    experiments: Sequence[Experiment]


def mean_over_seeds(rows: Rows, by: Sequence[str], of: Sequence[str]) -> list[dict[str, Any]]:
    """Average columns over all rows that agree in others.

    The standard deviation of a column is put into another one with ``_std`` behind its name, and
    the number of rows into ``runs``.

    Examples
    --------
    >>> rows = [{"policy": "prob", "seed": seed, "recall": 0.5 + seed / 10} for seed in (0, 2)]
    >>> [mean] = mean_over_seeds(rows, ["policy"], ["recall"])
    >>> mean["policy"], round(mean["recall"], 3), round(mean["recall_std"], 3), mean["runs"]
    ('prob', 0.6, 0.141, 2)
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[column] for column in by), []).append(row)
    means = []
    for values, members in groups.items():
        mean: dict[str, Any] = dict(zip(by, values, strict=True))
        for column in of:
            found = [row[column] for row in members]
            mean[column] = fmean(found)
            mean[f"{column}_std"] = stdev(found) if len(found) > 1 else 0.0
        means.append(mean | {"runs": len(members)})
    return means


def pick(rows: Rows, column: str, **where: Any) -> Any:
    """Return a column of the one row that has the given values.

    >>> pick([{"policy": "prob", "recall": 0.5}, {"policy": "fifo", "recall": 0.1}], "recall",
    ...      policy="fifo")
    0.1
    """
    [found] = [row for row in rows if all(row[name] == value for name, value in where.items())]
    return found[column]


def agreement(claim: str, holds: bool, measured: str, why: str = "") -> Finding:
    """Say whether a claim holds.

    Parameters
    ----------
    claim
        What the paper says, in a sentence.
    holds
        Whether we saw it, too.
    measured
        What we saw, with figures.
    why
        If it does not hold: the reason, or that we do not know it.
    """
    return Finding(claim, "yes" if holds else "no", measured, "" if holds else why)
