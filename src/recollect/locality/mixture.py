"""The mixture of given errors that is smallest: least squares with shares that sum to one.

If each predictor leaves an error vector and predictors are mixed by shares w, the mixture leaves
the vector sum(w_i * e_i), whose squared length is w' G w with G the scalar products of the errors.

References
----------
Lawson, Hanson: Solving Least Squares Problems, 1974, chapter 23 (non-negative least squares).
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PRECISION = 1e-12


def least_mixture(products: Floats) -> Floats:
    """The shares w >= 0 with sum 1 that make ``w' products w`` least.

    Of mixtures that are equally good, the one that needs only the first errors is taken.

    Parameters
    ----------
    products
        The scalar products of the errors: symmetric and positive semidefinite.

    Examples
    --------
    >>> least_mixture(np.array([[1.0, 0.0], [0.0, 3.0]]))
    array([0.75, 0.25])
    """
    # If v sums to one, w = s * v and q = v'Gv, then w'Gw + (1 - sum(w))^2 is least over s at
    # q / (1 + q), which grows with q. So the constraint on the sum may be one more error.
    system = products + 1.0
    shares = np.zeros(len(system))
    used = np.zeros(len(system), bool)
    for _ in range(3 * len(system)):
        gain = np.where(used, 0.0, 1.0 - system @ shares)
        if gain.max() <= PRECISION:
            break
        used[np.argmax(gain)] = True
        _settle(system, shares, used)
    return shares / shares.sum()


def _settle(system: Floats, shares: Floats, used: NDArray[np.bool_]) -> None:
    """Move to the best shares of the errors used, giving up those whose share would be negative."""
    while True:
        best = np.zeros(len(shares))
        best[used] = np.linalg.solve(system[np.ix_(used, used)], np.ones(int(used.sum())))
        falling = used & (best <= 0)
        if not falling.any():
            shares[:] = best
            return
        step = np.min(shares[falling] / (shares[falling] - best[falling]))
        shares += step * (best - shares)
        used &= shares > PRECISION
        shares[~used] = 0.0
