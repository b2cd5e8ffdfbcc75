"""How likely a tuple is still buffered after Δ steps: HEEB's estimate L.

=========  ===================  ================================================================
``fixed``  1 up to ``scale``    every tuple stays for so many steps
``inf``    1                    for ever; for caches only
``inv``    1 / Δ                for caches only: the expected inverse of the waiting time
``exp``    exp(-Δ / ``scale``)  the chance to stay is the same at each step
=========  ===================  ================================================================

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, section 5.3, Table 1.
"""

from dataclasses import dataclass
from math import ceil, exp, log, log1p

import numpy as np
from numpy.typing import ArrayLike

from recollect.errors import InputError
from recollect.forecast.base import Probabilities, steps_ahead
from recollect.streams.checks import require_real, require_whole

KINDS = ("fixed", "inf", "inv", "exp")
LEAST_ALPHA = 0.05
"""A benefit of the next step counts exp(-20) then; below, soon nothing at all."""
NEGLIGIBLE = 1e-12


@dataclass(frozen=True)
class Survival:
    """An estimate of the probability to be buffered still.

    Parameters
    ----------
    kind
        ``fixed``, ``inf``, ``inv`` or ``exp``.
    scale
        The number of steps for ``fixed``, the paper's α for ``exp``; the others have none.

    Examples
    --------
    >>> Survival("exp", 10).at([1, 10]).round(3)
    array([0.905, 0.368])
    >>> Survival("fixed", 3).at([1, 3, 4])
    array([1., 1., 0.])
    """

    kind: str
    scale: float = 0.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        if self.kind not in KINDS:
            raise InputError(f"survival {self.kind!r} is not one of {', '.join(KINDS)}")
        if self.kind == "fixed":
            require_whole("scale", self.scale, least=1)
        elif self.kind == "exp":
            require_real("scale", self.scale, least=LEAST_ALPHA)
        elif self.scale != 0:
            raise InputError(f"survival {self.kind} has no scale, so it cannot be {self.scale}")

    @property
    def for_joins(self) -> bool:
        """Whether expected benefits stay finite in a join too."""
        return self.kind in ("fixed", "exp")

    @property
    def horizon(self) -> int:
        """The Δ from which on nothing is left."""
        if self.kind == "fixed":
            return int(self.scale)
        if self.kind == "exp":
            return ceil(-self.scale * log(NEGLIGIBLE))
        raise InputError(f"survival {self.kind} never ends; say how far to look ahead (horizon)")

    def at(self, deltas: ArrayLike) -> Probabilities:
        """Tell the probability to be buffered still after Δ steps."""
        ahead = steps_ahead(deltas)
        if self.kind == "fixed":
            return (ahead <= self.scale).astype(np.float64)
        if self.kind == "inv":
            return 1 / ahead
        return np.exp(-ahead / self.scale) if self.kind == "exp" else np.ones(len(ahead))


def decay(alpha: float) -> float:
    """What remains of a benefit per step of waiting, under ``exp``: the γ of the matrices."""
    require_real("alpha", alpha, least=LEAST_ALPHA)
    return exp(-1 / alpha)


def alpha_for_lifetime(lifetime: float) -> float:
    """Find the α under which tuples stay for so many steps in the mean.

    >>> round(alpha_for_lifetime(10), 3)
    9.491
    """
    require_real("lifetime", lifetime, least=1)
    # Tuples that all leave at once have no α.
    return max(LEAST_ALPHA, -1 / log1p(-1 / lifetime)) if lifetime > 1 else LEAST_ALPHA
