"""The locality model from its definitions: counts by comparing, fits by trying, powers by power."""

from itertools import combinations

import numpy as np


def coincidences(keys, h):
    """By lag from 1 to h: how many tuples equal the one so many places before."""
    return [sum(keys[n] == keys[n - lag] for n in range(lag, len(keys))) for lag in range(1, h + 1)]


def least_mixture(products):
    """The least ``w' products w`` over all shares: the best of every subset of them."""
    n = len(products)
    best, least = None, np.inf
    for size in range(1, n + 1):
        for used in combinations(range(n), size):
            inner = np.linalg.pinv(products[np.ix_(used, used)] + 1.0) @ np.ones(size)
            if (inner <= 0).any():
                continue
            shares = np.zeros(n)
            shares[list(used)] = inner / inner.sum()
            if shares @ products @ shares < least:
                best, least = shares, shares @ products @ shares
    return best


def squared_error(keys, weights, b, chance_of):
    """The error that the fit makes least, but for the ends of the stream: over all n and keys."""
    h = len(weights)
    total = 0.0
    for n in range(len(keys)):
        for key, chance in chance_of.items():
            # What comes before the stream is taken for an independent draw.
            past = [float(keys[n - lag] == key) if n >= lag else chance for lag in range(1, h + 1)]
            guess = b * chance + sum(a * x for a, x in zip(weights, past, strict=True))
            total += (float(keys[n] == key) - guess) ** 2
    return total


def value_fit(values, h):
    """The paper's least squares on values: a_1 … a_h and b, one equation per tuple."""
    mean = sum(values) / len(values)
    lines = [[*(values[n - lag] for lag in range(1, h + 1)), mean] for n in range(h, len(values))]
    return np.linalg.lstsq(np.array(lines, float), np.array(values[h:], float))[0]


def characteristic_matrix(weights, b, size):
    """M: the next tuple and the last ones, from the last ``size`` tuples and the popularity."""
    matrix = np.zeros((size + 1, size + 1))
    matrix[0, : len(weights)] = weights
    matrix[0, size] = b
    for place in range(1, size):
        matrix[place, place - 1] = 1.0
    matrix[size, size] = 1.0
    return matrix


def column_sums(weights, b, horizon):
    """The sums of the columns of M^T over the next T tuples: of the lags, and of fresh draws."""
    size = max(horizon, len(weights))
    power = np.linalg.matrix_power(characteristic_matrix(weights, b, size), horizon)
    sums = power[:horizon].sum(axis=0)
    return sums[: len(weights)], sums[size]
