"""Joins of streams that are fed in batch by batch: :class:`Join` for two of them."""

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Any, Self

import numpy as np
import pyarrow as pa

from recollect.errors import InputError, PolicyError, StateError
from recollect.join.budget import Budget, Capacity, capacity_of, parse_budget, parse_shares
from recollect.join.engine import Engine, new_output
from recollect.join.feed import Encoded
from recollect.join.kernel import OUTPUT_FULL, Feed
from recollect.join.lanes import Lanes
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


class OnlineJoin:
    """Joins over one memory, of streams that are fed in batch by batch.

    :class:`Join` is the one for two streams, :class:`recollect.workload.WorkloadJoin` that for any
    number of streams and joins.

    Parameters
    ----------
    names
        The streams.
    bind
        Checks the query against the schemas of all streams.
    policy
        Which tuple to forget.
    budget, capacity
        How much may be remembered, as typed and in the engine's terms.
    window
        The windows as one word.
    seed
        For policies that draw random numbers.
    count_only
        Count the results instead of handing them out; the rows are then not kept.
    """

    _arguments: dict[str, Any]
    """What :meth:`load` makes such a join from, as JSON knows it."""

    def __init__(
        self,
        names: Sequence[str],
        bind: Callable[..., Bound],
        policy: Policy,
        budget: Budget,
        capacity: Capacity,
        window: str,
        seed: int = 0,
        count_only: bool = False,
    ) -> None:
        self.names = tuple(names)
        self.capacity = capacity
        self.count_only = count_only
        self.lanes: Lanes | None = None
        self._bind = bind
        self._policy, self._budget, self._window, self._seed = policy, budget, window, int(seed)
        self._schemas: list[pa.Schema | None] = [None] * len(self.names)
        self._early: list[tuple[int, pa.RecordBatch]] = []
        self._ended = [False] * len(self.names)
        self._seconds = 0.0

    # -- feeding -----------------------------------------------------------------------------

    def take_in(self, name: str, data: Any) -> None:
        """Take in tuples of a stream: a record batch, a table, or whatever can be read."""
        number = self._number(name)
        if self._ended[number]:
            raise InputError(f"the {name} stream has been finished; nothing more can be fed")
        source = open_source(data)
        self.expect(name, source.schema)
        for batch in source.batches(batch_rows=BATCH_ROWS):
            if self.lanes is None:
                self._early.append((number, batch))
            else:
                self.lanes.all[number].add(batch)

    def expect(self, name: str, schema: pa.Schema) -> None:
        """Tell the columns of a stream before its first tuples come."""
        number = self._number(name)
        self._schemas[number] = self._schemas[number] or schema
        schemas = [schema for schema in self._schemas if schema is not None]
        if self.lanes is None and len(schemas) == len(self.names):
            self._begin(self._bind(*schemas))

    def end(self, name: str | None = None) -> None:
        """Tell that no more tuples will come, of one stream or of all."""
        for number in range(len(self.names)) if name is None else [self._number(name)]:
            self._ended[number] = True
            if self.lanes is not None:
                self.lanes.all[number].finish()

    def _number(self, name: str) -> int:
        if name not in self.names:
            names = " or ".join(repr(other) for other in self.names)
            raise InputError(f"{name!r} is not a side of a join; give {names}")
        return self.names.index(name)

    # -- joining -----------------------------------------------------------------------------

    def _begin(self, bound: Bound) -> None:
        self._engine = Engine(self._policy, bound.setting, self.capacity, seed=self._seed)
        self.lanes = Lanes(bound, measure=self.capacity.in_bytes)
        self._shapes = [ResultShape(bound, number) for number in range(len(bound.joins))]
        self._stores = [PayloadStore() for _ in self.names]
        self._bases: list[int | None] = [None] * len(self.names)
        self._new_output(0 if self.count_only else OUTPUT_ROWS)
        self._collisions = [0] * len(bound.joins)
        early, self._early = self._early, []
        for number, batch in early:
            self.lanes.all[number].add(batch)
        for lane, ended in zip(self.lanes.all, self._ended, strict=True):
            if ended:
                lane.finish()

    def _new_output(self, results: int) -> None:
        self._output = new_output(results, max(len(shape.streams) for shape in self._shapes))

    def results(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Join what can be joined now: by number of the join, the results."""
        if self.lanes is None:
            return
        for feed in self.lanes.steps(self._row_of):
            at = 0
            self._engine.prepare(len(feed.order))
            while at < len(feed.order):
                started = perf_counter()
                self._output.filled[0] = 0
                why, stopped = self._engine.run(feed, at, self._output)
                self._take(feed, at, stopped)
                at = stopped
                found = int(self._output.filled[0])
                batches = list(self._taken(found)) if found else []
                self._let_go()
                if why == OUTPUT_FULL and not found:
                    self._new_output(2 * len(self._output.join))
                self._seconds += perf_counter() - started
                yield from batches

    def _row_of(self, number: int, part: Encoded) -> int:
        """Where the payload store has the first row of a batch that is about to be joined."""
        if self.count_only:
            return 0
        base = self._bases[number]
        if base is None:
            base = self._bases[number] = self._stores[number].add(part.batch)
        return base

    def _take(self, feed: Feed, begin: int, end: int) -> None:
        """Note that some arrivals have been joined."""
        assert self.lanes is not None
        heads = [lane.waiting[0] if lane.waiting else None for lane in self.lanes.all]
        self.lanes.take(feed, begin, end)
        for number, (lane, head) in enumerate(zip(self.lanes.all, heads, strict=True)):
            base = self._bases[number]
            if base is not None and (not lane.waiting or lane.waiting[0] is not head):
                self._bases[number] = None
                self._stores[number].joined(base)

    def _taken(self, found: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The results that were found, by join."""
        for number, shape in enumerate(self._shapes):
            rows = self._output.rows[:, :found]
            if len(self._shapes) > 1:
                rows = rows[:, self._output.join[:found] == number]
            count = rows.shape[1]
            if count == 0:
                continue
            parts = [
                self._stores[stream].take(rows[place]) for place, stream in enumerate(shape.streams)
            ]
            batch = shape.joined(*parts)
            self._collisions[number] += count - batch.num_rows
            if batch.num_rows:
                yield number, batch

    def _let_go(self) -> None:
        """Keep of the rows that have been joined only those that are buffered."""
        if self.count_only:
            return
        engine = self._engine
        for number, store in enumerate(self._stores):
            if store.needs_settling:
                slots, rows = engine.rows_of(number, from_row=RAW)
                store.settle(slots, rows, engine.relocate)
            if store.needs_compacting(engine.live(number)):
                slots, rows = engine.rows_of(number)
                store.compact(slots, rows, engine.relocate)
        most = engine.payload_bytes
        if most is not None:
            fit(self._stores, most, engine.rows_of, lambda stream: engine.relocate)

    # -- numbers -----------------------------------------------------------------------------

    @property
    def waiting(self) -> int:
        """How many tuples have been fed but not joined yet."""
        if self.lanes is None:
            return sum(batch.num_rows for _, batch in self._early)
        return sum(lane.waiting_rows for lane in self.lanes.all)

    @property
    def stats(self) -> Stats:
        """What has happened so far."""
        if self.lanes is None:
            return Stats.of_nothing(self._window, self._policy, self._budget)
        collisions = sum(self._collisions)
        return Stats.of(
            self._window, self._budget, self._engine, self.lanes, self._seconds, collisions
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
                "lanes": [lane.counters() for lane in self.lanes.all],
            }
            for stream, lane in enumerate(self.lanes.all):
                batches += [(f"waiting:{stream}", part.batch) for part in lane.waiting]
                if lane.held is not None:
                    batches.append((f"held:{stream}", lane.held))
                segments = self._stores[stream].segments()
                batches += [(f"store:{stream}:{number}", part) for number, part in segments]
        return pack(Saved(header, arrays, batches))

    @classmethod
    def load(cls, data: bytes, policy: Policy | None = None) -> Self:
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
        tuples, bytes_, text = arguments["budget"]
        arguments["budget"] = Budget(tuples=tuples, bytes=bytes_, text=text)
        try:
            join = cls._from_arguments(arguments)
        except PolicyError as error:
            raise StateError(
                f"{error}; a policy that is more than its text says is given to load as well"
            ) from None
        join._restore(saved)
        return join

    @classmethod
    def _from_arguments(cls, arguments: dict[str, Any]) -> Self:
        """Make such a join anew."""
        return cls(**arguments)

    def _restore(self, saved: Saved) -> None:
        for number, name in enumerate(self.names):
            for batch in saved.named(f"schema:{number}"):
                self.expect(name, batch.schema)
            self._early += [(number, batch) for batch in saved.named(f"early:{number}")]
        header = saved.header
        self._ended, self._seconds = header["ended"], header["seconds"]
        if self.lanes is None:
            return
        self._engine.restore(saved.arrays)
        self._bases, self._collisions = header["bases"], header["collisions"]
        for number, lane in enumerate(self.lanes.all):
            held = saved.named(f"held:{number}")
            waiting = saved.named(f"waiting:{number}")
            lane.restore(header["lanes"][number], waiting, held[0] if held else None)
            prefix = f"store:{number}:"
            segments = {
                int(name.removeprefix(prefix)): batch
                for name, batch in saved.batches
                if name.startswith(prefix)
            }
            self._stores[number].restore(segments, header["joined"][number])


class Join(OnlineJoin):
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
        query = Query.parse(on, time, window, where, lateness, null_keys)
        asked, shares = parse_budget(budget), parse_shares(split)
        made = parse_policy(policy)
        super().__init__(
            SIDES, lambda left, right: bind(query, left, right), made, asked,
            capacity_of(asked, shares), query.window_text, seed, count_only,
        )  # fmt: skip
        self._arguments = {
            "on": [list(pair) for pair in zip(*query.on, strict=True)],
            "time": list(query.time),
            "window": [str(window) for window in query.windows],
            "budget": [asked.tuples, asked.bytes, asked.text],
            "policy": made.spec,
            "split": list(shares) if isinstance(shares, tuple) else shares,
            "where": where,
            "lateness": query.lateness,
            "null_keys": null_keys,
            "seed": int(seed),
            "count_only": count_only,
        }

    @classmethod
    def _from_arguments(cls, arguments: dict[str, Any]) -> Self:
        arguments["on"] = [tuple(pair) for pair in arguments["on"]]
        for name in ("time", "window"):
            arguments[name] = tuple(arguments[name])
        return cls(**arguments)

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
        self.take_in(side, data)
        return self._batches()

    def finish(self, side: str | None = None) -> Iterator[pa.RecordBatch]:
        """Tell that no more tuples will come, of one stream or of both; hand out what follows."""
        self.end(side)
        return self._batches()

    def _batches(self) -> Iterator[pa.RecordBatch]:
        return (batch for _, batch in self.results())

    @property
    def schema(self) -> pa.Schema | None:
        """The columns of the results; None until both streams are known."""
        return None if self.lanes is None else self._shapes[0].schema
