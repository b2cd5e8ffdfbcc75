"""Claims that hold for some inputs only, and what findings are put together from."""

from collections.abc import Callable, Sequence

from recollect_papers.claims import verdict_of
from recollect_papers.experiment import Row, Rows
from recollect_papers.replication import Finding

UNKNOWN = "We do not know why."


def percent(share: float, places: int = 0) -> str:
    """Write down a share.

    >>> percent(0.25), percent(0.0333, 1)
    ('25 %', '3.3 %')
    """
    return f"{100 * share:.{places}f} %"


def line(rows: Rows, **where: object) -> Row:
    """Return the one row with the given values."""
    [found] = [row for row in rows if all(row[name] == value for name, value in where.items())]
    return found


def per_input(
    claim: str,
    rows: Rows,
    names: Sequence[str],
    test: Callable[[Rows], tuple[bool, str]],
    why: str = UNKNOWN,
) -> Finding:
    """Judge a claim by input: partly, if it holds for some only; open, if there are none.

    Parameters
    ----------
    claim
        What the paper says.
    rows
        The table.
    names
        The inputs that the claim is about.
    test
        Called with the rows of one input: whether the claim holds, and what was measured.
    why
        Why it does not hold everywhere.

    Examples
    --------
    >>> rows = [{"input": "weather", "recall": 0.4}]
    >>> found = per_input("Recall is high.", rows, ["weather", "stock"],
    ...                   lambda mine: (mine[0]["recall"] > 0.3, f"{mine[0]['recall']}"))
    >>> found.verdict, found.measured
    ('yes', 'weather: 0.4. Not measured: stock.')
    """
    held: dict[str, bool] = {}
    measured = []
    for name in names:
        mine = [row for row in rows if row["input"] == name]
        if mine:
            held[name], text = test(mine)
            measured.append(f"{name}: {text}")
    text = "; ".join(measured) + "." if measured else ""
    absent = [name for name in names if name not in held]
    if absent:
        text = f"{text} Not measured: {', '.join(absent)}.".strip()
    verdict = verdict_of(held.values())
    return Finding(claim, verdict, text, "" if verdict in ("yes", "open") else why)
