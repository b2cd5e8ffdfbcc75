"""Made-up comparisons for the tests of the reports."""

from typing import Any

EXACT = 21_995_622
BUDGETS = ("5%", "10%", "20%", "40%")
RECALLS = {
    "rand": (0.052, 0.104, 0.207, 0.409),
    "fifo": (0.049, 0.098, 0.196, 0.391),
    "lru": (0.214, 0.331, 0.472, 0.643),
    "lfu": (0.371, 0.498, 0.611, 0.739),
    "prob": (0.486, 0.641, 0.779, 0.902),
    "life": (0.458, 0.622, 0.771, 0.909),
    "age": (0.061, 0.127, 0.251, 0.463),
    "gdj": (0.561, 0.731, 0.862, 0.951),
    "gdj:method=2": (0.543, 0.712, 0.853, 0.947),
    "clock": (0.398, 0.557, 0.709, 0.861),
    "clock-exp": (0.421, 0.588, 0.731, 0.874),
    "prob:counts=sketch": (0.471, 0.628, 0.768, 0.896),
}


def row(policy: str, budget: str, kept: float, **more: Any) -> dict[str, Any]:
    """Return a row as the command line would make it."""
    share = int(budget[:-1]) if budget.endswith("%") else 10
    return {
        "policy": policy,
        "budget": budget,
        "budget_tuples": 200 * share,
        "results": round(kept * EXACT),
        "recall": kept,
        "evicted": 1_998_000 - 181 * share,
        "refused": 17 * len(policy),
        "expired": 411 * share,
        "tuples_per_second": 9.3e6 / (len(policy) + 3) - 1e4 * share,
        **more,
    }


def comparison(
    recalls: dict[str, tuple[float, ...]] | None = None,
    budgets: tuple[str, ...] = BUDGETS,
    **more: Any,
) -> dict[str, Any]:
    """Return a comparison of twelve policies in four budgets, or of those given."""
    return {
        "title": "Advertisement clicks",
        "left": "impressions.parquet",
        "right": "clicks.parquet",
        "window": "10s",
        "on": "ad_id",
        "tuples_in": 2_000_000,
        "exact_results": EXACT,
        "mean_alive": 20_000.0,
        "seed": 7,
        "rows": [
            row(policy, budget, recall)
            for policy, values in (recalls or RECALLS).items()
            for budget, recall in zip(budgets, values, strict=True)
        ],
        **more,
    }
