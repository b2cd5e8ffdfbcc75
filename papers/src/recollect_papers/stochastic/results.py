"""The results of one algorithm on some runs, in the setting of steps: what figures 8 to 12 show."""

from collections.abc import Mapping, Sequence

from recollect_papers.experiment import Point, Rows
from recollect_papers.stochastic.configurations import runs_of
from recollect_papers.stochastic.scores import SCORES
from recollect_papers.theory import FlowExpect, best_steps, run_steps, run_steps_together

TITLES = {"tower": "TOWER", "roof": "ROOF", "floor": "FLOOR", "walk": "WALK"}
TRENDS = ("tower", "roof", "floor")
OPT = "OPT-offline"
LOOK_AHEAD: Mapping[str, int] = {"FLOWEXPECT": 10, "FLOWEXPECT, l=1": 1}
WARM_UP = 200
"""Four times the largest cache: results of the first steps do not count."""


def points_of(
    configuration: str, steps: int, cache: int, algorithm: str, seeds: Sequence[int]
) -> list[Point]:
    """Say what is to be measured: all runs at once, or one at a time if each takes seconds."""
    alone = algorithm in LOOK_AHEAD or (algorithm == OPT and configuration == "walk")
    parts = [[seed] for seed in seeds] if alone else [list(seeds)]
    given = {"configuration": configuration, "steps": steps, "cache": cache, "algorithm": algorithm}
    return [given | {"seeds": part} for part in parts]


def measure(
    configuration: str, steps: int, cache: int, algorithm: str, seeds: Sequence[int]
) -> Rows:
    """Count the results of each run."""
    runs = runs_of(configuration, steps, seeds)
    if algorithm == OPT:
        found = [best_steps(r, s, cache, WARM_UP).results for r, s in runs.values]
    elif algorithm in LOOK_AHEAD:
        ahead = LOOK_AHEAD[algorithm]
        found = [
            run_steps(r, s, cache, FlowExpect(runs.laws, (r, s), cache, ahead), WARM_UP).results
            for r, s in runs.values
        ]
    else:
        lefts, rights = runs.values.swapaxes(0, 1)
        score = SCORES[algorithm](runs, cache)
        together = run_steps_together(lefts, rights, cache, score, WARM_UP)
        found = [run.results for run in together]
    return [
        {"configuration": TITLES[configuration], "cache": cache, "algorithm": algorithm}
        | {"seed": seed, "results": results}
        for seed, results in zip(seeds, found, strict=True)
    ]
