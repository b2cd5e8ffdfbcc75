"""What a policy may ask of counts: how often a key came in a stream so far.

A store of counts is a NamedTuple of arrays with the methods ``add``, ``frequency`` and, if it grows
with the keys, ``crowded``; a policy holds one inside its state and need not know which
(:mod:`~recollect.counting.exact`, :mod:`~recollect.counting.sketch`,
:mod:`~recollect.counting.lossy_table`).
"""

from recollect.compiled import hook


@hook
def add(counts, stream, key):
    """Count one tuple of a stream."""


@hook
def crowded(counts):
    """Whether there is no room for another key."""
    return False


@hook
def frequency(counts, stream, key):
    """How often the key came in that stream so far."""
    return 0
