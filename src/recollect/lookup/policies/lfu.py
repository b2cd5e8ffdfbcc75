"""LFU: forget the row that has been referenced least often, counted from the start of the stream.

The join's PROB: the references are the partner stream. Under independent references with a fixed
popularity nothing online is better (the A0 of Aho, Denning and Ullman). A key that has come less
often than every cached one is not cached; of equals the one cached first goes.

References
----------
Xie, Yang, Chen: On Joining and Caching Stochastic Streams, 2005, section 7.2.
"""

from dataclasses import dataclass

from recollect.lookup.policies.base import known_as
from recollect.policies.prob import Prob


@known_as("lfu")
@dataclass(frozen=True)
class Lfu(Prob):
    """Forget the row whose key came least often.

    Parameters
    ----------
    counts, entries
        ``exact``: one counter per key ever seen; ``sketch``: at most so many entries of a count-min
        sketch.
    """
