"""Generators word for word, a tuple at a time, with the random numbers handed in."""

import heapq
import math


def turns(due, pace, pauses):
    """Let whoever is due earliest have the next turn, the lower number first at equal times."""
    queue = [(time, one) for one, time in enumerate(due)]
    heapq.heapify(queue)
    had = []
    for pause in pauses:
        time, one = heapq.heappop(queue)
        had.append((one, time))
        heapq.heappush(queue, (time + pause * pace[one], one))
    return had


def arrivals(random, count, busy, quiet, busy_rate, quiet_rate):
    """Times of a Poisson process whose rate switches after exponential periods."""
    rate, length = {True: busy_rate, False: quiet_rate}, {True: busy, False: quiet}

    def exponential():
        return -math.log1p(-random.random())

    is_busy = random.random() < busy / (busy + quiet)
    clock, left = 0.0, length[is_busy] * exponential()
    times = []
    for _ in range(count):
        amount = exponential()
        while amount >= left * rate[is_busy]:
            amount -= left * rate[is_busy]
            clock += left
            is_busy = not is_busy
            left = length[is_busy] * exponential()
        clock += amount / rate[is_busy]
        left -= amount / rate[is_busy]
        times.append(clock)
    return times


def autoregressive(noise, first, coefficient, constant, unit):
    """Keys of an AR(1) process that is rounded to the unit at each step."""
    keys, key = [], first
    for shock in noise:
        key = round((coefficient * key * unit + constant + shock) / unit)
        keys.append(key)
    return keys


def random_eviction(random, left, right, budget, warm_up, lag, bounds):
    """Results of RAND on two trends: one tuple of each stream per step, one shared buffer.

    Both newcomers probe what was buffered before; tuples whose key lies behind all that the
    partner can still show go first, then any.
    """
    buffer, results = [], 0
    for time, (r, s) in enumerate(zip(left, right, strict=True)):
        found = sum(key == (s if stream == "R" else r) for stream, key in buffer)
        results += found if time >= warm_up else 0
        least = {"R": time + 1 - bounds[1], "S": time + 1 - lag - bounds[0]}
        buffer = [
            (stream, key) for stream, key in [*buffer, ("R", r), ("S", s)] if key >= least[stream]
        ]
        while len(buffer) > budget:
            buffer.pop(random.randrange(len(buffer)))
    return results
