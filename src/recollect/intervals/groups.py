"""Numbers for groups: the words of an attribute, in the order in which they were first seen.

>>> groups = Groups()
>>> groups.number(np.array([70, 50, 70])).tolist(), groups.number(np.array([90, 50])).tolist()
([1, 0, 1], [2, 0])
>>> groups.words.tolist()
[50, 70, 90]
"""

import numpy as np


class Groups:
    """The groups seen so far."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def number(self, words: np.ndarray) -> np.ndarray:
        """The number of the group of each word; new words make new groups."""
        distinct, places = np.unique(words, return_inverse=True)
        numbers = [self._numbers.setdefault(word, len(self._numbers)) for word in distinct.tolist()]
        return np.array(numbers, np.int64)[places]

    @property
    def words(self) -> np.ndarray:
        """The word of each group."""
        return np.array(list(self._numbers), np.int64)
