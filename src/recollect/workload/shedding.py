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
(in :mod:`recollect.join.kernel`, after what is no longer alive has left). It is then a system
of B servers under a load of B, which loses about 0.8/√B of the survivors (Erlang's formula), and
less as p is nearer to 0.

References
----------
GreedyDual-Join paper, sections 4.2 and 5.4.
"""

from collections.abc import Sequence

import numpy as np

from recollect.errors import InputError
from recollect.join.kernel import FOREVER, Feed
from recollect.join.query import Bound
from recollect.join.window import COUNT
from recollect.workload.declaration import RATE


def rate_to_fit(budget: int, alive: np.ndarray) -> np.ndarray:
    """The probability of being dropped that lets what is left fit a budget: 1 − B/(λW).

    >>> rate_to_fit(1_000, np.array([900.0, 2_000.0, 10_000.0])).round(3)
    array([0. , 0.5, 0.9])
    """
    return 1 - budget / np.maximum(alive, budget)


class Shedder:
    """Draws which arrivals are kept.

    Parameters
    ----------
    bound
        The streams and joins.
    shed
        By stream: the probability of being dropped, or ``"rate"``.
    pools, capacity
        By stream its part of the budget, and by part what it may hold; ``"rate"`` depends on them.
    seed
        The same seed drops the same arrivals, however they are cut into pieces.
    """

    def __init__(
        self,
        bound: Bound,
        shed: Sequence[float | str],
        pools: Sequence[int],
        capacity: Sequence[int],
        seed: int,
    ) -> None:
        self._bound, self._shed = bound, tuple(shed)
        self._pools, self._capacity = tuple(pools), tuple(capacity)
        self._draws = np.random.default_rng(seed)
        self._first: int | None = None
        count = len(self._shed)
        self._count = np.zeros(count, np.int64)
        self._length = np.zeros(count)
        self.dropped = 0

    def kept(self, feed: Feed) -> Feed:
        """The same arrivals, of which those that are dropped take part in nothing."""
        if not any(self._shed) or not len(feed.order):
            return feed
        order = feed.order
        stream = feed.stream[order]
        dropping = np.zeros(len(order))
        alive = self._alive(feed) if RATE in self._shed else np.zeros((len(self._shed), 0))
        for number, probability in enumerate(self._shed):
            mine = stream == number
            if probability != RATE:
                dropping[mine] = probability
                continue
            pool = self._pools[number]
            together = [other for other, its in enumerate(self._pools) if its == pool]
            dropping[mine] = rate_to_fit(self._capacity[pool], alive[together].sum(axis=0)[mine])
        staying = self._draws.random(len(order)) >= dropping
        self.dropped += len(order) - int(staying.sum())
        present = feed.present.copy()
        present[order[~staying]] = 0
        return feed._replace(present=present)

    def _alive(self, feed: Feed) -> np.ndarray:
        """By stream and arrival: how many of its tuples would be alive, at the rate so far."""
        order = feed.order
        stream, time = feed.stream[order], feed.time[order]
        if self._first is None:
            self._first = int(time[0])
        elapsed = np.maximum(time - self._first, 1).astype(np.float64)
        alive = np.zeros((len(self._shed), len(order)))
        for number, its in enumerate(self._bound.streams):
            mine = stream == number
            count = self._count[number] + np.cumsum(mine)
            length = self._lengths(feed, order, number)
            if its.window is not None and its.window.kind == COUNT:
                alive[number] = np.minimum(count, its.span)
            else:
                total = self._length[number] + np.cumsum(np.where(mine, length, 0.0))
                alive[number] = np.maximum(count - 1, 0) / elapsed * (total / np.maximum(count, 1))
                self._length[number] = total[-1]
            self._count[number] = count[-1]
        return alive

    def _lengths(self, feed: Feed, order: np.ndarray, number: int) -> np.ndarray:
        """How long each tuple may match, in units of time."""
        mine = feed.stream[order] == number
        forever = mine & (feed.expires[order] == FOREVER)
        if forever.any() and RATE in self._sharing(number):
            raise InputError(
                f"stream {self._bound.streams[self._by_rate_with(number)].name} cannot be shed by"
                f" rate: tuples of {self._bound.streams[number].name} never expire; give a"
                " probability"
            )
        length = (feed.expires[order] - feed.time[order]).astype(np.float64)
        # Of a validity [start, end) the end is not included.
        return length if self._bound.streams[number].window is not None else length + 1

    def _sharing(self, number: int) -> list[float | str]:
        """The shedding of the streams that share a part of the budget with one."""
        pool = self._pools[number]
        return [shed for shed, its in zip(self._shed, self._pools, strict=True) if its == pool]

    def _by_rate_with(self, number: int) -> int:
        pool = self._pools[number]
        return next(
            other
            for other, shed in enumerate(self._shed)
            if shed == RATE and self._pools[other] == pool
        )
