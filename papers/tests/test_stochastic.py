"""Stochastic streams: what of its figures holds on seeds of its own, and that judges can say no."""

import numpy as np
import pytest

from recollect.forecast import Now, Survival, Walk
from recollect.forecast.survival import alpha_for_lifetime
from recollect_papers.experiment import Scale
from recollect_papers.registry import PAPERS
from recollect_papers.stochastic import (
    figure_6,
    figure_8,
    figure_9,
    figure_13,
    figure_15,
    figure_16,
    results,
    scores,
)
from recollect_papers.stochastic.configurations import runs_of
from recollect_papers.stochastic.results import OPT
from recollect_papers.theory.heeb_scores import joining_scores
from recollect_papers.theory.steps import Candidates

SEEDS = tuple(range(1000, 1006))


def test_every_figure_is_there():
    assert [experiment.name for experiment in PAPERS["stochastic"].experiments] == [
        "figure-6", "figure-8", "figure-9", "figure-10", "figure-11", "figure-12",
        "figure-13-14", "figure-15", "figure-16",
    ]  # fmt: skip


def test_the_temperatures_are_looked_at_only_if_they_are_given():
    without, given = (figure_15.points(Scale(data=data)) for data in (None, "folder"))
    assert {point["workload"] for point in without} == {"ar1"}
    assert [point["data"] for point in given if point not in without] == ["folder"]


# -- the scores, against their definitions ---------------------------------------------------------


def candidates_at(runs, now):
    """All tuples of the last steps, as if all were buffered."""
    steps = np.arange(max(0, now - 30), now + 1)
    values = np.concatenate([runs.values[:, side, steps] for side in (0, 1)], axis=1)
    streams = np.repeat([0, 1], len(steps))
    shape = values.shape
    return Candidates(
        np.broadcast_to(streams, shape), values, np.broadcast_to(np.tile(steps, 2), shape)
    )


def each(candidates, worth):
    """Score tuple by tuple: ``worth`` is told the run, the partner's side and the value."""
    return np.array(
        [
            [worth(run, 1 - side, value) for side, value in zip(*line, strict=True)]
            for run, line in enumerate(zip(candidates.stream, candidates.value, strict=True))
        ]
    )


def steps_in_reach(runs, side, value, now):
    """For how many more steps a stream can show a value."""
    law = runs.laws[side]
    if isinstance(law, Walk):
        return np.inf
    return sum(law.centre(step) + law.noise.low <= value for step in range(now + 1, now + 60))


@pytest.mark.parametrize("name", ["tower", "floor", "walk"])
def test_frequencies_and_lifetimes(name):
    runs = runs_of(name, 60, SEEDS[:2])
    seen_once = {"PROB": 0, "LIFE": 0, scores.LIFE_PLUS_ONE: 1}
    algorithms = ["PROB"] if name == "walk" else list(seen_once)
    made = {algorithm: scores.SCORES[algorithm](runs, 10) for algorithm in algorithms}
    for now in range(60):  # they hear of each step
        candidates = candidates_at(runs, now)
        found = {algorithm: score(candidates, now) for algorithm, score in made.items()}
    seen = each(
        candidates, lambda run, side, value: np.count_nonzero(runs.values[run, side] == value)
    )
    left = each(candidates, lambda _, side, value: steps_in_reach(runs, side, value, 59))
    for algorithm in algorithms:
        worth = (seen + seen_once[algorithm]) * (1 if algorithm == "PROB" else left)
        assert found[algorithm].tolist() == np.where(left > 0, worth, -1).tolist()


@pytest.mark.parametrize(("name", "alpha"), [("tower", alpha_for_lifetime(12.5)), ("walk", 10)])
def test_heeb_is_the_expected_benefit(name, alpha):
    now = 40
    runs = runs_of(name, now + 1, SEEDS[:2])
    candidates = candidates_at(runs, now)
    found = scores.heeb(runs, 10)(candidates, now)
    for run in range(2):
        for side in (0, 1):
            mine = candidates.stream[run] == 1 - side
            at = Now(now, runs.values[run, side])
            values = candidates.value[run, mine]
            expected = joining_scores(runs.laws[side], values, at, Survival("exp", alpha))
            assert found[run, mine] == pytest.approx(expected, abs=1e-9)


# -- what holds, on streams that nothing was tuned on ----------------------------------------------


def total(configuration, algorithm, cache=10, steps=1_000, seeds=SEEDS):
    rows = results.measure(configuration, steps, cache, algorithm, seeds)
    return sum(row["results"] for row in rows)


