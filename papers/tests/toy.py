"""A paper of one experiment that takes no time."""

from pathlib import Path

from recollect_papers.experiment import Experiment, Paper, agreement, mean_over_seeds, pick
from recollect_papers.figure import Figure


def points(scale):
    return [{"budget": budget, "seed": seed} for budget in (10, 20) for seed in scale.seeds(2)]


def measure(budget, seed):
    return [{"budget": budget, "seed": seed, "recall": budget / 40 + seed / 100}]


def logged_points(scale):
    return [point | {"log": scale.data} for point in points(scale)]


def logged(budget, seed, log):
    """Leave a line behind, so that it is seen how often this was called."""
    with Path(log, "log").open("a") as file:
        file.write(f"{budget} {seed}\n")
    return measure(budget, seed)


def tabulate(rows):
    return mean_over_seeds(rows, ["budget"], ["recall"])


def judge(rows):
    few, many = (pick(rows, "recall", budget=budget) for budget in (10, 20))
    return [agreement("More memory keeps more.", few < many, f"{few:.3f} and {many:.3f}.")]


def paper(measure=measure, points=points):
    figure = Figure("budget", "recall", error="recall_std")
    shown = "Recall grows with the budget."
    return Paper(
        "toy",
        "Anybody: A Toy",
        (
            Experiment(
                "figure-1", "Figure 1: recall", shown, points, measure, tabulate, figure, judge
            ),
        ),
    )
