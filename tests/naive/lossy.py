"""Lossy Counting word by word, with a dict; PROB and LIFE with its counts."""

from math import ceil

from tests.naive.frequency import SketchLife, SketchProb


class Lossy:
    """Entries ``key: [count, error]``, all of them looked at when a bucket ends.

    Parameters
    ----------
    width
        Tuples in a bucket.
    memory
        How many entries there may be; a bucket ends when one more is needed. Then the number of
        the bucket is raised until an entry goes.
    """

    def __init__(self, width, memory=None):
        self.width, self.memory = width, memory
        self.entries = {}
        self.tuples = self.in_bucket = self.missed = 0
        self.before, self.after = [], []

    def add(self, key):
        if key not in self.entries:
            if len(self.entries) == self.memory:
                self.end_bucket(full=True)
            self.entries[key] = [0, self.missed]
        self.entries[key][0] += 1
        self.tuples += 1
        self.in_bucket += 1
        if self.in_bucket == self.width:
            self.end_bucket(full=False)

    def end_bucket(self, full):
        self.before.append(len(self.entries))
        self.missed += 1
        while full and all(count + error > self.missed for count, error in self.entries.values()):
            self.missed += 1
        self.entries = {
            key: [count, error]
            for key, (count, error) in self.entries.items()
            if count + error > self.missed
        }
        self.after.append(len(self.entries))
        self.in_bucket = 0

    def estimate(self, key):
        return self.entries.get(key, [0, 0])[0]

    def frequent(self, support, epsilon):
        """For shares that are Fractions."""
        least = ceil(support * self.tuples - max(epsilon * self.tuples, self.missed))
        return {key: (f, error) for key, (f, error) in self.entries.items() if f >= least}


class LossyProb(SketchProb):
    """PROB with counts that may be low."""

    def begin(self):
        self.seen = [Lossy(self.entries, self.entries) for _ in range(2)]
        self.known = {}


class LossyLife(LossyProb, SketchLife):
    """LIFE with counts that may be low."""