def test_towers_and_roofs():
    for name, gain in (("tower", 1.3), ("roof", 1.35)):
        heeb, rand, prob, life, plus = (
            total(name, algorithm)
            for algorithm in ("HEEB", "RAND", "PROB", "LIFE", scores.LIFE_PLUS_ONE)
        )
        assert heeb > gain * rand
        assert rand > 1.15 * max(prob, life)
        assert plus > 1.3 * prob
    assert total("tower", "HEEB") == pytest.approx(total("tower", OPT), rel=0.01)
    assert total("roof", "HEEB") < 0.85 * total("roof", OPT)


def test_floors():
    heeb, rand, best = (total("floor", algorithm) for algorithm in ("HEEB", "RAND", OPT))
    assert 1.03 * rand < heeb < 0.6 * best
    assert total("floor", scores.LIFETIME_HEEB) > 1.01 * heeb


def test_walks():
    heeb, rand, best = (total("walk", algorithm) for algorithm in ("HEEB", "RAND", OPT))
    assert 1.5 * rand < heeb < 0.6 * best


def test_more_memory_closes_the_gap():
    shares = [total("roof", "HEEB", cache) / total("roof", OPT, cache) for cache in (5, 10, 30)]
    assert shares == sorted(shares)
    assert shares[-1] > 0.99


def test_looking_ahead():
    one, ten, best = (
        total("roof", algorithm, steps=500, seeds=SEEDS[:1])
        for algorithm in (figure_8.ONE_STEP, figure_8.FLOWEXPECT, OPT)
    )
    assert one < ten < best


def test_hist_is_between_rand_and_heeb():
    rows = figure_13.tabulate(figure_13.measure(8, 3_000, SEEDS[:2]))
    found = {(row["policy"], row["cache"]): row["results"] for row in rows}
    for cache in (10, 20):
        assert 1.1 * found["RAND", cache] < found["HIST", cache] < found["HEEB", cache]
        assert found["HIST", cache] > 0.75 * found["HEEB", cache]


def test_heeb_leads_on_streams_that_follow_its_model():
    rows = figure_15.tabulate(
        [row for seed in SEEDS[:2] for row in figure_15.measure("ar1", None, seed, [100], 1)]
    )
    hits = {row["algorithm"]: row["hits"] for row in rows}
    assert 1.2 * hits["LRU"] < hits["HEEB"] < hits["LFD"]
    assert 1.04 * hits["LFU"] < hits["HEEB"]


def test_memory_goes_to_the_leading_and_to_the_steadier_stream():
    share = [
        np.mean([row["share_of_R"] for row in figure_16.measure(name, 600, 10, SEEDS)])
        for name in figure_16.WORKLOADS
    ]
    assert share == sorted(share)
    assert share[2] == pytest.approx(0.5, abs=0.04)
    assert share[0] < 0.2
    assert share[4] > 0.65


# -- judges ----------------------------------------------------------------------------------------


def verdicts(judge, rows):
    return [finding.verdict for finding in judge(rows)]


def test_the_judge_of_curves():
    rows = [row for point in figure_6.points(Scale()) for row in figure_6.measure(**point)]
    assert verdicts(figure_6.judge, rows) == ["yes", "yes", "partly"]
    turned = [{**row, "distance": row["distance"] + 1} for row in rows]
    assert verdicts(figure_6.judge, turned)[0] == "no"
    mirrored = [{**row, "h": 1 - row["h"]} for row in rows]
    assert verdicts(figure_6.judge, mirrored) == ["no", "no", "no"]


def comparison(numbers, spread=0.01):
    """Rows of two runs of figure 8, by configuration and algorithm."""
    return [
        {"configuration": c, "cache": 10, "algorithm": a, "seed": seed, "results": n * factor}
        for (c, a), n in numbers.items()
        for seed, factor in ((1, 1 - spread), (2, 1 + spread))
    ]


def numbers(heeb, flow, rand, prob, life, best=1_000):
    found = {"HEEB": heeb, figure_8.FLOWEXPECT: flow, "RAND": rand, "PROB": prob, "LIFE": life}
    others = {OPT: best, figure_8.ONE_STEP: flow, scores.LIFE_PLUS_ONE: life}
    all_ = found | others | {scores.LIFETIME_HEEB: heeb}
    return {
        (c, a): n * (1 if a in ("HEEB", OPT) or c == "TOWER" else 0.9)
        for c in results.TITLES.values()
        for a, n in all_.items()
        if c != "WALK" or not a.startswith("LIFE")
    }


