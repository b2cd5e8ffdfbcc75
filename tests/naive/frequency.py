"""PROB and LIFE from their definitions, with exact counts or a count-min sketch."""

from collections import Counter

from tests.naive.join import NaivePolicy
from tests.naive.simple import MASK


class Prob(NaivePolicy):
    """Forget the tuple whose key came least often in the partner stream so far.

    Of equal values the tuple that expires sooner goes first, each on the clock of its stream, then
    the older. A newcomer is refused if it has less value than every buffered tuple.
    """

    def begin(self):
        self.seen = [Counter(), Counter()]

    def tick(self, buffered, arrival):
        self.seen[arrival.stream][arrival.key] += 1

    def frequency(self, item):
        return self.seen[1 - item.stream][item.key]

    def value(self, item):
        return self.frequency(item)

    def newcomer_value(self, item):
        return self.value(item)

    def victim(self, buffered, newcomer):
        def rank(item):
            return self.value(item), self.lifetime(item), item.serial

        least = min(buffered, key=rank)
        return None if self.newcomer_value(newcomer) < self.value(least) else least


class Life(Prob):
    """As PROB, the frequency times the remaining lifetime."""

    def value(self, item):
        return self.frequency(item) * self.lifetime(item)


class CountMin:
    """A count-min sketch of four rows with conservative update."""

    ROWS = 4

    def __init__(self, entries):
        self.width = 1
        while 2 * self.width * self.ROWS <= entries:
            self.width *= 2
        self.cells = Counter()

    def _cells_of(self, key):
        for row in range(self.ROWS):
            z = (key + (row + 1) * 0x5851F42D4C957F2D) & MASK
            z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
            z ^= z >> 31
            yield row, z % self.width

    def estimate(self, key):
        return min(self.cells[cell] for cell in self._cells_of(key))

    def add(self, key):
        raised = self.estimate(key) + 1
        for cell in self._cells_of(key):
            self.cells[cell] = max(self.cells[cell], raised)


class SketchProb(Prob):
    """PROB with estimates.

    All buffered tuples of a stream with one key have the same value: the estimate when the first
    of those now buffered was admitted, or, if that was later, when the key last came in the partner
    stream. A newcomer is worth its estimate now.
    """

    entries = 4

    def begin(self):
        self.seen = [CountMin(self.entries), CountMin(self.entries)]
        self.known = {}

    def frequency(self, item):
        return self.known[item.stream, item.key]

    def newcomer_value(self, item):
        return self.seen[1 - item.stream].estimate(item.key)

    def tick(self, buffered, arrival):
        self.seen[arrival.stream].add(arrival.key)
        self.known[1 - arrival.stream, arrival.key] = self.seen[arrival.stream].estimate(
            arrival.key
        )

    def admit(self, buffered, item):
        if not any(old.key == item.key and old.stream == item.stream for old in buffered):
            self.known[item.stream, item.key] = self.seen[1 - item.stream].estimate(item.key)


class SketchLife(SketchProb):
    """LIFE with estimates."""

    def value(self, item):
        return self.frequency(item) * self.lifetime(item)

    def newcomer_value(self, item):
        return super().newcomer_value(item) * self.lifetime(item)
