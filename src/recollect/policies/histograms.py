"""Histograms of what tuples brought, by their distance from where some stream was: for HIST.

Each line is a histogram of a few buckets. From time to time old observations lose weight, the two
neighbours that differ least become one, and the bucket with the largest sum of squared deviations
becomes two. What a tuple at some distance is worth is the mean of the results divided by the mean
of the lifetimes there, interpolated between the middles of the buckets. Where no tuple ever came it
is worth nothing: most are there because the stream has passed them, and will not meet it again.

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, section 6.2.
"""

from typing import NamedTuple

import numpy as np

from recollect.compiled import inlined
from recollect.policies.base import Array
from recollect.policies.search.tournament import NOBODY

WEIGHT, RESULTS, SQUARES, LIFETIME = range(4)


class Histograms(NamedTuple):
    """Some histograms."""

    observed: Array
    """By line: how many observations it had."""
    edges: Array
    """By line: where the buckets begin, and where the last one ends."""
    buckets: Array
    """By line and bucket: the WEIGHT of the observations, the mean of their RESULTS and the
    SQUARES of the deviations from that, the mean LIFETIME."""
    heights: Array
    """By line and bucket: what a tuple in the middle of it is worth."""
    period: Array
    """After how many observations buckets change."""
    decay: Array


def new_histograms(lines: int, buckets: int, period: int, decay: float) -> Histograms:
    """Make histograms without observations."""
    return Histograms(
        observed=np.zeros(lines, np.int64),
        edges=np.zeros((lines, buckets + 1)),
        buckets=np.zeros((lines, buckets, 4)),
        heights=np.zeros((lines, buckets)),
        period=np.array([period]),
        decay=np.array([decay]),
    )


@inlined
def observe(histograms, line, distance, results, lifetime):
    """Enter an observation into its bucket; the outer ones are as wide as need be."""
    edges, buckets = histograms.edges[line], histograms.buckets[line]
    last = len(buckets) - 1
    if histograms.observed[line] == 0:
        for number in range(last + 2):
            edges[number] = distance
    edges[0] = min(edges[0], distance)
    edges[last + 1] = max(edges[last + 1], distance)
    number = 0
    while number < last and distance >= edges[number + 1]:
        number += 1
    bucket = buckets[number]
    bucket[WEIGHT] += 1
    deviation = results - bucket[RESULTS]
    bucket[RESULTS] += deviation / bucket[WEIGHT]
    bucket[SQUARES] += deviation * (results - bucket[RESULTS])
    bucket[LIFETIME] += (lifetime - bucket[LIFETIME]) / bucket[WEIGHT]
    histograms.observed[line] += 1
    first = max(number - 1, 0)
    if histograms.observed[line] % histograms.period[0] == 0:
        if histograms.observed[line] == histograms.period[0]:
            _lay_out(edges, buckets)
        else:
            _rearrange(edges, buckets, histograms.decay[0])
        first, number = 0, last
    for changed in range(first, min(number + 1, last) + 1):
        histograms.heights[line, changed] = _height(buckets, changed)


@inlined
def _join(one, two):
    """Add a bucket to another one."""
    weight = one[WEIGHT] + two[WEIGHT]
    if weight > 0:
        share = two[WEIGHT] / weight
        apart = two[RESULTS] - one[RESULTS]
        one[SQUARES] += two[SQUARES] + one[WEIGHT] * share * apart**2
        one[RESULTS] += share * apart
        one[LIFETIME] += share * (two[LIFETIME] - one[LIFETIME])
        one[WEIGHT] = weight


@inlined
def _copy(buckets, to, source, share):
    """Let a bucket be another one, with a share of its weight."""
    for part in range(buckets.shape[1]):
        buckets[to, part] = buckets[source, part]
    buckets[to, WEIGHT] *= share
    buckets[to, SQUARES] *= share


@inlined
def _lay_out(edges, buckets):
    """Make buckets of equal width; together they weigh one observation, what is known of all."""
    last = len(buckets) - 1
    for number in range(1, last + 1):
        _join(buckets[0], buckets[number])
        edges[number] = edges[0] + (edges[last + 1] - edges[0]) * number / (last + 1)
    share = 1 / (buckets[0, WEIGHT] * (last + 1))
    for number in range(last, -1, -1):
        _copy(buckets, number, 0, share)


@inlined
def _rearrange(edges, buckets, decay):
    """Let old observations fade, and make one of two neighbours, and two of the most various."""
    last = len(buckets) - 1
    wide = merged = NOBODY
    loss = np.inf
    for number in range(last + 1):
        buckets[number, WEIGHT] *= decay
        buckets[number, SQUARES] *= decay
        if edges[number + 1] - edges[number] >= 2 and (
            wide == NOBODY or buckets[number, SQUARES] > buckets[wide, SQUARES]
        ):
            wide = number
    for number in range(last):
        one, two = buckets[number], buckets[number + 1]
        weight = one[WEIGHT] + two[WEIGHT]
        lost = one[WEIGHT] * two[WEIGHT] * (one[RESULTS] - two[RESULTS]) ** 2
        lost = lost / weight if weight > 0 else 0.0
        if wide not in (number, number + 1) and lost < loss:
            merged, loss = number, lost
    if wide == NOBODY or merged == NOBODY or buckets[wide, SQUARES] <= loss:
        return
    _join(buckets[merged], buckets[merged + 1])
    # Those between move up by one, so that the wide one has a free place beside it.
    for number in range(merged + 1, wide):
        _copy(buckets, number, number + 1, 1.0)
        edges[number] = edges[number + 1]
    for number in range(merged + 1, wide + 1, -1):
        _copy(buckets, number, number - 1, 1.0)
        edges[number] = edges[number - 1]
    first = wide - 1 if merged < wide else wide
    _copy(buckets, first + 1, first, 0.5)
    _copy(buckets, first, first, 0.5)
    end = edges[wide + 1] if merged < wide else edges[wide + 2]
    edges[first + 1] = (edges[first] + end) / 2


@inlined
def _height(buckets, number):
    """Results by lifetime around the middle of a bucket; each neighbour counts half."""
    results = lifetime = 0.0
    for other in range(max(number - 1, 0), min(number + 2, len(buckets))):
        bucket = buckets[other]
        weight = bucket[WEIGHT] if other == number else bucket[WEIGHT] / 2
        results += weight * bucket[RESULTS]
        lifetime += weight * bucket[LIFETIME]
    return results / lifetime if lifetime > 0 else 0.0


@inlined
def middle_of(histograms, line, number):
    """The middle of a bucket."""
    return (histograms.edges[line, number] + histograms.edges[line, number + 1]) / 2


@inlined
def worth_at(histograms, line, distance):
    """What a tuple at a distance brings per step of its lifetime."""
    heights = histograms.heights[line]
    last = len(heights) - 1
    if distance < histograms.edges[line, 0] or distance > histograms.edges[line, last + 1]:
        return 0.0
    if distance <= middle_of(histograms, line, 0):
        return heights[0]
    for number in range(last):
        high = middle_of(histograms, line, number + 1)
        if distance < high:
            low = middle_of(histograms, line, number)
            rise = heights[number + 1] - heights[number]
            return heights[number] + rise * (distance - low) / (high - low)
    return heights[last]


@inlined
def mean_worth(histograms, line):
    """What a tuple brings per step of its lifetime, be it at any distance."""
    results = lifetime = 0.0
    for bucket in histograms.buckets[line]:
        results += bucket[WEIGHT] * bucket[RESULTS]
        lifetime += bucket[WEIGHT] * bucket[LIFETIME]
    return results / lifetime if lifetime > 0 else 0.0
