"""What policies gain that know, or learn, the law of the streams.

    python benchmarks/heeb.py [--runs N] [--parts configurations,hist,sample,speed]

configurations  results on the paper's TOWER, ROOF, FLOOR and WALK, 5,000 steps, a buffer of 10
hist            HIST against HEEB with narrow and wide noise (figures 13 and 14)
sample          what a sampled victim costs, in a buffer of 1,000
speed           a buffer of 10,000 under a trend, against scoring all tuples anew for each victim

Numbers are means over N runs with different seeds. What HEEB gives to each stream, and how
FLOWEXPECT does, is in figures 16 and 8 of ``recollect papers stochastic``.
"""

import argparse
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

import recollect as rc
from recollect.forecast import DiscreteLaw, Forecast, Now, Survival, Trend, Walk
from recollect.forecast.precomputed import trend_curve
from recollect.join.budget import Capacity
from recollect.join.engine import Engine
from recollect.join.kernel import FOREVER, Feed
from recollect.join.setting import Setting
from recollect.optimum import best_runs
from recollect.policies.heeb import Heeb
from recollect.streams import TrendStream
from recollect_papers import catalogue
from recollect_papers.theory.heeb_scores import joining_scores

FRESH = 10_000
"""The first seed where HIST is measured: its defaults were chosen on other streams."""

LAWS: dict[str, tuple[Forecast, Forecast]] = {
    "tower": (Trend(1, -1, DiscreteLaw.normal(1, 10)), Trend(1, 0, DiscreteLaw.normal(2, 15))),
    "roof": (Trend(1, -1, DiscreteLaw.normal(3.3, 10)), Trend(1, 0, DiscreteLaw.normal(5, 15))),
    "floor": (
        Trend(1, -1, DiscreteLaw.uniform(-10, 10)),
        Trend(1, 0, DiscreteLaw.uniform(-15, 15)),
    ),
    "walk": (Walk(DiscreteLaw.normal(1)), Walk(DiscreteLaw.normal(1))),
}


def show(head: list[str], lines: dict[str, list[Any]]) -> None:
    print("| " + " | ".join(head) + " |\n|---" + "|---:" * (len(head) - 1) + "|")
    for name, cells in lines.items():
        texts = [
            cell if isinstance(cell, str) else f"{cell:,.{0 if cell >= 10 else 2}f}"
            for cell in cells
        ]
        print(f"| {name} | " + " | ".join(texts) + " |")
    print(flush=True)


def known(name: str, **parameters: Any) -> Heeb:
    return Heeb(left=LAWS[name][0], right=LAWS[name][1], **parameters)


def results(workload: Any, budget: int, policy: Any) -> int:
    query = {**workload.query, "budget": budget, "policy": policy}
    return rc.join(*workload.streams.values(), **query).stats.results


def configurations(runs: int) -> None:
    policies: dict[str, Callable[[str], Any]] = {
        policy: lambda name, policy=policy: policy
        for policy in ("rand", "prob", "life", "clock", "hist", "heeb")
    } | {"heeb, laws known": known}
    means: dict[str, list[Any]] = {policy: [] for policy in [*policies, "opt", "heeb leads by"]}
    for name in LAWS:
        loads = [catalogue.load(name, seed=FRESH + seed) for seed in range(runs)]
        found = {
            policy: np.array([results(load, 10, of(name)) for load in loads])
            for policy, of in policies.items()
        }
        for policy, counts in found.items():
            means[policy].append(counts.mean())
        rival = max(("rand", "prob", "life"), key=lambda policy: found[policy].mean())
        lead = found["heeb"] - found[rival]
        error = lead.std(ddof=1) / np.sqrt(runs)
        means["heeb leads by"].append(f"{lead.mean():,.0f} ± {error:,.0f}")
        few = loads[: 5 if name != "walk" else 0]
        best = [
            best_runs(*load.streams.values(), **load.query, budgets=[10])[0].results for load in few
        ]
        means["opt"].append(np.mean(best) if best else "")
    show(["policy", *LAWS], means)


def hist(runs: int) -> None:
    for deviation, bound in ((1.0, 10), (8.0, 32)):
        noise = DiscreteLaw.normal(deviation, bound)
        policies = {
            "rand": "rand",
            "heeb, laws known": Heeb(left=Trend(1, -1, noise), right=Trend(1, 0, noise)),
            "heeb": "heeb",
            "hist": "hist",
            "hist:buckets=10": "hist:buckets=10",
        }
        caches = [1, 2, 3, 5, 10, 20, 30, 40, 50]
        means: dict[str, list[float]] = {policy: [] for policy in policies}
        means["hist by heeb, laws known"] = []
        for cache in caches:
            for title, policy in policies.items():
                found = []
                for seed in range(runs):
                    streams = [
                        TrendStream(5_000, 1.0, lag, deviation, bound, seed=FRESH + 2 * seed + lag)
                        for lag in (1, 0)
                    ]
                    query = {"on": "key", "time": "time", "window": 2 * bound + 1}
                    answer = rc.join(*streams, **query, budget=cache, policy=policy)
                    found.append(answer.stats.results)
                means[title].append(np.mean(found))
            ratio = means["hist"][-1] / means["heeb, laws known"][-1]
            means["hist by heeb, laws known"].append(ratio)
        show([f"deviation {deviation:.0f}, buffer", *map(str, caches)], means)


