"""The engine: buffer, policy and ledger of a query, and the compiled loop that runs them.

It knows nothing of Arrow or payload. It takes feeds of codes and moments, and gives back counts and
row numbers of results.
"""

import re
from time import perf_counter
from typing import Any

import numpy as np

from recollect.compiled import is_interpreted, specialise
from recollect.errors import BudgetError, PolicyError, StateError
from recollect.join import buffer as buffers
from recollect.join import kernel, links
from recollect.join.budget import Capacity
from recollect.join.buffer import Buffer, Storage, group_type, slot_type
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
    Trace,
)
from recollect.join.setting import Setting
from recollect.policies.base import FIRST_SLOTS, Policy, Room, State, crowded
from recollect.policies.shape import NONE

MOST_SLOTS = 2**31 - 2
LINK_BYTES = 4
FEW_ARRIVALS = 1_000
"""So many arrivals are handled by plain Python before a loop is compiled."""
FEW_SECONDS = 0.5
"""And for no longer than this."""
TABLE_BYTES = 32
"""Of the hash table, per slot, at its emptiest."""


def _arrays(state: State) -> list[np.ndarray]:
    flat: list[np.ndarray] = []
    for part in state:
        if isinstance(part, tuple):
            flat.extend(_arrays(part))
        elif isinstance(part, np.ndarray):  # and not a parameter
            flat.append(part)
    return flat


def _with_arrays(state: State, arrays: list[np.ndarray]) -> State:
    """The same kind of state with other arrays, taken from the front of the list."""
    parts = []
    for part in state:
        if isinstance(part, tuple):
            part = _with_arrays(part, arrays)
        elif isinstance(part, np.ndarray):
            part = arrays.pop(0).view(type(part))
        parts.append(part)
    return type(state)(*parts)


def _nbytes(state: State) -> int:
    return sum(array.nbytes for array in _arrays(state))


def compile_error(message: str) -> str:
    """The line of numba's long message that says what is wrong."""
    if re.search(r"NRT required|function (zeros|empty|ones|full)\b", message):
        return "its functions must not create arrays"
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    frames = [i for i, line in enumerate(lines[:-1]) if "Failed in nopython mode" in line]
    return lines[frames[-1] + 1] if frames else lines[0]


class Loop:
    """A kernel that is plain Python for the first arrivals, and compiled when it is worth it.

    Compiling takes seconds, and even numba's import half a second, so a small join is over before.
    Both ways give the same results. A policy of the user's own is compiled at once, so that what
    cannot be compiled shows at once.

    Parameters
    ----------
    policy
        Which tuple to forget.
    kernel
        A module-level function that calls hooks.
    """

    def __init__(self, policy: Policy, kernel: Any) -> None:
        self._policy, self._kernel = policy, kernel
        self._run: Any = None
        self._handled = 0
        self._seconds = 0.0
        own = type(policy).__module__.partition(".")[0] != __name__.partition(".")[0]
        self._few = -1 if own else FEW_ARRIVALS

    def prepare(self, arrivals: int, *arguments: Any) -> None:
        """Compile the loop for arguments like these, unless so few arrivals can do without."""
        if self._run is not None or is_interpreted():
            return
        if self._handled + arrivals <= self._few and self._seconds < FEW_SECONDS:
            return
        run = specialise(self._kernel, *arguments)
        try:
            run(*arguments)
        except Exception as error:
            if not type(error).__module__.startswith("numba"):
                raise
            reason = compile_error(str(error))
            raise PolicyError(f"policy {self._policy.spec} cannot be compiled: {reason}") from error
        self._run = run

    def __call__(self, arrivals: int, *arguments: Any) -> Any:
        """Run it; so many arrivals are still to come."""
        if self._run is not None:
            return self._run(*arguments)
        started = perf_counter()
        with np.errstate(over="ignore"):
            answer = self._kernel(*arguments)
        self._handled += arrivals
        self._seconds += perf_counter() - started
        return answer


