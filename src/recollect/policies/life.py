"""LIFE: forget the tuple with the least product of partner frequency and remaining lifetime.

As PROB, but a tuple that is about to leave its window has little to give. With windows that never
end it is PROB.

References
----------
Das, Gehrke, Riedewald: Approximate Join Processing over Data Streams, 2003; Joining and Caching
Stochastic Streams, section 1.
"""

from dataclasses import dataclass

from recollect.policies.prob import Prob


@dataclass(frozen=True)
class Life(Prob, name="life"):
    """Forget the tuple with the least frequency times remaining lifetime.

    Takes the parameters of :class:`~recollect.policies.prob.Prob`.
    """

    @property
    def aging(self) -> bool:
        """Whether a tuple's remaining lifetime counts."""
        return True
