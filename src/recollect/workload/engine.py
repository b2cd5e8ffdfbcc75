"""The engine of a workload: buffer, states and ledger, and the compiled loop that runs them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba.core.errors import NumbaError

from recollect.compiled import specialise
from recollect.errors import PolicyError
from recollect.join.engine import FIRST_SLOTS, MOST_SLOTS, compile_error
from recollect.join.residual import EMPTY, Residual
from recollect.policies.base import Policy, Room, crowded
from recollect.workload import buffer as buffers
from recollect.workload import kernel
from recollect.workload.kernel import (
    BAD_VICTIM,
    DONE,
    OUTPUT_FULL,
    SLOTS_FULL,
    STATISTICS_FULL,
    Feed,
    Ledger,
    Output,
    Plan,
)

NONE = -1
FIRST_OUTPUT = 8_192
TOLD = ("match", "match_in", "partial")
"""The methods by which a policy is told of matches."""


@dataclass(frozen=True)
class Shape:
    """What the engine must know of a workload: the streams by number, and how they meet.

    Parameters
    ----------
    joins
        The streams of each join; one of them twice where it meets itself.
    counting, validity
        By stream: whether it has a count window, and whether its tuples have their own end.
    by_rate
        By stream: whether it is shed by rate. If all streams of a part of the budget are, what
        comes while it is full is dropped.
    filters
        By join: a condition on pairs, or None.
    """

    joins: tuple[tuple[int, ...], ...]
    counting: tuple[bool, ...]
    validity: tuple[bool, ...]
    by_rate: tuple[bool, ...]
    filters: tuple[Residual | None, ...]

    @property
    def streams(self) -> int:
        """How many streams there are."""
        return len(self.counting)

    @property
    def roles(self) -> np.ndarray:
        """By join and place in it: the stream, NONE beyond the last."""
        roles = np.full((len(self.joins), max(map(len, self.joins))), NONE, np.int64)
        for join, streams in enumerate(self.joins):
            roles[join, : len(streams)] = streams
        return roles


def _programs(filters: Sequence[Residual | None]) -> tuple[np.ndarray, np.ndarray, Residual]:
    """All filters behind each other: their numbers by join, where each begins, and their code."""
    given = [code for code in filters if code is not None]
    numbers = np.full(len(filters), NONE, np.int64)
    numbers[[i for i, code in enumerate(filters) if code is not None]] = range(len(given))
    starts = np.zeros((len(given) + 1, 2), np.int64)
    for i, code in enumerate(given):
        starts[i + 1] = starts[i] + (len(code.program), len(code.constants))
    together = [np.concatenate(parts) for parts in zip(EMPTY, *given, strict=True)]
    return numbers, starts, Residual(*together)


class Engine:
    """A run of one policy over a workload.

    Parameters
    ----------
    policy
        Which tuple to forget.
    shape
        The streams and joins.
    pools
        By stream: which part of the budget it uses.
    capacity
        By part: how many tuples it may hold.
    seed
        For policies that draw random numbers.
    """

    def __init__(
        self,
        policy: Policy,
        shape: Shape,
        pools: Sequence[int],
        capacity: Sequence[int],
        seed: int = 0,
    ) -> None:
        self.policy = policy
        self._shape = shape
        self._pools = tuple(pools)
        self._seed = seed
        self._most = min(sum(capacity), MOST_SLOTS)
        numbers, starts, self._code = _programs(shape.filters)
        slots = max(2, min(FIRST_SLOTS, self._most))
        self.states = tuple(policy.started(room) for room in self._rooms(slots, len(capacity)))
        kind: type = type(self.states[0])
        self.plan = Plan(
            counting=np.array(shape.counting, np.uint8),
            validity=np.array(shape.validity, np.uint8),
            pool=np.array(pools, np.int64),
            capacity=np.array(capacity, np.int64),
            by_rate=np.array(
                [
                    all(by for by, its in zip(shape.by_rate, pools, strict=True) if its == pool)
                    for pool in range(len(capacity))
                ],
                np.uint8,
            ),
            most_slots=np.array([self._most]),
            roles=shape.roles,
            partners=Room(0, (), joins=shape.joins).partners(),
            filter=numbers,
            programs=starts,
            visit=np.array([any(hasattr(kind, name) for name in TOLD)], np.uint8),
            groups=np.full(len(shape.joins), NONE, np.int64),
            cursors=np.zeros(shape.roles.shape[1], np.int64),
        )
        self._slots = slots
        self._compiled = specialise(kernel.run, kind)
        self.run(_no_feed(len(shape.joins)))  # compile it now, not when time is measured

    def _rooms(self, slots: int, pools: int) -> list[Room]:
        in_order = not any(self._shape.validity)
        return [
            Room(
                slots,
                tuple(stream for stream, its in enumerate(self._pools) if its == pool),
                self._seed + pool,
                joins=self._shape.joins,
                in_order=in_order,
            )
            for pool in range(pools)
        ]

    def run(self, feed: Feed, listing: bool = False) -> "Engine":
        """Run over the whole merged input."""
        streams, joins = self._shape.streams, len(self._shape.joins)
        arrivals = len(feed.time)
        self.ledger = Ledger(
            used=np.zeros(len(self.states), np.int64),
            evicted=np.zeros(streams, np.int64),
            expired=np.zeros(streams, np.int64),
            replaced=np.zeros(streams, np.int64),
            refused=np.zeros(streams, np.int64),
            shed=np.zeros(streams, np.int64),
            found=np.zeros((arrivals, joins), np.int64),
            held=np.zeros(arrivals, np.int32),
        )
        subjects = int(feed.subject.max(initial=NONE)) + 1
        self.buffer = buffers.allocate(self._slots, joins, streams, subjects)
        self.output = _new_output(FIRST_OUTPUT if listing else 0, self.plan.roles.shape[1])
        why, at = SLOTS_FULL, 0
        while why != DONE:
            why, at = self._call(feed, at)
            if why == SLOTS_FULL:
                self._grow()
            if why == STATISTICS_FULL:
                self.states = tuple(
                    self.policy.enlarge(state) if crowded(state) else state for state in self.states
                )
            if why == OUTPUT_FULL:
                self.output = _enlarged(self.output)
            if why == BAD_VICTIM:
                raise PolicyError(
                    f"policy {self.policy.spec} chose a victim that is not in its part of the"
                    " buffer; victim() must return a slot with a tuple of one of room.streams, or"
                    " NEWCOMER"
                )
        return self

    def _call(self, feed: Feed, at: int) -> tuple[int, int]:
        # The number of states is part of their type: with few numbers, there is less to compile.
        padded = 4
        while padded < len(self.states):
            padded *= 2
        states = self.states + self.states[-1:] * (padded - len(self.states))
        try:
            why, stopped = self._compiled(
                states, self.buffer, feed, at, self.plan, self.ledger, self._code, self.output
            )
        except NumbaError as error:
            raise PolicyError(
                f"policy {self.policy.spec} cannot be compiled: {compile_error(str(error))}"
            ) from error
        return int(why), int(stopped)

    def _grow(self) -> None:
        self._slots = min(max(2 * self._slots, FIRST_SLOTS), self._most)
        self.buffer = buffers.enlarge(self.buffer, self._slots)
        self.states = tuple(
            self.policy.grow(state, room)
            for state, room in zip(
                self.states, self._rooms(self._slots, len(self.states)), strict=True
            )
        )

    @property
    def results(self) -> list[tuple[int, tuple[int, ...]]]:
        """The results, if they were listed: the join, and rows of the merged input."""
        return [
            (join, rows[: len(self._shape.joins[join])])
            for join, rows in zip(
                self.output.join[: self.output.filled[0]].tolist(),
                map(tuple, self.output.rows[: self.output.filled[0]].tolist()),
                strict=True,
            )
        ]


def _no_feed(joins: int) -> Feed:
    none = np.zeros(0, np.int64)
    by_join = np.zeros((0, joins), np.int64)
    return Feed(
        stream=none.astype(np.int32),
        time=none,
        moment=none,
        expires=none,
        keys=by_join,
        present=by_join.astype(np.uint8),
        subject=none,
        extra=np.zeros((0, 0, 0), np.int64),
    )


def _new_output(rows: int, width: int) -> Output:
    filled = np.zeros(1, np.int64)
    return Output(np.zeros(rows, np.int64), np.zeros((rows, width), np.int64), filled)


def _enlarged(output: Output) -> Output:
    rows, width = output.rows.shape
    larger = _new_output(2 * rows, width)
    larger.join[:rows], larger.rows[:rows] = output.join, output.rows
    larger.filled[:] = output.filled
    return larger
