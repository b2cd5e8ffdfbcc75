"""The engine: buffer, policy and ledger of one join, and the compiled loop that runs them.

It knows nothing of Arrow or payload. It takes feeds of codes and times, and gives back counts and
pairs of row numbers.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba.core.errors import NumbaError

from recollect.compiled import specialise
from recollect.errors import BudgetError, PolicyError
from recollect.join import buffer as buffers
from recollect.join import kernel, links
from recollect.join.budget import Capacity
from recollect.join.buffer import GROUP, SLOT, Storage
from recollect.join.encoding import no_feed, rest_of
from recollect.join.kernel import (
    BAD_VICTIM,
    BEFORE_ALL,
    DONE,
    SLOTS_FULL,
    STATISTICS_FULL,
    Feed,
    Ledger,
    Output,
    Plan,
)
from recollect.join.query import Bound
from recollect.join.residual import Residual
from recollect.policies.base import Policy, Room, State, crowded

FIRST_SLOTS = 1024
MOST_SLOTS = 2**31 - 2
LINK_BYTES = 4
TABLE_BYTES = 32
"""Of the hash table, per slot, at its emptiest."""


def _arrays(state: State) -> list[np.ndarray]:
    flat: list[np.ndarray] = []
    for part in state:
        flat.extend(_arrays(part) if isinstance(part, tuple) else [part])
    return flat


def _with_arrays(state: State, arrays: list[np.ndarray]) -> State:
    """The same kind of state with other arrays, taken from the front of the list."""
    parts = [
        _with_arrays(part, arrays) if isinstance(part, tuple) else arrays.pop(0) for part in state
    ]
    return type(state)(*parts)


def _nbytes(state: State) -> int:
    return sum(array.nbytes for array in _arrays(state))


def _bytes_per_slot(policy: Policy) -> int:
    few, many = (_nbytes(policy.start(Room(slots, (0,)))) for slots in (1024, 2048))
    return (many - few) // 1024


def compile_error(message: str) -> str:
    """The line of numba's long message that says what is wrong."""
    if re.search(r"NRT required|function (zeros|empty|ones|full)\b", message):
        return "its functions must not create arrays"
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    frames = [i for i, line in enumerate(lines[:-1]) if "Failed in nopython mode" in line]
    return lines[frames[-1] + 1] if frames else lines[0]


