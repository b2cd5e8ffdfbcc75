"""What strategies recall with caches of several sizes: what figures 3 to 5 are made of.

A cache of 10 % holds a tenth of what the exact query holds in the mean over all arrivals; the paper
does not say what its percentages refer to.
"""

from collections.abc import Callable, Sequence

from recollect_papers.clock.queries import QUERIES, SRBENCH, VISTA, prepare, sources
from recollect_papers.experiment import Point, Row, Rows, Scale, mean_over_seeds

SHARES = {SRBENCH: (5, 10, 20, 40, 60, 100, 150), VISTA: (1, 5, 15, 25, 50, 100)}
"""The caches, in percent: those of the paper's figure 5, and larger ones."""
RECALLS = ("recall", "stress_recall")
STRATEGIES = ("rand", "fifo", "lru", "clock", "clock:w0=2", "prob")


def points(policies: Sequence[str], paper_only: bool) -> Callable[[Scale], list[Point]]:
    """Return the points of some strategies, perhaps only of queries that the paper has."""

    def at(scale: Scale) -> list[Point]:
        return [
            {
                **source,
                "policies": list(policies),
                "caches": list(SHARES[QUERIES[source["query"]].like or SRBENCH]),
            }
            for source in sources(scale)
            if QUERIES[source["query"]].like or not paper_only
        ]

    return at


def measure(
    query: str,
    policies: Sequence[str],
    caches: Sequence[int],
    tuples: int | None = None,
    seed: int = 0,
    data: str | None = None,
) -> Rows:
    """Run a query with each strategy and each cache."""
    prepared = prepare(query, tuples, seed, data)
    found: list[Row] = []
    for policy in policies:
        for cache in caches:
            run = prepared.run(policy, f"{cache}%", seed=seed)
            found.append(
                {
                    "query": query,
                    "policy": policy,
                    "cache": cache,
                    "tuples": run.budget_tuples,
                    "seed": seed,
                    "recall": run.recall,
                    "stress_recall": run.stress_recall,
                }
            )
    return found


def tabulate(rows: Rows) -> Rows:
    """Average over the seeds, also how many times as much as LRU a strategy recalls.

    >>> rows = [{"query": "wind", "policy": policy, "cache": 5, "tuples": 9, "seed": 0,
    ...          "recall": recall, "stress_recall": 0.0}
    ...         for policy, recall in (("lru", 0.2), ("clock", 0.4))]
    >>> [(row["policy"], row["recall_by_lru"], row["stress_recall_by_lru"])
    ...  for row in tabulate(rows)]
    [('lru', 1.0, 1.0), ('clock', 2.0, 1.0)]
    """
    lru = {(row["query"], row["cache"], row["seed"]): row for row in rows if row["policy"] == "lru"}
    compared = [
        {**row, **_by_lru(row, lru[row["query"], row["cache"], row["seed"]])} for row in rows
    ]
    columns = ["tuples", *RECALLS, *(f"{column}_by_lru" for column in RECALLS)]
    return mean_over_seeds(compared, ["query", "policy", "cache"], columns)


def _by_lru(row: Row, lru: Row) -> Row:
    return {
        f"{column}_by_lru": row[column] / lru[column] if lru[column] else 1.0 for column in RECALLS
    }
