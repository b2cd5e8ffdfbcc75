"""ELBA: LBA for the lifetime that each tuple has left, where that is less than T.

A tuple that is about to leave its window has fewer arrivals of the partner before it. How many is
estimated from its remaining lifetime and the rate at which they came so far. Every key in the
buffer is then valued anew for every victim, by the recursion of the paper: exact and slow, O(h^2)
and a scan of the buffer, where LBA takes O(h).

References
----------
Li, Chang, Kollios, Bestavros: Characterizing and Exploiting Reference Locality in Data Stream
Applications, ICDE 2006, section 4.1.
"""

from dataclasses import dataclass

from recollect.policies.lba import Lba


@dataclass(frozen=True)
class Elba(Lba, name="elba"):
    """Forget the tuple expected to match least in the next T and in its remaining lifetime.

    Takes the parameters of :class:`~recollect.policies.lba.Lba`.
    """

    thorough = True

    @property
    def by_lifetime(self) -> bool:
        """Whether a tuple's remaining lifetime counts."""
        return True