class Engine:
    """A memory-bounded join of two streams of codes.

    Parameters
    ----------
    policy
        Which tuple to forget.
    kinds, spans
        By stream: the kind and length of its window.
    capacity
        The budget.
    residual
        A filter on pairs, compiled.
    extra_width
        How many words per tuple the filter looks at.
    seed
        For policies that draw random numbers.
    visit
        Look at every match, so that the policy learns of it. Without, results are only counted.
    unordered
        Allow a call of :meth:`run` to begin at a time before the end of the one before it, down to
        what :meth:`expect_from` says. Not for count windows.
    """

    def __init__(
        self,
        policy: Policy,
        kinds: Sequence[int],
        spans: Sequence[int],
        capacity: Capacity,
        residual: Residual,
        extra_width: int = 0,
        seed: int = 0,
        visit: bool = True,
        unordered: bool = False,
    ) -> None:
        self.policy = policy
        self.capacity = capacity
        self.seed = seed
        self._residual = residual
        self._split = len(capacity.pools) > 1
        most_slots = MOST_SLOTS if capacity.in_bytes else min(sum(capacity.pools), MOST_SLOTS)
        # With one slot numpy calls the arrays contiguous, which is another type to numba.
        slots = max(2, min(FIRST_SLOTS, most_slots))
        self.storage = buffers.allocate(slots, extra_width)
        self.states = tuple(policy.started(room) for room in self._rooms(slots))
        self.plan = Plan(
            kind=np.array(kinds, np.int64),
            span=np.array(spans, np.int64),
            pool=np.array([0, int(self._split)], np.int64),
            capacity=np.array(capacity.pools, np.int64),
            most_slots=np.array([most_slots], np.int64),
            overhead=np.zeros(1, np.int64),
            reserved=np.zeros(1, np.int64),
            visit=np.array([int(visit)], np.int64),
            unordered=np.array([int(unordered)], np.int64),
            horizon=np.full(2, BEFORE_ALL, np.int64),
            look_back=np.zeros(1, np.int64),
        )
        if unordered:
            buffers.view(self.storage).clock[:] = BEFORE_ALL
        lengths = [2] * 5 + [kernel.TOTALS]
        self.ledger = Ledger(*(np.zeros(length, np.int64) for length in lengths))
        self._policy_bytes = _bytes_per_slot(policy)
        if capacity.in_bytes:
            self.plan.overhead[0] = self.bytes_per_tuple
        self._run = self._compiled()

    @classmethod
    def of(
        cls,
        bound: Bound,
        policy: Policy,
        capacity: Capacity,
        seed: int = 0,
        visit: bool = True,
        unordered: bool = False,
    ) -> "Engine":
        """Make an engine for a query."""
        return cls(
            policy,
            [window.kind for window in bound.query.windows],
            bound.spans,
            capacity,
            bound.residual,
            extra_width=bound.filter.width if bound.filter is not None else 0,
            seed=seed,
            visit=visit,
            unordered=unordered,
        )

    def _rooms(self, slots: int) -> list[Room]:
        streams: list[tuple[int, ...]] = [(0,), (1,)] if self._split else [(0, 1)]
        pools = self.capacity.pools if self.capacity.in_bytes else (None,) * len(streams)
        return [
            Room(slots, part, self.seed + i, pool)
            for i, (part, pool) in enumerate(zip(streams, pools, strict=True))
        ]

    def _compiled(self) -> Any:
        """The loop for this policy, compiled or taken from the cache on disk."""
        kind: type = type(self.states[0])
        run = specialise(kernel.run, kind)
        empty = no_feed(self.extra_width)
        try:
            self._call(run, (empty, empty), NO_BASE, NO_BASE, NO_OUTPUT)
        except NumbaError as error:
            reason = compile_error(str(error))
            raise PolicyError(f"policy {self.policy.spec} cannot be compiled: {reason}") from error
        return run

    def _call(
        self, run: Any, feeds: Any, until: np.ndarray, base: np.ndarray, output: Output
    ) -> tuple[int, int, int]:
        states = (self.states[0], self.states[-1])
        why, left, right = run(
            states, buffers.view(self.storage), feeds, until, base,
            self.plan, self.ledger, self._residual, output,
        )  # fmt: skip
        return int(why), int(left), int(right)

    def expect_from(self, certain: int, probable: int) -> None:
        """Begin a batch; say how old tuples after it can be: at least, or probably.

        Only for engines that are ``unordered``.
        """
        self.plan.horizon[:] = certain, probable
        self.plan.look_back[0] = 1

    def run(
        self, feeds: tuple[Feed, Feed], until: np.ndarray, base: np.ndarray, output: Output
    ) -> tuple[int, int, int]:
        """Join two feeds up to the times in ``until``.

        Returns why it stopped (DONE, or else it must be called again with the rest, after emptying
        the output if that is full), and how many tuples of each stream were taken.
        """
        if self.capacity.in_bytes:
            self._set_byte_capacity()
        why, left, right = self._call(self._run, feeds, until, base, output)
        if why == SLOTS_FULL:
            self._grow()
        if why == STATISTICS_FULL:
            self.states = tuple(
                self.policy.enlarge(state) if crowded(state) else state for state in self.states
            )
        if why == BAD_VICTIM:
            raise PolicyError(
                f"policy {self.policy.spec} chose a victim that is not in its part of the buffer;"
                " victim() must return a slot with a tuple of one of room.streams, or NEWCOMER"
            )
        return why, left, right

    def count(self, feeds: tuple[Feed, Feed], until: np.ndarray) -> tuple[int, int]:
        """Join two feeds up to the times in ``until``, counting the results."""
        left = right = 0
        while True:
            rest = (rest_of(feeds[0], left), rest_of(feeds[1], right))
            why, more_left, more_right = self.run(rest, until, NO_BASE, NO_OUTPUT)
            left, right = left + more_left, right + more_right
            if why == DONE:
                return left, right

    def _grow(self) -> None:
        slots = len(self.storage.slots)
        # Where memory is counted in bytes, less of it should be empty.
        more = slots + slots // 4 if self.capacity.in_bytes else 2 * slots
        slots = min(max(more, FIRST_SLOTS), int(self.plan.most_slots[0]))
        self.storage = buffers.enlarge(self.storage, slots)
        self.states = tuple(
            self.policy.grow(state, room)
            for state, room in zip(self.states, self._rooms(slots), strict=True)
        )

    @property
    def bytes_per_tuple(self) -> int:
        """What a buffered tuple costs in the engine itself, on top of its payload."""
        extra = 8 * self.extra_width
        policy = len(self.states) * self._policy_bytes
        return SLOT.itemsize + LINK_BYTES + GROUP.itemsize + TABLE_BYTES + extra + policy

    def _set_byte_capacity(self) -> None:
        """Take what is not per tuple, such as counts of keys, from the budget.

        Slots count also if they are empty, but for a fifth of them (they grow by a quarter) and the
        first ones.
        """
        slots = len(self.storage.slots)
        self.plan.reserved[0] = (slots - FIRST_SLOTS) * 4 // 5
        for pool, (budget, state) in enumerate(zip(self.capacity.pools, self.states, strict=True)):
            statistics = _nbytes(state) - self._policy_bytes * slots
            if statistics >= budget:
                raise BudgetError(
                    f"the statistics of policy {self.policy.spec} need {statistics} bytes, which"
                    f" leaves nothing of a budget of {budget} bytes; bound them (as prob and life"
                    " do with counts=sketch) or give more"
                )
            self.plan.capacity[pool] = budget - statistics

    @property
    def payload_bytes(self) -> int | None:
        """What the rows of the buffered tuples may take; None if the budget is not in bytes."""
        if not self.capacity.in_bytes:
            return None
        live = self.live(0) + self.live(1)
        return int(self.ledger.used.sum()) - live * self.bytes_per_tuple

    @property
    def extra_width(self) -> int:
        """How many words per tuple the filter looks at."""
        return int(self.storage.extra.shape[1])

    def live(self, stream: int) -> int:
        """How many tuples of a stream are buffered."""
        return int(buffers.view(self.storage).live[stream])

    def rows_of(self, stream: int, from_row: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """The slots of a stream in order of arrival, and the numbers of their rows."""
        view = buffers.view(self.storage)
        slots = buffers.slots_of(view, stream, from_row)
        return slots, view.row[slots]

    def serials(self, slots: np.ndarray) -> np.ndarray:
        """Which arrivals the tuples in some slots were."""
        return self.storage.slots["serial"][slots]

    def relocate(self, slots: np.ndarray, rows: np.ndarray) -> None:
        """Tell the buffer that the rows of some tuples have new numbers."""
        self.storage.slots["row"][slots] = rows

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything that makes up the state of the engine."""
        return self._named(self.storage)

    def snapshot(self) -> dict[str, np.ndarray]:
        """The same, with zeros where something can be found again, so that it compresses well."""
        return self._named(links.without_links(self.storage))

    def _named(self, storage: Storage) -> dict[str, np.ndarray]:
        states = [array for state in self.states for array in _arrays(state)]
        named = dict(storage._asdict(), **self.ledger._asdict())
        return named | {f"state{i}": array for i, array in enumerate(states)}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what :meth:`arrays` gave."""
        self.storage = Storage(*(arrays[name] for name in Storage._fields))
        self.ledger = Ledger(*(arrays[name] for name in Ledger._fields))
        flat = [
            arrays[f"state{i}"] for i in range(sum(name.startswith("state") for name in arrays))
        ]
        self.states = tuple(_with_arrays(state, flat) for state in self.states)

    def restore_snapshot(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what :meth:`snapshot` gave; then :meth:`relocate` every tuple's row."""
        self.restore(arrays)
        links.find_links(self.storage)


def new_output(rows: int) -> Output:
    """Room for so many pairs."""
    return Output(np.empty(rows, np.int64), np.empty(rows, np.int64), np.zeros(1, np.int64))


NO_BASE = np.zeros(2, np.int64)
NO_OUTPUT = new_output(0)
