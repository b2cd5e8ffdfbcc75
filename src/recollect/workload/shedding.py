"""Load shedding: arrivals that are dropped before anything is done with them.

Each arrival of a stream is dropped with a probability p, whatever its key: what is left is a random
sample of the stream. With p = 1 − B/(λW), where λW is how many tuples of all streams that share a
buffer of B would be alive, what is left fits the buffer on average (Little's law), and the results
are an unbiased sample of how the exact results are distributed over the keys. A smaller p gives
more results, and the policy decides which.

λ is the rate that was observed so far, and W the length of the window, or the mean validity so far.
How many survivors are alive varies by chance, with a standard deviation of √(B·p). So at that p the
buffer would be full half of the time, and evict all that while. Therefore, if all streams that
share a buffer are shed by rate, every arrival that finds it full is dropped, too, whatever its key
(in :mod:`recollect.workload.kernel`, after what is no longer alive has left). It is then a system
of B servers under a load of B, which loses about 0.8/√B of the survivors (Erlang's formula), and
less as p is nearer to 0.

References
----------
GreedyDual-Join paper, sections 4.2 and 5.4.
"""

import numpy as np

from recollect.errors import InputError
from recollect.workload.declaration import RATE
from recollect.workload.division import Division
from recollect.workload.merged import LAST, Merged


def needed(merged: Merged) -> np.ndarray:
    """By stream and arrival: how many tuples of the stream would be alive, at the rate so far."""
    feed = merged.feed
    elapsed = np.maximum(feed.time - feed.time[:1], 1).astype(np.float64)
    alive = np.zeros((len(merged.streams), len(feed.time)))
    for stream, counting in enumerate(merged.shape.counting):
        mine = feed.stream == stream
        count = np.cumsum(mine)
        if counting:
            alive[stream] = np.minimum(count, merged.length[mine][:1])
        else:
            total = np.cumsum(np.where(mine, merged.length, 0.0))
            window = total / np.maximum(count, 1)
            alive[stream] = np.maximum(count - 1, 0) / elapsed * window
    return alive


def rate_to_fit(budget: int, alive: np.ndarray) -> np.ndarray:
    """The probability of being dropped that lets what is left fit a budget: 1 − B/(λW).

    >>> rate_to_fit(1_000, np.array([900.0, 2_000.0, 10_000.0])).round(3)
    array([0. , 0.5, 0.9])
    """
    return 1 - budget / np.maximum(alive, budget)


def kept(
    merged: Merged, shed: tuple[float | str, ...], division: Division, seed: int
) -> np.ndarray | None:
    """Draw which arrivals are kept; None if there is no shedding.

    Parameters
    ----------
    merged
        The input.
    shed
        By stream: the probability of being dropped, or ``"rate"``.
    division
        The budget, on which ``"rate"`` depends.
    seed
        The same seed drops the same arrivals.
    """
    if not any(shed):
        return None
    feed = merged.feed
    dropping = np.zeros(len(feed.time))
    alive = needed(merged) if RATE in shed else np.zeros((len(shed), 0))
    for stream, probability in enumerate(shed):
        mine = feed.stream == stream
        if probability != RATE:
            dropping[mine] = probability
            continue
        pool = division.pools[stream]
        together = [other for other, its in enumerate(division.pools) if its == pool]
        for other in together:
            if (merged.length[feed.stream == other] >= LAST).any():
                raise InputError(
                    f"stream {merged.streams[stream]} cannot be shed by rate: tuples of"
                    f" {merged.streams[other]} never expire; give a probability"
                )
        dropping[mine] = rate_to_fit(division.capacity[pool], alive[together].sum(axis=0)[mine])
    return np.random.default_rng(seed).random(len(dropping)) >= dropping
