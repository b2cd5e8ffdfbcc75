"""Algorithms against each other in the same runs, since runs of WALK differ so much."""

from math import sqrt

from recollect_papers.experiment import Row, Rows


def with_share(rows: Rows, base: str, column: str) -> Rows:
    """Add what each algorithm has by what another one has in the same run.

    >>> run = {"configuration": "TOWER", "cache": 10, "seed": 1}
    >>> found = {"HEEB": 40, "RAND": 30}
    >>> rows = [run | {"algorithm": name, "results": found[name]} for name in found]
    >>> [row["of_heeb"] for row in with_share(rows, "HEEB", "of_heeb")]
    [1.0, 0.75]
    """
    others = {_run(row): row["results"] for row in rows if row["algorithm"] == base}
    return [{**row, column: row["results"] / max(1, others[_run(row)])} for row in rows]


def _run(row: Row) -> tuple[str, int, int]:
    return row["configuration"], row["cache"], row["seed"]


def against_heeb(row: Row) -> int:
    """Tell whether an algorithm is better than HEEB (1), worse (-1) or about as good (0).

    Better or worse is what lies two standard errors of the mean over the runs away.
    """
    error = 2 * row["of_heeb_std"] / sqrt(row["runs"])
    return int(row["of_heeb"] - 1 > error) - int(1 - row["of_heeb"] > error)