def test_the_judge_of_the_comparison():
    like_the_paper = numbers(heeb=400, flow=350, rand=300, prob=100, life=200)
    for c, gain in (("TOWER", 400), ("ROOF", 200), ("FLOOR", 100)):
        like_the_paper[c, "HEEB"] = like_the_paper[c, "RAND"] + gain
    rows = figure_8.tabulate(comparison(like_the_paper))
    assert set(verdicts(figure_8.judge, rows)) == {"yes"}
    upside_down = numbers(heeb=100, flow=600, rand=200, prob=400, life=300, best=500)
    rows = figure_8.tabulate(comparison(upside_down))
    assert set(verdicts(figure_8.judge, rows)) == {"no"}


def curves(**by_algorithm):
    """Rows of two runs of figures 9 to 12: results with 1, 10 and 50 tuples."""
    return figure_9.tabulate(
        [
            {"configuration": "TOWER", "algorithm": name, "cache": cache, "seed": seed}
            | {"results": number + seed}
            for name, numbers in by_algorithm.items()
            for cache, number in zip((1, 10, 50), numbers, strict=True)
            for seed in (1, 2)
        ]
    )


def test_the_judges_of_memory():
    best, slow = (300, 1_000, 1_000), (50, 400, 1_000)
    fast = curves(**{OPT: best, "HEEB": (200, 980, 1_000), "RAND": slow, "PROB": slow})
    assert verdicts(figure_9.judge_convergence, fast) == ["yes", "yes", "yes"]
    assert verdicts(figure_9.judge_floor, fast) == ["yes", "no", "yes"]
    assert verdicts(figure_9.judge_walk, fast) == ["no", "partly"]
    late = curves(**{OPT: best, "HEEB": slow, "RAND": (40, 980, 900), "PROB": slow})
    assert verdicts(figure_9.judge_convergence, late) == ["no", "no", "yes"]
    assert verdicts(figure_9.judge_floor, late) == ["no", "no", "yes"]
    assert verdicts(figure_9.judge_walk, late) == ["no", "no"]
    never = curves(**{OPT: best, "HEEB": (100, 300, 500), "RAND": (50, 200, 300)})
    assert verdicts(figure_9.judge_walk, never) == ["yes", "yes"]


def learnt(hist, heeb, rand=100):
    """Rows of figures 13 and 14 by the factors that the two sizes of noise have."""
    return [
        {"noise": noise, "policy": policy, "cache": cache, "results": n, "later": n}
        for noise, a, b in zip((figure_13.LITTLE, figure_13.MUCH), hist, heeb, strict=True)
        for policy, n in (("RAND", rand), ("HIST", a), (figure_13.MORE, a), ("HEEB", b))
        for cache in figure_13.SIZES
    ]


def test_the_judge_of_hist():
    as_in_the_paper = learnt(hist=(195, 135), heeb=(200, 150))
    assert set(verdicts(figure_13.judge, as_in_the_paper)) == {"yes"}
    worse = learnt(hist=(90, 90), heeb=(200, 250))
    assert set(verdicts(figure_13.judge, worse)) == {"no"}


def cached(stream, heeb):
    hits = {"LFD": 1_000, "RAND": 700, "LFU": 750, "LRU": 700, "HEEB": heeb}
    return [
        {"stream": stream, "algorithm": name, "cache": cache, "hits": count}
        for name, count in hits.items()
        for cache in (10, 100)
    ]


def test_the_judge_of_caches():
    model = cached(figure_15.MODEL, 900)
    assert verdicts(figure_15.judge, model) == ["open"] * 3
    assert verdicts(figure_15.judge, cached(figure_15.MELBOURNE, 900) + model) == [
        "yes",
        "yes",
        "no",
    ]
    assert verdicts(figure_15.judge, cached(figure_15.MELBOURNE, 600) + model) == ["no", "no", "no"]


def test_the_judge_of_allocation():
    def rows(shares):
        names = figure_16.WORKLOADS.values()
        return [
            {"streams": name, "cache": 10, "share_of_R": share}
            for name, share in zip(names, shares, strict=True)
        ]

    assert verdicts(figure_16.judge, rows([0.1, 0.3, 0.5, 0.6, 0.7])) == ["yes", "yes"]
    assert verdicts(figure_16.judge, rows([0.7, 0.6, 0.5, 0.3, 0.1])) == ["no", "no"]
    smaller = [row | {"cache": 2} for row in rows([0.1, 0.2, 0.5, 0.4, 0.3])]
    both = rows([0.1, 0.3, 0.5, 0.6, 0.7]) + smaller
    assert verdicts(figure_16.judge, both) == ["yes", "partly"]
