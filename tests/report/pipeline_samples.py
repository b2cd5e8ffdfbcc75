"""Made-up pipeline runs for the tests of the reports."""

import random
from typing import Any

EXACT = 21_995_622


def batch(number: int, **more: Any) -> dict[str, Any]:
    """Return a record as the listener makes it, of a join that fills up and then forgets."""
    noise = random.Random(number)
    full = min(1.0, (number + 1) / 5)
    return {
        "query_id": "q",
        "join": "ads",
        "batch": number,
        "duration_ms": round(1000 * noise.uniform(1.4, 2.4)) + (3000 if number == 0 else 0),
        "rows_in": 100_000,
        "results": noise.randrange(400_000, 600_000),
        "evicted": round(70_000 * full * noise.uniform(0.9, 1.1)) if number > 3 else 0,
        "refused": noise.randrange(4_000, 6_000) if number > 3 else 0,
        "expired": noise.randrange(12_000, 15_000) if number > 8 else 0,
        "late": noise.randrange(0, 900) if number % 7 == 3 else 0,
        "buffered": round(20_000 * full) - (noise.randrange(300) if full == 1 else 0),
        "buffered_bytes": round(1_900_000 * full * noise.uniform(0.98, 1.0)),
        **more,
    }


def run(**more: Any) -> dict[str, Any]:
    """Return the arguments of a report of a run in which everything was measured."""
    noise = random.Random(1)
    slices = []
    for minute in range(60):
        exact, recall = noise.randrange(300_000, 420_000), 0.73 + noise.uniform(-0.08, 0.08)
        label = f"2026-01-01 10:{minute:02d}:00"
        slices.append((label, exact, round(exact * recall), recall))
    keys = [(f"user-{n}", 90_000 - 900 * n, 30_000 - 200 * n, 1 / 3) for n in range(50)]
    return {
        "title": "Advertisement clicks ⋈ impressions",
        "facts": {
            "Left source": "data/clicks/*.parquet", "Right source": "data/impressions",
            "Join key": "ad_id", "Window": "10 minutes", "Budget": 20_000, "Policy": "clock",
            "Shards": 4, "Master": "local[2]",
        },
        "batches": [batch(number) for number in range(40)],
        "quality": {
            "recall": 0.731, "exact_results": EXACT, "results": round(0.731 * EXACT), "foreign": 0,
        },
        "by_slice": slices,
        "by_key": keys,
        "budget_tuples": 20_000,
        **more,
    }  # fmt: skip
