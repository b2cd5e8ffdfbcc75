"""The join of two streams, batch by batch: :class:`Join`."""

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from recollect.errors import InputError, PolicyError, StateError
from recollect.join.budget import Budget, capacity_of, parse_budget, parse_shares
from recollect.join.encoding import Encoded
from recollect.join.engine import Engine, new_output
from recollect.join.kernel import OUTPUT_FULL
from recollect.join.lanes import Lanes, Step
from recollect.join.payload import RAW, PayloadStore, fit
from recollect.join.query import SIDES, Bound, Query, bind
from recollect.join.result import ResultShape
from recollect.join.saving import Saved, pack, unpack
from recollect.join.stats import Stats
from recollect.policies import Policy, parse_policy
from recollect.streams import open_source

DEFAULT_POLICY = "clock"
BATCH_ROWS = 65_536
"""What is fed in is taken in by pieces of at most so many rows."""
OUTPUT_ROWS = 8_192
"""Results come in batches of about so many rows."""


class Join:
    """A memory-bounded window join of two streams that are fed in batch by batch.

    Tuples are joined in the order of their times, at equal times the left stream first. So a tuple
    waits until the other stream has come as far: feed both in step. The results do not depend on
    how the streams are cut into batches.

    Parameters
    ----------
    on
        The key columns: ``"key"``, ``"left_key=right_key"``, several separated by commas, or a
        list of such.
    time
        The time column, or ``"left=right"``. Whole numbers, time stamps or dates.
    window
        How long a tuple may match; see :mod:`recollect.join.window`. A pair gives each stream its
        own.
    budget
        How much may be remembered: ``2000`` tuples, ``"64MB"``, or None for no limit.
    policy
        Which tuple to forget, by name or as an object made from :class:`~recollect.Policy`.
    split
        None for one buffer that both streams share, ``"equal"`` or the shares of both.
    where
        A condition on the pair beyond equal keys, such as ``"left.sensor != right.sensor"``.
    lateness
        How far out of order tuples may come; without it, a time that goes backwards is an error.
        What is later than that is left out and counted.
    null_keys
        ``"skip"``: tuples with NULL or NaN keys never match, as in SQL; ``"error"``: refuse them.
    seed
        For policies that draw random numbers.
    count_only
        Count the results instead of handing them out; the rows are then not kept.

    Examples
    --------
    >>> import pyarrow as pa
    >>> join = Join(on="k", time="t", window=10, budget=100)
    >>> left = pa.record_batch({"t": [1, 5], "k": [7, 8], "x": ["a", "b"]})
    >>> right = pa.record_batch({"t": [2, 30], "k": [7, 8]})
    >>> for batch in [*join.feed("left", left), *join.feed("right", right), *join.finish()]:
    ...     batch.to_pylist()
    [{'left_t': 1, 'left_k': 7, 'x': 'a', 'right_t': 2, 'right_k': 7}]
    >>> join.stats.results
    1
    """

    def __init__(
        self,
        *,
        on: str | Sequence[Any],
        time: Any,
        window: Any,
        budget: Any = None,
        policy: str | Policy | type[Policy] = DEFAULT_POLICY,
        split: Any = None,
        where: str | None = None,
        lateness: Any = None,
        null_keys: str = "skip",
        seed: int = 0,
        count_only: bool = False,
    ) -> None:
        self._query = Query.parse(on, time, window, where, lateness, null_keys)
        self._budget = parse_budget(budget)
        self._policy = parse_policy(policy)
        self.capacity = capacity_of(self._budget, parse_shares(split))
        self._arguments = {
            "on": [list(pair) for pair in zip(*self._query.on, strict=True)],
            "time": list(self._query.time),
            "window": [str(window) for window in self._query.windows],
            "budget": [self._budget.tuples, self._budget.bytes, self._budget.text],
            "policy": self._policy.spec,
            "split": _plain(parse_shares(split)),
            "where": where,
            "lateness": self._query.lateness,
            "null_keys": null_keys,
            "seed": int(seed),
            "count_only": count_only,
        }
        self._seed = int(seed)
        self.count_only = count_only
        self._schemas: list[pa.Schema | None] = [None, None]
        self._early: list[tuple[int, pa.RecordBatch]] = []
        self._ended = [False, False]
        self.lanes: Lanes | None = None
        self._seconds = 0.0

    # -- feeding -----------------------------------------------------------------------------

    def feed(self, side: str, data: Any) -> Iterator[pa.RecordBatch]:
        """Take in tuples of a stream; hand out the results that follow.

        The tuples are taken in at once. Results that are not fetched from the iterator come with
        the next call.

        Parameters
        ----------
        side
            ``"left"`` or ``"right"``.
        data
            A record batch, a table, a frame, or whatever else :func:`recollect.join` reads.
        """
        stream = self._stream(side)
        if self._ended[stream]:
            raise InputError(f"the {side} stream has been finished; nothing more can be fed")
        source = open_source(data)
        self.expect(side, source.schema)
        for batch in source.batches(batch_rows=BATCH_ROWS):
            if self.lanes is None:
                self._early.append((stream, batch))
            else:
                self.lanes.both[stream].add(batch)
        return self._results()

    def expect(self, side: str, schema: pa.Schema) -> None:
        """Tell the columns of a stream before its first tuples come."""
        stream = self._stream(side)
        self._schemas[stream] = self._schemas[stream] or schema
        left, right = self._schemas
        if self.lanes is None and left is not None and right is not None:
            self._begin(bind(self._query, left, right))

    def finish(self, side: str | None = None) -> Iterator[pa.RecordBatch]:
        """Tell that no more tuples will come, of one stream or of both; hand out what follows."""
        for stream in range(2) if side is None else [self._stream(side)]:
            self._ended[stream] = True
            if self.lanes is not None:
                self.lanes.both[stream].finish()
        return self._results()

    @staticmethod
    def _stream(side: str) -> int:
        if side not in SIDES:
            raise InputError(f"{side!r} is not a side of a join; give 'left' or 'right'")
        return SIDES.index(side)

    # -- joining -----------------------------------------------------------------------------

    def _begin(self, bound: Bound) -> None:
        self._engine = Engine.of(bound, self._policy, self.capacity, self._seed)
        self.lanes = Lanes(bound, measure=self.capacity.in_bytes)
        self._shape = ResultShape(bound)
        self._stores = (PayloadStore(), PayloadStore())
        self._bases: list[int | None] = [None, None]
        rows = 0 if self.count_only else OUTPUT_ROWS
        self._output = new_output(rows)
        self._collisions = 0
        early, self._early = self._early, []
        for stream, batch in early:
            self.lanes.both[stream].add(batch)
        for lane, ended in zip(self.lanes.both, self._ended, strict=True):
            if ended:
                lane.finish()

    def _results(self) -> Iterator[pa.RecordBatch]:
        if self.lanes is None:
            return
        for step in self.lanes.steps():
            started = perf_counter()
            why, taken = self._run(step)
            self.lanes.take(taken)
            pairs = int(self._output.filled[0])
            batch = self._taken_pairs(pairs) if pairs else None
            self._let_go(step, taken)
            if why == OUTPUT_FULL and not pairs:
                self._output = new_output(2 * len(self._output.left))
            self._seconds += perf_counter() - started
            if batch is not None and batch.num_rows:
                yield batch

    def _run(self, step: Step) -> tuple[int, tuple[int, int]]:
        feeds = step.feeds(self._engine.extra_width)
        base = np.zeros(2, np.int64)
        if not self.count_only:
            for stream, head in enumerate(step.heads):
                if head is not None:
                    base[stream] = self._base_of(stream, head) + step.offsets[stream]
        self._output.filled[0] = 0
        why, left, right = self._engine.run(feeds, step.until, base, self._output)
        return why, (left, right)

    def _base_of(self, stream: int, head: Encoded) -> int:
        base = self._bases[stream]
        if base is None:
            base = self._bases[stream] = self._stores[stream].add(head.batch)
        return base

    def _taken_pairs(self, pairs: int) -> pa.RecordBatch:
        left = self._stores[0].take(self._output.left[:pairs])
        right = self._stores[1].take(self._output.right[:pairs])
        batch = self._shape.joined(left, right)
        self._collisions += pairs - batch.num_rows
        return batch

    def _let_go(self, step: Step, taken: tuple[int, int]) -> None:
        """Keep of the rows that have been joined only those that are buffered."""
        if self.count_only:
            return
        for stream, (head, store) in enumerate(zip(step.heads, self._stores, strict=True)):
            base = self._bases[stream]
            if head is None or base is None:
                continue
            if step.offsets[stream] + taken[stream] == head.batch.num_rows:
                self._bases[stream] = None
                store.joined(base)
            if store.needs_settling:
                slots, rows = self._engine.rows_of(stream, from_row=RAW)
                store.settle(slots, rows, self._engine.relocate)
            if store.needs_compacting(self._engine.live(stream)):
                slots, rows = self._engine.rows_of(stream)
                store.compact(slots, rows, self._engine.relocate)
        most = self._engine.payload_bytes
        if most is not None:
            fit(self._stores, most, self._engine.rows_of, lambda stream: self._engine.relocate)

    # -- numbers -----------------------------------------------------------------------------

    @property
    def schema(self) -> pa.Schema | None:
        """The columns of the results; None until both streams are known."""
        return None if self.lanes is None else self._shape.schema

    @property
    def waiting(self) -> int:
        """How many tuples have been fed but not joined yet."""
        if self.lanes is None:
            return sum(batch.num_rows for _, batch in self._early)
        return sum(lane.waiting_rows for lane in self.lanes.both)

    @property
    def stats(self) -> Stats:
        """What has happened so far."""
        if self.lanes is None:
            return Stats.of_nothing(self._query, self._policy, self._budget)
        return Stats.of(
            self._query, self._budget, self._engine, self.lanes, self._seconds, self._collisions
        )

    # -- saving ------------------------------------------------------------------------------

    def save(self) -> bytes:
        """Everything the join remembers. :meth:`load` goes on from there, with the same victims."""
        header: dict[str, Any] = {
            "arguments": self._arguments,
            "ended": self._ended,
            "seconds": self._seconds,
        }
        arrays: dict[str, np.ndarray] = {}
        # An empty batch carries the schema.
        batches = [
            (f"schema:{stream}", pa.RecordBatch.from_pylist([], schema))
            for stream, schema in enumerate(self._schemas)
            if schema is not None
        ]
        batches += [(f"early:{stream}", batch) for stream, batch in self._early]
        if self.lanes is not None:
            arrays = self._engine.arrays()
            header |= {
                "bases": self._bases,
                "collisions": self._collisions,
                "joined": [store.raw_joined for store in self._stores],
                "lanes": [lane.counters() for lane in self.lanes.both],
            }
            for stream, lane in enumerate(self.lanes.both):
                batches += [(f"waiting:{stream}", part.batch) for part in lane.waiting]
                if lane.held is not None:
                    batches.append((f"held:{stream}", lane.held))
                segments = self._stores[stream].segments()
                batches += [(f"store:{stream}:{number}", part) for number, part in segments]
        return pack(Saved(header, arrays, batches))

    @classmethod
    def load(cls, data: bytes, policy: Policy | None = None) -> "Join":
        """Go on from what :meth:`save` gave.

        Parameters
        ----------
        data
            The saved join.
        policy
            Its policy, if that is more than its text says: ``Heeb`` with given laws.
        """
        saved = unpack(data)
        arguments = saved.header["arguments"]
        if policy is not None:
            if policy.spec != arguments["policy"]:
                raise StateError(
                    f"the join was saved with the policy {arguments['policy']}, not {policy.spec}"
                )
            arguments["policy"] = policy
        arguments["on"] = [tuple(pair) for pair in arguments["on"]]
        for name in ("time", "window"):
            arguments[name] = tuple(arguments[name])
        tuples, bytes_, text = arguments["budget"]
        arguments["budget"] = Budget(tuples=tuples, bytes=bytes_, text=text)
        try:
            join = cls(**arguments)
        except PolicyError as error:
            raise StateError(
                f"{error}; a policy that is more than its text says is given to load as well"
            ) from None
        for stream, side in enumerate(SIDES):
            for batch in saved.named(f"schema:{stream}"):
                join.expect(side, batch.schema)
            join._early += [(stream, batch) for batch in saved.named(f"early:{stream}")]
        join._ended = saved.header["ended"]
        join._seconds = saved.header["seconds"]
        if join.lanes is not None:
            join._restore(saved, join.lanes)
        return join

    def _restore(self, saved: Saved, lanes: Lanes) -> None:
        header = saved.header
        self._engine.restore(saved.arrays)
        self._bases = header["bases"]
        self._collisions = header["collisions"]
        for stream, lane in enumerate(lanes.both):
            held = saved.named(f"held:{stream}")
            lane.restore(
                header["lanes"][stream], saved.named(f"waiting:{stream}"), held[0] if held else None
            )
            prefix = f"store:{stream}:"
            segments = {
                int(name.removeprefix(prefix)): batch
                for name, batch in saved.batches
                if name.startswith(prefix)
            }
            self._stores[stream].restore(segments, header["joined"][stream])


def _plain(shares: Any) -> Any:
    return list(shares) if isinstance(shares, tuple) else shares
