"""What the engine must know of a query: streams and joins by number, and the code of filters."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recollect.join.kernel import Filters
from recollect.join.residual import EMPTY, Residual
from recollect.join.where import Where
from recollect.policies.shape import NONE, PAIR, Joins, Many, Pair, shape_of


@dataclass(frozen=True, eq=False)
class Setting:
    """Streams and joins as the engine sees them.

    Parameters
    ----------
    joins
        The streams of each join; one of them twice where it meets itself.
    counting, ends
        By stream: whether it has a count window, and whether its tuples bring their own end.
    subjects
        Whether newer facts about a subject replace older ones.
    by_rate
        By stream: whether it is shed by rate. If all streams of a part of the budget are, what
        comes while it is full is dropped.
    filters
        The conditions on pairs.
    words
        By join and side: where in the line of a tuple the words begin that its filter reads.
    width
        How many words the line of a tuple has.
    """

    joins: Joins
    counting: tuple[bool, ...]
    ends: tuple[bool, ...]
    subjects: bool
    by_rate: tuple[bool, ...]
    filters: Filters
    words: tuple[tuple[int, int], ...]
    width: int

    @classmethod
    def of(
        cls,
        joins: Joins = PAIR,
        filters: Sequence[Where | None] = (),
        counting: Sequence[bool] = (),
        ends: Sequence[bool] = (),
        subjects: bool = False,
        by_rate: Sequence[bool] = (),
    ) -> "Setting":
        """Put the filters of all joins together."""
        count = 1 + max(stream for streams in joins for stream in streams)
        given = [*filters, *[None] * (len(joins) - len(filters))]
        codes: list[Residual] = []
        number = np.full(len(joins), NONE, np.int64)
        places: list[tuple[int, int]] = []
        lines: list[list[tuple[int, int]]] = []
        taken = [0] * count
        for join, where in enumerate(given):
            begins = []
            if where is not None:
                number[join] = len(codes)
                codes.append(where.code)
                for stream in joins[join]:
                    begins.append(taken[stream])
                    taken[stream] += where.width
                lines.append([(begin, begin + where.width) for begin in begins])
            places.append((begins[0], begins[1]) if begins else (0, 0))
        starts = np.zeros((max(len(codes), 1) + 1, 2), np.int64)
        for i, code in enumerate(codes):
            starts[i + 1] = starts[i] + (len(code.program), len(code.constants))
        together = Residual(*(np.concatenate(parts) for parts in zip(EMPTY, *codes, strict=True)))
        no = (False,) * count
        return cls(
            joins=joins,
            counting=tuple(counting) or no,
            ends=tuple(ends) or no,
            subjects=subjects,
            by_rate=tuple(by_rate) or no,
            filters=Filters(number, starts, np.array(lines, np.int64).reshape(-1, 2, 2), together),
            words=tuple(places),
            width=max(taken),
        )

    @property
    def streams(self) -> int:
        """How many streams there are."""
        return len(self.counting)

    @property
    def plain(self) -> bool:
        """Whether all streams take part in all joins, in windows and without subjects."""
        return (
            all(len(set(streams)) == self.streams for streams in self.joins)
            and not self.subjects
            and not any(self.ends)
        )

    @property
    def tables(self) -> int:
        """How many keys a tuple may have: one for each join, and its subject."""
        return len(self.joins) + int(self.subjects)

    @cached_property
    def shape(self) -> Pair | Many:
        """How the streams meet."""
        return shape_of(self.joins, self.ends, self.subjects)

    @property
    def streams_of(self) -> np.ndarray:
        """By join and place in it: the stream, NONE beyond the last."""
        streams = np.full((len(self.joins), max(map(len, self.joins))), NONE, np.int64)
        for join, its in enumerate(self.joins):
            streams[join, : len(its)] = its
        return streams
