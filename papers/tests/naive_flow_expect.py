"""The best of all plans, and of all strategies, by trying every one."""

from itertools import combinations


def kept_sets(candidates, capacity):
    for size in range(min(capacity, len(candidates)) + 1):
        yield from combinations(candidates, size)


def best_plan(here, coming, capacity, steps, benefit):
    """The expected results of the best plan that is made beforehand.

    Parameters
    ----------
    here
        Names of the tuples that may be kept now.
    coming
        By step, from 1: names of the tuples that will come.
    benefit
        Told a name and a step, the results that are expected then.
    """

    def best(candidates, step):
        if step > steps:
            return 0.0
        return max(
            sum(benefit(name, step) for name in kept)
            + best([*kept, *coming.get(step, [])], step + 1)
            for kept in kept_sets(candidates, capacity)
        )

    return best(here, 1)


def best_strategy(here, futures, capacity):
    """The expected results if each decision may depend on what has been seen.

    Parameters
    ----------
    here
        Tuples, as (stream, value), that may be kept now.
    futures
        By step: pairs of a probability and the values of the left and the right tuple.
    """
    if not futures:
        return 0.0
    return max(
        sum(
            chance
            * (
                sum(values[1 - stream] == value for stream, value in kept)
                + best_strategy([*kept, *enumerate(values)], futures[1:], capacity)
            )
            for chance, values in futures[0]
        )
        for kept in kept_sets(here, capacity)
    )
