"""A workload as the user declares it: streams, and the joins over them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recollect.errors import InputError
from recollect.join.window import Window, parse_window

RATE = "rate"
"""Shed so much that what is left just fits the budget."""


@dataclass(frozen=True)
class Stream:
    """A stream of a workload.

    Parameters
    ----------
    source
        Whatever :func:`recollect.streams.open_source` reads; None for streams that are fed in.
    time
        The time column.
    window
        How long a tuple may match; see :mod:`recollect.join.window`.
    valid
        Instead of both: the columns with the start and the end of the time ``[start, end)`` at
        which a tuple holds. It arrives at its start. Without an end (NULL) it holds for ever.
    subject
        A column that says what a tuple is about: a newer tuple replaces the older one.
    shed
        The probability with which an arrival is dropped before anything is done with it; or
        ``"rate"``: such that what is left just fits the budget, see
        :mod:`recollect.workload.shedding`.
    """

    source: Any
    time: str | None = None
    window: Any = None
    valid: tuple[str, str] | None = None
    subject: str | None = None
    shed: float | str = 0.0

    def __post_init__(self) -> None:
        """Refuse what does not go together."""
        if self.valid is not None:
            if self.time is not None or self.window is not None:
                raise InputError("a stream has either valid, or time and window, not both")
            if isinstance(self.valid, str) or len(self.valid) != 2:
                raise InputError(f"valid={self.valid!r} are not two columns, for start and end")
        elif self.time is None:
            raise InputError("a stream needs time, the name of its time column, or valid")
        elif self.window is None:
            raise InputError(
                "a stream needs a window, such as 1000, '10s', '500rows' or 'unlimited', or valid"
            )
        if self.shed != RATE and (isinstance(self.shed, str) or not 0 <= self.shed < 1):
            raise InputError(
                f"shed={self.shed!r} is neither a probability from 0 to below 1 nor {RATE!r}"
            )

    @property
    def time_column(self) -> str:
        """The column with the time of arrival."""
        if self.valid is not None:
            return self.valid[0]
        assert self.time is not None
        return self.time

    @property
    def parsed_window(self) -> Window | None:
        """The window; None if tuples have their own ends."""
        return None if self.valid is not None else parse_window(self.window)


@dataclass(frozen=True)
class JoinOn:
    """A join: which columns of which streams must be equal.

    Parameters
    ----------
    on
        As in ``"R.a = S.b = T.c"``; several conditions separated by commas, all on the same streams
        in the same order. A stream that is named twice meets itself, each pair once.
    where
        A condition on the pair, for a join of two streams: ``left`` is the first of them, or the
        earlier tuple where a stream meets itself.

    Examples
    --------
    >>> JoinOn("R.symbol = S.symbol, R.price = S.ask").columns
    (('symbol', 'price'), ('symbol', 'ask'))
    """

    on: str
    where: str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be a join."""
        conditions = self._conditions()
        streams = [name for name, _ in conditions[0]]
        for condition in conditions:
            if [name for name, _ in condition] != streams:
                raise InputError(
                    f"join {self.on!r}: all conditions must name the same streams in one order"
                )
        if len(set(streams)) < len(streams) and len(streams) > 2:
            raise InputError(f"join {self.on!r}: a stream may be named twice only in a join of two")
        if len(set(streams)) < len(streams) and len(set(self.columns)) > 1:
            raise InputError(
                f"join {self.on!r}: a stream that meets itself needs the same columns on both sides"
            )
        if self.where is not None and len(streams) > 2:
            raise InputError(
                f"join {self.on!r}: where needs a join of two streams, this has {len(streams)}"
            )

    def _conditions(self) -> list[list[tuple[str, str]]]:
        conditions = []
        for text in self.on.split(","):
            sides = [re.fullmatch(r"\s*([^.\s]+)\.(.*?\S)\s*", side) for side in text.split("=")]
            if len(sides) < 2 or None in sides:
                raise InputError(
                    f"join {self.on!r} is not understood; write it as in 'R.key = S.key'"
                )
            conditions.append([(side[1], side[2]) for side in sides if side is not None])
        return conditions

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of the streams."""
        return tuple(name for name, _ in self._conditions()[0])

    @property
    def columns(self) -> tuple[tuple[str, ...], ...]:
        """By stream of the join: its key columns."""
        by_condition = [[column for _, column in condition] for condition in self._conditions()]
        return tuple(zip(*by_condition, strict=True))


@dataclass(frozen=True)
class Workload:
    """Streams and the joins over them, which share one budget; each tuple is kept once.

    Parameters
    ----------
    streams
        By name, in the order in which tuples of the same time arrive.
    joins
        By name: a :class:`JoinOn`, or just its text.
    null_keys
        ``"skip"``: tuples with NULL or NaN keys never match, as in SQL; ``"error"``: refuse them.
    lateness
        How far out of order tuples may come; without it, a time that goes backwards is an error.
        What is later than that is left out and counted.

    Examples
    --------
    >>> from recollect.streams import ZipfStream
    >>> workload = Workload(
    ...     {
    ...         name: Stream(ZipfStream(2_000, keys=50, seed=i), time="time", window=100)
    ...         for i, name in enumerate("RST")
    ...     },
    ...     {"all": "R.key = S.key = T.key", "two": "R.key = S.key"},
    ... )
    >>> from recollect.workload import run
    >>> comparison = run(workload, policies=["fifo", "prob"], budgets=["10%"])
    >>> fifo, prob = comparison.runs
    >>> fifo.recall < prob.recall < 1
    True
    >>> list(prob.results_by_join)
    ['all', 'two']
    """

    streams: Mapping[str, Stream]
    joins: Mapping[str, JoinOn | str]
    null_keys: str = "skip"
    lateness: Any = None

    def __post_init__(self) -> None:
        """Refuse joins of streams that there are not, and streams that nothing joins."""
        if self.null_keys not in ("skip", "error"):
            raise InputError(f"null_keys={self.null_keys!r} is neither 'skip' nor 'error'")
        if not self.joins:
            raise InputError("a workload needs at least one join")
        for name, join in self.parsed_joins.items():
            for stream in join.streams:
                if stream not in self.streams:
                    known = ", ".join(self.streams) or "none"
                    raise InputError(f"join {name}: unknown stream {stream!r}; there are {known}")
        for stream in self.streams:
            if not any(stream in join.streams for join in self.parsed_joins.values()):
                raise InputError(f"stream {stream} takes part in no join; leave it out")

    @property
    def parsed_joins(self) -> dict[str, JoinOn]:
        """The joins by name."""
        return {
            name: JoinOn(join) if isinstance(join, str) else join
            for name, join in self.joins.items()
        }
