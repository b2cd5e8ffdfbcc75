"""RAND, FIFO, LRU and LFU from their definitions."""

from itertools import count

from tests.naive.join import NaivePolicy

MASK = 2**64 - 1


class SplitMix64:
    """The generator of Steele, Lea and Flood (2014), as published."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, limit: int) -> int:
        """A number in range(limit): the upper 32 bits of a step as a fraction of 2^32."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        z ^= z >> 31
        return ((z >> 32) * limit) >> 32


class Rand(NaivePolicy):
    """Forget the tuple at a random place of a list.

    A newcomer is appended; the last tuple takes the place of one that leaves. Places are drawn two
    victims ahead: the first two calls, and those whose drawn place does not exist any more, draw at
    once; then each call draws the place for the call after the next.
    """

    def begin(self):
        self.members = []
        self.generator = SplitMix64(self.seed)
        self.ahead = [None, None]

    def admit(self, buffered, item):
        self.members.append(item)

    def forget(self, item):
        last = self.members.pop()
        if last is not item:
            self.members[self.members.index(item)] = last

    def victim(self, buffered, newcomer):
        place = self.ahead.pop(0)
        if place is None or place >= len(self.members):
            place = self.generator.below(len(self.members))
        self.ahead.append(self.generator.below(len(self.members)))
        return self.members[place]


class Fifo(NaivePolicy):
    """Forget what arrived first."""

    def victim(self, buffered, newcomer):
        return min(buffered, key=lambda item: item.serial)


class Lru(NaivePolicy):
    """Forget what was admitted or matched longest ago."""

    def begin(self):
        self.clock = count()
        self.used = {}

    def admit(self, buffered, item):
        self.used[item] = next(self.clock)

    def match(self, item):
        self.used[item] = next(self.clock)

    def victim(self, buffered, newcomer):
        return min(buffered, key=self.used.get)


class Lfu(Lru):
    """Forget what matched least often; among equals, what was admitted or matched longest ago."""

    def begin(self):
        super().begin()
        self.matches = {}

    def admit(self, buffered, item):
        super().admit(buffered, item)
        self.matches[item] = 0

    def match(self, item):
        super().match(item)
        self.matches[item] += 1

    def victim(self, buffered, newcomer):
        return min(buffered, key=lambda item: (self.matches[item], self.used[item]))