def sample(runs: int) -> None:
    laws = Trend(1, -1, DiscreteLaw.normal(330, 1000)), Trend(1, 0, DiscreteLaw.normal(500, 1500))
    means: dict[str, list[float]] = {}
    for draws in (0, 8, 16, 32, 64, 128):
        found, seconds = [], []
        for seed in range(runs):
            streams = [
                TrendStream(20_000, 1.0, 1, 330.0, 1000, seed=2 * seed),
                TrendStream(20_000, 1.0, 0, 500.0, 1500, seed=2 * seed + 1),
            ]
            query = {"on": "key", "time": "time", "window": 2501}
            policy = Heeb(left=laws[0], right=laws[1], sample=draws)
            stats = rc.join(*streams, **query, budget=1000, policy=policy).stats
            found.append(stats.results)
            seconds.append(stats.tuples_in / stats.seconds)
        means[str(draws) if draws else "all"] = [np.mean(found), np.median(seconds)]
    show(["candidates", "results", "tuples/s"], means)


def feed_of(values: list[Any], begin: int, end: int) -> Feed:
    """Both streams over some steps, as the engine takes them: the left tuple first."""
    keys = np.stack([keys[begin:end] for keys in values], axis=1).reshape(-1, 1).astype(np.int64)
    count = len(keys)
    times = np.repeat(np.arange(begin, end), 2)
    return Feed(
        order=np.arange(count),
        stream=np.tile(np.arange(2, dtype=np.int32), end - begin),
        time=times,
        moment=times,
        expires=np.full(count, FOREVER),
        keys=keys,
        present=np.ones((count, 1), np.uint8),
        row=np.zeros(count, np.int64),
        size=np.zeros(0, np.int64),
        extra=np.zeros((count, 0), np.int64),
    )


def speed(_: int) -> None:
    """Fill a buffer of 10,000, then let the engine and numpy choose the next victims."""
    capacity, alpha, filled = 10_000, 100.0, 6_000
    laws = (
        Trend(1, -1, DiscreteLaw.normal(4_000, 12_000)),
        Trend(1, 0, DiscreteLaw.normal(5_000, 15_000)),
    )
    rates: dict[str, list[Any]] = {}
    for way, steps in (("the sum over all Δ", 4), ("the curve", 400)):
        total = filled + 40_000
        values = [law.sample(total, side) for side, law in enumerate(laws)]
        policy = Heeb(left=laws[0], right=laws[1], alpha=alpha)
        engine = Engine(policy, Setting.of(), Capacity((capacity,)))
        engine.count(feed_of(values, 0, filled))
        slots = np.concatenate([engine.rows_of(stream)[0] for stream in (0, 1)])
        buffer = [engine.storage.slots[name][slots] for name in ("stream", "serial")]
        started = perf_counter()
        kept = rescored(buffer, values, laws, alpha, filled, steps, way == "the curve")
        naive = 2 * steps / (perf_counter() - started)
        engine.count(feed_of(values, filled, filled + steps))
        slots = np.concatenate([engine.rows_of(stream)[0] for stream in (0, 1)])
        same = np.array_equal(np.sort(engine.serials(slots)), np.sort(kept))
        rest = feed_of(values, filled + steps, total)
        started = perf_counter()
        engine.count(rest)
        fast = 2 * (total - filled - steps) / (perf_counter() - started)
        rates[way] = [naive, fast, fast / naive, f"{same}"]
    show(["all tuples scored anew by", "tuples/s", "heeb", "times faster", "same victims"], rates)


def rescored(
    buffer: list[Any],
    values: list[Any],
    laws: Any,
    alpha: float,
    begin: int,
    steps: int,
    curve: bool,
) -> Any:
    """Join on, scoring all buffered tuples for each victim; return the serials of those kept."""
    survival = Survival("exp", alpha)
    curves = [trend_curve(law, survival) for law in laws]
    stream, serial = (column.astype(np.int64) for column in buffer)
    value = np.array(
        [values[side][(number - 1) // 2] for side, number in zip(stream, serial, strict=True)]
    )
    for step in range(begin, begin + steps):
        for side in (0, 1):
            stream, serial = np.append(stream, side), np.append(serial, 2 * step + side + 1)
            value = np.append(value, values[side][step])
            scores = np.empty(len(value))
            for partner in (0, 1):
                # The left tuple of a step comes before the right one.
                now = step if partner <= side else step - 1
                ours = stream == 1 - partner
                law = laws[partner]
                if curve:
                    line = law.slope * now + law.intercept
                    scores[ours] = curves[partner].at(value[ours] - line)
                else:
                    at = Now(now, values[partner][now : now + 1])
                    scores[ours] = joining_scores(law, value[ours], at, survival)
            victim = np.argmin(scores)
            stream, serial, value = (
                np.delete(column, victim) for column in (stream, serial, value)
            )
    return serial


PARTS = {"configurations": configurations, "hist": hist, "sample": sample, "speed": speed}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--parts", default=",".join(PARTS))
    arguments = parser.parse_args()
    for part in arguments.parts.split(","):
        PARTS[part](arguments.runs)


if __name__ == "__main__":
    main()
