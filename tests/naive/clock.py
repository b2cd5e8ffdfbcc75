"""CLOCK and CLOCK_exp: the hand, step by step."""

from tests.naive.join import NaivePolicy


class Clock(NaivePolicy):
    """A ring of places with scores, and a hand.

    A newcomer takes the place that became empty last, or else a new one behind all others. The hand
    starts at the first place and, behind the last place in use, goes on with the first.
    """

    w0 = 1.0

    def begin(self):
        self.ring = []
        self.vacant = []
        self.score = {}
        self.hand = 0

    def admit(self, buffered, item):
        if self.vacant:
            self.ring[self.vacant.pop()] = item
        else:
            self.ring.append(item)
        self.score[item] = self.w0

    def match(self, item):
        self.score[item] += 1

    def forget(self, item):
        place = self.ring.index(item)
        self.ring[place] = None
        self.vacant.append(place)

    def victim(self, buffered, newcomer):
        while True:
            item = self.ring[self.hand]
            self.hand = (self.hand + 1) % len(self.ring)
            if item is not None:
                self.score[item] = self.depreciated(self.score[item])
                if self.is_spent(self.score[item]):
                    return item

    def depreciated(self, score):
        return score - 1

    def is_spent(self, score):
        return score <= 0


class ClockExp(Clock):
    """As CLOCK with exponential depreciation."""

    rho = 0.5

    def depreciated(self, score):
        return score * self.rho

    def is_spent(self, score):
        return score < 0.01
