"""Locality of a stream from its definitions, in plain Python, one tuple at a time."""

from collections import Counter
from math import log2


def interarrival(keys):
    """The distances from each tuple to the one before with its key, and how many have none."""
    last, distances = {}, []
    for n, key in enumerate(keys):
        if key in last:
            distances.append(n - last[key])
        last[key] = n
    return distances, len(last)


def stack_distance(keys):
    """How deep each key lies in the list of keys, the latest in front; how many do not."""
    stack, distances, firsts = [], [], 0
    for key in keys:
        if key in stack:
            distances.append(stack.index(key) + 1)
            stack.remove(key)
        else:
            firsts += 1
        stack.insert(0, key)
    return distances, firsts


def mix(word):
    """The finaliser of SplitMix64, as a signed number."""
    mask = 2**64 - 1
    word &= mask
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & mask
    word = (word ^ word >> 27) * 0x94D049BB133111EB & mask
    word ^= word >> 31
    return word - 2**64 if word >> 63 else word


def permuted(keys, seed):
    """The keys in the order of their positions' mixture."""
    return [
        keys[n] for n in sorted(range(len(keys)), key=lambda n: mix(n + seed * 0x9E3779B97F4A7C15))
    ]


def entropy(probabilities):
    """In bits."""
    return -sum(p * log2(p) for p in probabilities if p > 0)


def conditional_entropy(keys, weights, b):
    """The mean entropy of the forecasts of all tuples, each written out for every key."""
    shares = {key: count / len(keys) for key, count in Counter(keys).items()}
    total = 0.0
    for n in range(len(keys)):
        forecast = {key: b * share for key, share in shares.items()}
        for lag, weight in enumerate(weights, start=1):
            if lag <= n:
                forecast[keys[n - lag]] += weight
            else:  # before the start: a draw
                for key, share in shares.items():
                    forecast[key] += weight * share
        total += entropy(forecast.values())
    return total / len(keys)


def k_opt(keys, window):
    """By key, in the order of first appearance: the age with most matches per arrival kept."""
    best = {}
    for key in dict.fromkeys(keys):
        at = [n for n, other in enumerate(keys) if other == key]
        ages = [later - earlier for earlier in at for later in at if 0 < later - earlier <= window]
        curve = {k: sum(age <= k for age in ages) / k for k in range(1, window + 1)}
        most = max(curve.values())
        best[key] = min(k for k, rate in curve.items() if rate == most) if most else 0
    return list(best.values())
