"""AGE from its definition, with the whole history of the tuples followed kept in lists."""

from tests.naive.join import NaivePolicy

BINS = 128
EVERY = 256


class AgeCurve:
    """What is learnt about one stream."""

    def __init__(self, sample):
        self.followed = [None] * sample
        self.next = 0
        self.stride = 1
        self.seen = 0
        self.observed = 0
        self.hits = []
        """The ages at which tuples that were followed matched."""
        self.ended = []
        """For tuples followed no longer: how old they became, and the horizon of the bins then."""
        self.width = 1
        self.k_opt = 0

    def follow(self, item, lifetime):
        """Follow every ``stride``-th tuple; if that drops one that is alive, then fewer."""
        self.seen += 1
        if self.seen % self.stride:
            return
        dropped = self.followed[self.next]
        if dropped is not None:
            if lifetime(dropped) >= 0:
                self.stride *= 2
            self.ended.append((item.time - dropped.time, BINS * self.width))
        self.followed[self.next] = item
        self.next = (self.next + 1) % len(self.followed)

    def observe(self, arrival, lifetime):
        """Note the ages at which an arrival of the partner finds the tuples followed."""
        for item in self.followed:
            if item is not None and item.key == arrival.key and lifetime(item) >= 0:
                age = arrival.time - item.time
                self.hits.append(age)
                while age >= BINS * self.width:
                    self.width *= 2
        self.observed += 1
        if self.observed % EVERY == 0:
            self.estimate(arrival.time)

    def hits_in(self, bin_):
        """How many matches there were at the ages of a bin."""
        return sum(age // self.width == bin_ for age in self.hits)

    def ended_after(self, bin_):
        """How many tuples, followed no longer, were seen to reach the beginning of a bin."""
        start = bin_ * self.width
        return sum(age >= start and horizon > start for age, horizon in self.ended)

    def estimate(self, now):
        """Set k_opt to the end of the bin up to which there were most results per time."""
        results = 0.0
        best = 0.0
        for bin_ in range(BINS):
            start, end = bin_ * self.width, (bin_ + 1) * self.width
            followed = [item for item in self.followed if item is not None]
            reached = self.ended_after(bin_) + sum(now - item.time >= start for item in followed)
            if reached == 0:
                break
            results += self.hits_in(bin_) / reached
            if results / end > best:
                best = results / end
                self.k_opt = end


class Age(NaivePolicy):
    """Forget the oldest tuple that is past its stream's k_opt; if there is none, refuse."""

    sample = 64

    def begin(self):
        self.curves = {stream: AgeCurve(self.sample) for stream in self.streams}

    def tick(self, buffered, arrival):
        for stream, curve in self.curves.items():
            if stream == arrival.stream:
                curve.follow(arrival, self.lifetime)
            else:
                curve.observe(arrival, self.lifetime)

    def victim(self, buffered, newcomer):
        past = [
            item for item in buffered if newcomer.time - item.time >= self.curves[item.stream].k_opt
        ]
        return min(past, key=lambda item: item.serial, default=None)