class Engine:
    """A memory-bounded join of streams of codes.

    Parameters
    ----------
    policy
        Which tuple to forget.
    setting
        The streams and joins.
    capacity
        The budget.
    seed
        For policies that draw random numbers.
    visit
        Look at every match, so that the policy learns of it. Without, results are only counted.
    unordered
        Allow a call of :meth:`run` to begin at a time before the end of the one before it, down to
        what :meth:`expect_from` says. For plain joins of two streams without count windows.
    """

    def __init__(
        self,
        policy: Policy,
        setting: Setting,
        capacity: Capacity,
        *,
        seed: int = 0,
        visit: bool = True,
        unordered: bool = False,
    ) -> None:
        self.policy = policy
        self.setting = setting
        self.capacity = capacity
        self.seed = seed
        pools = len(capacity.pools)
        of_stream = np.arange(setting.streams) if pools > 1 else np.zeros(setting.streams, np.int64)
        most_slots = MOST_SLOTS if capacity.in_bytes else min(sum(capacity.pools), MOST_SLOTS)
        # With one slot numpy calls the arrays contiguous, which is another type to numba.
        slots = max(2, min(FIRST_SLOTS, most_slots))
        self.storage = buffers.allocate(slots, setting.width, setting.shape)
        self.states = tuple(policy.started(room) for room in self._rooms(slots))
        self.plan = Plan(
            counting=np.array(setting.counting, np.uint8),
            pool=of_stream.astype(np.int64),
            capacity=np.array(capacity.pools, np.int64),
            by_rate=np.array(
                [all(np.array(setting.by_rate)[of_stream == pool]) for pool in range(pools)],
                np.uint8,
            ),
            most_slots=np.array([most_slots], np.int64),
            overhead=np.zeros(1, np.int64),
            reserved=np.zeros(1, np.int64),
            visit=np.array([int(visit)], np.int64),
            unordered=np.array([int(unordered)], np.int64),
            horizon=np.full(2, BEFORE_ALL, np.int64),
            overdue=np.zeros(0, np.int64),
            waiting=np.zeros(1, np.int64),
            streams_of=setting.streams_of,
            groups=np.full(setting.tables, NONE, np.int64),
            cursors=np.zeros(setting.streams_of.shape[1], np.int64),
        )
        if unordered:
            self.buffer.clock[:] = BEFORE_ALL
        by_stream = [setting.streams] * 6
        lengths = [pools, *by_stream, len(setting.joins), kernel.TOTALS]
        self.ledger = Ledger(*(np.zeros(length, np.int64) for length in lengths))
        few, many = (_nbytes(policy.start(self._rooms(slots)[0])) for slots in (1024, 2048))
        self._policy_bytes = (many - few) // 1024
        if capacity.in_bytes:
            self.plan.overhead[0] = self.bytes_per_tuple
        self._loop = Loop(policy, kernel.run)
        self.prepare(0)

    def prepare(self, arrivals: int) -> None:
        """Compile the loop, so that this need not be done while time is measured."""
        nothing = self._arguments(no_feed(self.setting), 0, NO_OUTPUT, NO_TRACE)
        self._loop.prepare(arrivals, *nothing)

    def _rooms(self, slots: int) -> list[Room]:
        count = len(self.capacity.pools)
        everyone = tuple(range(self.setting.streams))
        return [
            Room(
                slots,
                everyone if count == 1 else (pool,),
                self.seed + pool,
                bytes_ if self.capacity.in_bytes else None,
                self.setting.joins,
                self.setting.ends,
            )
            for pool, bytes_ in enumerate(self.capacity.pools)
        ]

    @property
    def buffer(self) -> Buffer:
        """The buffered tuples, as policies see them."""
        return buffers.view(self.storage, self.setting.shape)

    def _arguments(self, feed: Feed, begin: int, output: Output, trace: Trace) -> tuple[Any, ...]:
        """What the kernel takes."""
        # The number of states is part of their type: with few numbers, there is less to compile.
        padded = min(len(self.states), 2)
        while padded < len(self.states):
            padded *= 2
        states = (*self.states, *[self.states[-1]] * (padded - len(self.states)))
        return (
            states, self.buffer, feed, begin, self.plan, self.ledger, self.setting.filters,
            output, trace,
        )  # fmt: skip

    def expect_from(self, certain: int, probable: int) -> None:
        """Begin a batch; say how old tuples after it can be: at least, or probably.

        Only for engines that are ``unordered``.
        """
        self.plan.horizon[:] = certain, probable

    def _drop_behind_the_young(self, first: int) -> None:
        """Expire what stands behind a tuple that came too early, one with a future time stamp.

        Tuples expire from the old end of the list of arrivals, where such a tuple would hold up all
        that came after it. ``first`` is the earliest time of the batch that is about to come.
        """
        buffer = self.buffer
        now = min(first, int(self.plan.horizon[kernel.CERTAIN]))
        overdue = [np.zeros(0, np.int64)]
        for stream, oldest in enumerate(buffer.oldest):
            if oldest != NONE and buffer.time[oldest] > first:
                slots = buffers.slots_of(buffer, stream)
                overdue.append(slots[buffer.expires[slots] < now])
        slots = np.concatenate(overdue)[::-1].copy()
        self.plan = self.plan._replace(overdue=slots, waiting=np.array([len(slots)]))

    def run(
        self, feed: Feed, begin: int, output: Output, trace: Trace | None = None
    ) -> tuple[int, int]:
        """Join a feed from an arrival on.

        Returns why it stopped (DONE, or else it must be called again, after emptying the output if
        that is full), and before which arrival.
        """
        if self.capacity.in_bytes:
            self._set_byte_capacity()
        if self.plan.unordered[0] and begin == 0 and len(feed.order):
            self._drop_behind_the_young(int(feed.time[feed.order[0]]))
        arrivals = len(feed.order) - begin
        self.prepare(arrivals)
        arguments = self._arguments(feed, begin, output, NO_TRACE if trace is None else trace)
        why, stopped = map(int, self._loop(arrivals, *arguments))
        if why == SLOTS_FULL:
            self._grow()
        if why == STATISTICS_FULL:
            self.states = tuple(
                self.policy.expand(state) if crowded(state) else state for state in self.states
            )
        if why == BAD_VICTIM:
            raise PolicyError(
                f"policy {self.policy.spec} chose a victim that is not in its part of the buffer;"
                " victim() must return a slot with a tuple of one of room.streams, or NEWCOMER"
            )
        return why, stopped

    def count(self, feed: Feed, trace: Trace | None = None) -> None:
        """Join a feed, counting the results."""
        why, at = SLOTS_FULL, 0
        while why != DONE:
            why, at = self.run(feed, at, NO_OUTPUT, trace)

    def _grow(self) -> None:
        slots = len(self.storage.slots)
        # Where memory is counted in bytes, less of it should be empty.
        more = slots + slots // 4 if self.capacity.in_bytes else 2 * slots
        slots = min(max(more, FIRST_SLOTS), int(self.plan.most_slots[0]))
        self.storage = buffers.with_slots(self.storage, slots, self.setting.shape)
        self.states = tuple(
            self.policy.grow(state, room)
            for state, room in zip(self.states, self._rooms(slots), strict=True)
        )

    @property
    def bytes_per_tuple(self) -> int:
        """What a buffered tuple costs in the engine itself, on top of its payload."""
        tables = self.setting.tables
        records = slot_type(tables).itemsize + tables * group_type(self.setting.streams).itemsize
        extra = 8 * self.setting.width + (8 if any(self.setting.ends) else 0)
        policy = len(self.states) * self._policy_bytes
        return records + tables * (LINK_BYTES + TABLE_BYTES) + extra + policy

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
        return int(self.ledger.used.sum()) - int(self.buffer.live.sum()) * self.bytes_per_tuple

    def live(self, stream: int) -> int:
        """How many tuples of a stream are buffered."""
        return int(self.buffer.live[stream])

    def rows_of(self, stream: int, from_row: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """The slots of a stream in order of arrival, and the numbers of their rows."""
        buffer = self.buffer
        slots = buffers.slots_of(buffer, stream, from_row)
        return slots, buffer.row[slots]

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
        return self._named(links.without_links(self.storage, self.setting.shape))

    def _named(self, storage: Storage) -> dict[str, np.ndarray]:
        states = [array for state in self.states for array in _arrays(state)]
        named = dict(storage._asdict(), **self.ledger._asdict())
        return named | {f"state{i}": array for i, array in enumerate(states)}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what :meth:`arrays` gave."""
        expected = self.arrays()
        for name, array in expected.items():
            other = arrays.get(name)
            if other is None or other.dtype != array.dtype or other.ndim != array.ndim:
                raise StateError(
                    f"the saved state does not fit policy {self.policy.spec} of this version: its"
                    f" part {name!r} is {'missing' if other is None else 'of another kind'}"
                )
        self.storage = Storage(*(arrays[name] for name in Storage._fields))
        self.ledger = Ledger(*(arrays[name] for name in Ledger._fields))
        flat = [arrays[name] for name in expected if name.startswith("state")]
        self.states = tuple(_with_arrays(state, flat) for state in self.states)

    def restore_snapshot(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what :meth:`snapshot` gave; then :meth:`relocate` every tuple's row."""
        self.restore(arrays)
        links.find_links(self.storage, self.setting.shape)


def new_output(results: int, places: int = 2) -> Output:
    """Room for so many results."""
    filled = np.zeros(1, np.int64)
    return Output(np.zeros(results, np.int64), np.empty((places, results), np.int64), filled)


def new_trace(arrivals: int, joins: int = 1) -> Trace:
    """Room for what so many arrivals do."""
    return Trace(np.zeros((arrivals, joins), np.int64), np.zeros(arrivals, np.int64))


def no_feed(setting: Setting) -> Feed:
    """A feed without tuples."""
    none = np.zeros(0, np.int64)
    keys = np.zeros((0, setting.tables), np.int64)
    return Feed(
        none.view(np.uint64), none.astype(np.int32), none, none, none, keys,
        keys.astype(np.uint8), none, none, np.zeros((0, setting.width), np.int64),
    )  # fmt: skip


NO_OUTPUT = new_output(0)
NO_TRACE = new_trace(0)
