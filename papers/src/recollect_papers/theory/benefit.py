"""Expected cumulative benefit: what a buffered value is expected to give within Δ steps.

For a join that is the expected number of partners, for a cache the probability to be asked for at
all: what a reference brings into the cache again is no merit of having kept it.

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, section 5.1.
"""

import numpy as np
from numpy.typing import ArrayLike

from recollect.forecast.base import Forecast, Now, Probabilities
from recollect.streams.checks import require_whole


def joining_benefit(partner: Forecast, values: ArrayLike, horizon: int, now: Now) -> Probabilities:
    """Tell how many partners each value is expected to meet within 1, 2, …, ``horizon`` steps.

    Parameters
    ----------
    partner
        The law of the other stream.
    values
        The keys of buffered tuples.
    horizon
        How far the curves go.
    now
        What is known of the other stream.

    Returns
    -------
    A curve per value, as a line.

    Examples
    --------
    >>> from recollect.forecast import Stationary
    >>> joining_benefit(Stationary.fit([1, 2, 2, 2]), [1, 2], 3, Now.after([2]))
    array([[0.25, 0.5 , 0.75],
           [0.75, 1.5 , 2.25]])
    """
    require_whole("horizon", horizon, least=1)
    return np.cumsum(partner.probabilities(values, np.arange(1, horizon + 1), now), axis=1)


def caching_benefit(
    references: Forecast, values: ArrayLike, horizon: int, now: Now
) -> Probabilities:
    """Tell how likely each value is referred to within 1, 2, …, ``horizon`` steps.

    Parameters
    ----------
    references
        The law of the stream of references.
    values, horizon, now
        As for :func:`joining_benefit`.

    Examples
    --------
    >>> from recollect.forecast import Stationary
    >>> caching_benefit(Stationary.fit([1, 2]), [1], 3, Now.after([2]))
    array([[0.5  , 0.75 , 0.875]])
    """
    require_whole("horizon", horizon, least=1)
    return np.cumsum(references.first_probabilities(values, horizon, now), axis=1)
