"""What figure 5 (b) is made of: answers of Lossy Counting for a given memory."""

import numpy as np
import pyarrow as pa

import recollect as rc
from recollect_papers.experiment import Point, Rows, Scale
from recollect_papers.locality.arrivals import (
    GENERATED,
    PAPER_TUPLES,
    arrivals,
    generated_points,
    real_points,
)

SUPPORTS = {GENERATED: 0.05, "zipf-1.1": 0.05, "trades": 0.01, "orm": 0.002}
"""That of the paper, or what a few keys of the real stream reach."""
TIMES = (1.1, 1.5, 2, 3, 4)
"""How many times the least memory for which 7/B is below the support."""
CHOSEN, BLIND = "ε for the memory", "ε = 7/B"


def points(scale: Scale) -> list[Point]:
    """Return streams with the memories to try."""
    generated = generated_points(scale, seeds=10 if scale.full else 3, tuples=PAPER_TUPLES)
    return [
        {**point, "support": SUPPORTS[point["stream"]]}
        for point in [
            *generated,
            *({**point, "stream": "zipf-1.1"} for point in generated),
            *real_points(scale, ("trades", "orm"), tuples=None),
        ]
    ]


def measure(stream: str, tuples: int | None, seed: int, data: str | None, support: float) -> Rows:
    """Count with the ε that suits the memory, and with 7/B; note what is wrongly in the answer."""
    keys = arrivals(stream, tuples, seed, data)
    table, true = pa.table({"key": keys}), np.bincount(keys)
    rows = []
    for times in TIMES:
        memory = round(7 * times / support)
        for way, words in ((CHOSEN, {"memory": memory}), (BLIND, {"epsilon": 7 / memory})):
            found = rc.count(table, "key", support, **words)
            answers = found.table["value"].to_numpy()
            wrong = int((true[answers] < support * len(keys)).sum())
            rows.append(
                {
                    "stream": stream, "memory": memory, "way": way, "epsilon": found.epsilon,
                    "entries": found.entries_peak, "answers": len(answers), "false": wrong,
                    "false_share": wrong / max(len(answers), 1),
                }
            )  # fmt: skip
    return rows
