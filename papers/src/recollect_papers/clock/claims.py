"""Claims about the order of strategies, at each size of the cache of each query."""

from collections.abc import Callable, Sequence

from recollect_papers import claims
from recollect_papers.claims import verdict_of
from recollect_papers.experiment import Row, Rows
from recollect_papers.replication import Finding

LARGE = 100
"""With a cache of so many percent or more there is hardly anything to forget."""

Lines = dict[str, Row]
"""The rows of one query and one cache, by policy."""


def above(one: Row, other: Row, column: str = "recall") -> bool:
    """Whether a strategy recalls clearly more than another.

    Streams of different seeds are not equally hard, so strategies are compared by how many times
    as much they recall as LRU on the same stream.
    """
    return claims.above(one, other, f"{column}_by_lru")


def by_cache(rows: Rows, query: str) -> dict[int, Lines]:
    """Return the rows of a query, by cache and policy, without the large caches."""
    found: dict[int, Lines] = {}
    for row in rows:
        if row["query"] == query and row["cache"] < LARGE:
            found.setdefault(row["cache"], {})[row["policy"]] = row
    return found


def ahead(
    claim: str,
    rows: Rows,
    queries: Sequence[str],
    some: Sequence[str],
    others: Sequence[str],
    text: Callable[[dict[int, Lines]], str],
    why: str = "",
    column: str = "recall",
) -> Finding:
    """Judge whether some strategies recall more than others.

    They do in a query if all of them are above all the others at some size of the cache, and none
    of the others is above any of them at any size; partly, if there are sizes of both kinds.

    Parameters
    ----------
    claim
        What the paper says.
    rows
        The table.
    queries
        Those that the claim is about.
    some, others
        The strategies.
    text
        What else was measured, for a query.
    why
        Why it does not hold everywhere.
    column
        The recall that is compared.
    """
    held, parts = [], []
    for query in queries:
        caches = by_cache(rows, query)
        better, worse = counts(caches, some, others, column)
        held += [better > 0, worse == 0] if better else [False]
        parts.append(
            f"{query}: ahead at {better} of {len(caches)} cache sizes, behind at {worse},"
            f" {text(caches)}"
        )
    verdict = verdict_of(held)
    return Finding(claim, verdict, "; ".join(parts) + ".", "" if verdict == "yes" else why)


def counts(
    caches: dict[int, Lines], some: Sequence[str], others: Sequence[str], column: str
) -> tuple[int, int]:
    """At how many sizes of the cache all are above all others, and at how many any is below any."""
    pairs = [(one, other) for one in some for other in others]
    better = [
        all(above(lines[one], lines[other], column) for one, other in pairs)
        for lines in caches.values()
    ]
    worse = [
        any(above(lines[other], lines[one], column) for one, other in pairs)
        for lines in caches.values()
    ]
    return sum(better), sum(worse)


def gain(caches: dict[int, Lines], one: str, other: str, column: str = "recall") -> str:
    """Say how much more a strategy recalls than another, at best and at worst.

    >>> caches = {5: {"clock": {"recall": 0.3}, "lru": {"recall": 0.2}},
    ...           60: {"clock": {"recall": 0.9}, "lru": {"recall": 0.9}}}
    >>> gain(caches, "clock", "lru")
    '+50 % at best (0.300 against 0.200 with a cache of 5 %) and +0 % at worst (60 %)'
    """
    more = {cache: times(lines, one, other, column) for cache, lines in caches.items()}
    best, worst = max(more, key=lambda cache: more[cache]), min(more, key=lambda cache: more[cache])
    recalls = [caches[best][policy][column] for policy in (one, other)]
    return (
        f"{round(100 * more[best] - 100):+} % at best ({recalls[0]:.3f} against {recalls[1]:.3f}"
        f" with a cache of {best} %) and {round(100 * more[worst] - 100):+} % at worst ({worst} %)"
    )


def times(lines: Lines, one: str, other: str, column: str = "recall") -> float:
    """Return how many times as much a strategy recalls as another."""
    return lines[one][column] / lines[other][column] if lines[other][column] else 1.0


def most_times(caches: dict[int, Lines], one: str, other: str, column: str = "recall") -> float:
    """Return the same for the cache where it is most."""
    return max(times(lines, one, other, column) for lines in caches.values())
