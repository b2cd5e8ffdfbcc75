"""An index of intervals as a plain list of tuples, and a pool as a plain list of pages."""


class IntervalList:
    """Tuples ``(start, end, *columns)``."""

    def __init__(self):
        self.tuples = []

    def insert(self, tuples):
        self.tuples.extend(tuples)

    def delete(self, tuples):
        for each in tuples:
            self.tuples.remove(each)

    def events(self, from_, to, ranges):
        """All ``(time, sign, tuple)`` of tuples in ranges of columns, cut to a window."""
        events = []
        for start, end, *rest in self.tuples:
            row = start, end, *rest
            if not all(least <= row[column] <= most for column, (least, most) in ranges.items()):
                continue
            start = start if from_ is None else max(start, from_)
            end = end if to is None else min(end, to)
            if start < end:
                cut = (start, end, *rest)
                events += [(start, 1, cut), (end, -1, cut)]
        return sorted(events)


class LeastRecentlyUsedPool:
    """Which requests for pages must be read."""

    def __init__(self, frames):
        self.frames = frames
        self.pages = []
        self.reads = 0

    def get(self, page):
        if page in self.pages:
            self.pages.remove(page)
        else:
            self.reads += 1
        self.pages.append(page)
        del self.pages[: -self.frames]


def pick_victim(pages, first, last):
    """The page that leaves; ``pages`` are ``(last_start, first_end, last_end, used)`` by number."""
    below = [page for page, extent in pages.items() if extent[2] < first]
    if below:
        return min(below)
    inside = [page for page, extent in pages.items() if extent[1] > last and extent[0] < first]
    return max(inside or pages, key=lambda page: (pages[page][1], -pages[page][3]))
