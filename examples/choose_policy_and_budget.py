"""Which policy, and how much memory? Profile a day of data, compare, and take the cheapest.

    python examples/choose_policy_and_budget.py

The streams are generated; put a day of yours in their place. On the command line it is
``recollect compare views.parquet clicks.parquet … --html comparison.html``, with a picture.
"""

import recollect as rc
from recollect.streams import LocalityStream

WANTED = 0.9
"""The share of the exact results that is good enough."""


def main() -> None:
    """Find the smallest budget that keeps enough, and the policy for it."""
    views, clicks = (LocalityStream(50_000, keys=5_000, seed=seed) for seed in (1, 2))

    facts = rc.profile(clicks, key="key").to_dict()
    print(
        f"{facts['distinct']:,} keys, Zipf slope {facts['zipf_slope']:.2f};"
        f" {1 - facts['b']:.0%} of the tuples repeat a recent key"
    )

    query = {"on": "key", "time": "time", "window": 2_000}
    comparison = rc.compare(
        views, clicks, **query,
        policies=["fifo", "lru", "clock", "prob"], budgets=["5%", "10%", "20%", "40%"],
    )  # fmt: skip
    enough = [run for run in comparison.runs if run.recall >= WANTED]
    best = min(enough, key=lambda run: (run.budget_tuples, -run.recall))
    for run in comparison.runs:
        mark = "<-- enough, with the least memory" if run is best else ""
        print(f"{run.policy:6} {run.budget:>4} {run.recall:7.1%} {mark}".rstrip())


if __name__ == "__main__":
    main()
