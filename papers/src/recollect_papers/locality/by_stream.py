"""Claims that hold for some streams and not for others."""

from collections.abc import Mapping

from recollect_papers.experiment import Rows
from recollect_papers.replication import Finding


def streams_of(rows: Rows) -> list[str]:
    """Return the streams of a table in its order.

    >>> streams_of([{"stream": "b"}, {"stream": "a"}, {"stream": "b"}])
    ['b', 'a']
    """
    return list(dict.fromkeys(row["stream"] for row in rows))


def percent(share: float) -> str:
    """Write a share in whole per cent.

    >>> percent(0.127)
    '13 %'
    """
    return f"{100 * share:.0f} %"


def by_stream(claim: str, holds: Mapping[str, bool], measured: str, why: str) -> Finding:
    """Say whether a claim holds for all streams, for some, or for none.

    Parameters
    ----------
    claim
        What the paper says, in a sentence.
    holds
        Whether we saw it, by stream.
    measured
        What we saw, with figures.
    why
        What is special about the streams where it does not hold; goes on after a colon.

    Examples
    --------
    >>> by_stream("It rains.", {"today": True, "yesterday": False}, "5 mm, 0 mm.", "June.").verdict
    'partly'
    """
    kept = [stream for stream, held in holds.items() if held]
    if len(kept) == len(holds):
        return Finding(claim, "yes", measured)
    if not kept:
        return Finding(claim, "no", measured, why[:1].upper() + why[1:])
    broken = [stream for stream, held in holds.items() if not held]
    return Finding(claim, "partly", measured, f"Not so for {', '.join(broken)}: {why}")
