"""The join of two streams, batch by batch: :class:`Join`."""

import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from recollect.errors import BudgetError, InputError, StateError
from recollect.join import engine as engines
from recollect.join.budget import Budget, divide, parse_budget, parse_shares
from recollect.join.engine import Capacity, Engine
from recollect.join.kernel import ALIVE_SUM, OUTPUT_FULL, PEAK, RESULTS, Output
from recollect.join.lanes import Encoded, Lanes, Step, no_feed, rest_of
from recollect.join.payload import RAW, PayloadStore
from recollect.join.query import SIDES, Bound, Query, bind
from recollect.join.result import ResultShape
from recollect.join.stats import Stats
from recollect.policies import Policy, parse_policy
from recollect.streams import open_source

BATCH_ROWS = 65_536
"""Batches that are fed in are cut into pieces of this many rows."""
BATCH_ROWS_IN_BYTES = 4_096
"""The same under a budget in bytes, which statistics must not outgrow while a piece is joined."""
OUTPUT_ROWS = 8_192
VERSION = 1


def batch_rows(capacity: Capacity) -> int:
    """How many rows to take in at a time."""
    return BATCH_ROWS_IN_BYTES if capacity.in_bytes else BATCH_ROWS


def capacity_of(budget: Budget, shares: tuple[float, float] | str | None) -> Capacity:
    """A budget in the engine's terms."""
    if budget.share is not None:
        raise BudgetError(
            f"budget {budget} is a share of what the exact join holds, which is known only for"
            " whole inputs; give a number of tuples or bytes"
        )
    if budget.unlimited:
        return engines.UNLIMITED
    in_bytes = budget.bytes is not None
    total = budget.for_tuples if in_bytes else budget.tuples
    assert total is not None
    if shares is None:
        return Capacity((total,), in_bytes)
    if shares == "rate":
        raise BudgetError(
            "a budget can be split by arrival rates only for whole inputs, where they are known;"
            " give the shares, such as split=(0.3, 0.7)"
        )
    return Capacity(divide(total, (0.5, 0.5) if isinstance(shares, str) else shares), in_bytes)


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
        policy: str | Policy | type[Policy] = "clock",
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
            "budget": self._budget.amount,
            "policy": self._policy.spec,
            "split": _plain(parse_shares(split)),
            "where": where,
            "lateness": None if lateness is None else str(lateness),
            "null_keys": null_keys,
            "seed": seed,
            "count_only": count_only,
        }
        self._seed = seed
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
        for batch in source.batches(batch_rows=batch_rows(self.capacity)):
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
        self._bound = bound
        self._engine = new_engine(bound, self._policy, self.capacity, self._seed)
        self.lanes = Lanes(bound, measure=self.capacity.in_bytes)
        self._shape = ResultShape(bound)
        self._stores = (PayloadStore(), PayloadStore())
        self._bases: list[int | None] = [None, None]
        rows = 0 if self.count_only else OUTPUT_ROWS
        self._output = _new_output(rows)
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
                self._output = _new_output(2 * len(self._output.left))
            self._seconds += perf_counter() - started
            if batch is not None and batch.num_rows:
                yield batch

    def _run(self, step: Step) -> tuple[int, tuple[int, int]]:
        feeds = feeds_of(step, self._engine)
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
            return empty_stats(self._query, self._policy, self._budget)
        return stats_of(
            self._query, self._budget, self._engine, self.lanes, self._seconds, self._collisions
        )

    # -- saving ------------------------------------------------------------------------------

    def save(self) -> bytes:
        """Everything the join remembers. :meth:`load` goes on from there, with the same victims."""
        arrays: dict[str, np.ndarray] = {}
        header: dict[str, Any] = {"version": VERSION, "arguments": self._arguments}
        header["ended"] = self._ended
        header["seconds"] = self._seconds
        batches: list[tuple[str, pa.RecordBatch]] = [
            (f"early:{stream}", batch) for stream, batch in self._early
        ]
        schemas = {
            side: schema for side, schema in zip(SIDES, self._schemas, strict=True) if schema
        }
        if self.lanes is not None:
            arrays |= {f"engine:{name}": array for name, array in self._engine.arrays().items()}
            header["bases"] = self._bases
            header["collisions"] = self._collisions
            header["joined"] = [store.raw_joined for store in self._stores]
            header["lanes"] = [lane.counters() for lane in self.lanes.both]
            for stream, (lane, store) in enumerate(zip(self.lanes.both, self._stores, strict=True)):
                batches += [(f"waiting:{stream}", part.batch) for part in lane.waiting]
                batches += [(f"held:{stream}", lane.held)] if lane.held is not None else []
                if not self.count_only:
                    batches += [(f"store:{stream}:{n}", part) for n, part in store.segments()]
        header["batches"] = [name for name, _ in batches]
        for i, (_, batch) in enumerate(batches):
            arrays[f"batch:{i}"] = _to_bytes(batch)
        for side, schema in schemas.items():
            arrays[f"schema:{side}"] = np.frombuffer(schema.serialize(), np.uint8)
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
        target = io.BytesIO()
        np.savez(target, **arrays)  # type: ignore[arg-type]
        return target.getvalue()

    @classmethod
    def load(cls, data: bytes) -> "Join":
        """Go on from what :meth:`save` gave."""
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as saved:
                arrays = {name: saved[name] for name in saved.files}
            header = json.loads(arrays["header"].tobytes())
        except (zipfile.BadZipFile, ValueError, KeyError, OSError, EOFError) as error:
            raise StateError(
                f"this is not the saved state of a join, or it is damaged: {error}"
            ) from None
        if header["version"] != VERSION:
            raise StateError(
                f"saved by another version (format {header['version']}, not {VERSION})"
            )
        arguments = header["arguments"]
        arguments["on"] = [tuple(pair) for pair in arguments["on"]]
        for name in ("time", "window"):
            arguments[name] = tuple(arguments[name])
        join = cls(**arguments)
        join._ended = header["ended"]
        join._seconds = header["seconds"]
        join._restore(header, arrays)
        return join

    def _restore(self, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        batches: dict[str, list[pa.RecordBatch]] = {}
        for i, name in enumerate(header["batches"]):
            batches.setdefault(name, []).append(_from_bytes(arrays[f"batch:{i}"]))
        for name in ("early:0", "early:1"):
            self._early += [(int(name[-1]), batch) for batch in batches.get(name, [])]
        ended, self._ended = self._ended, [False, False]
        for side in SIDES:
            if f"schema:{side}" in arrays:
                self.expect(side, pa.ipc.read_schema(pa.py_buffer(arrays[f"schema:{side}"])))
        self._ended = ended
        if self.lanes is None:
            return
        prefix = "engine:"
        self._engine.restore(
            {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
        )
        self._bases = header["bases"]
        self._collisions = header["collisions"]
        stores = []
        for stream, (lane, counters) in enumerate(
            zip(self.lanes.both, header["lanes"], strict=True)
        ):
            held = batches.get(f"held:{stream}", [None])[0]
            lane.restore(counters, batches.get(f"waiting:{stream}", []), held)
            prefix = f"store:{stream}:"
            stores.append(
                PayloadStore.restore(
                    {
                        int(name.removeprefix(prefix)): parts[0]
                        for name, parts in batches.items()
                        if name.startswith(prefix)
                    },
                    header["joined"][stream],
                )
            )
        self._stores = (stores[0], stores[1])


def feeds_of(step: Step, engine: Engine) -> tuple[Any, Any]:
    """The two feeds of a step."""
    feeds = [
        no_feed(engine.extra_width) if head is None else rest_of(head.feed, offset)
        for head, offset in zip(step.heads, step.offsets, strict=True)
    ]
    return feeds[0], feeds[1]


def new_engine(
    bound: Bound, policy: Policy, capacity: Capacity, seed: int, visit: bool = True
) -> Engine:
    """An engine for a query."""
    return Engine(
        policy,
        [window.kind for window in bound.query.windows],
        bound.spans,
        capacity,
        bound.residual,
        extra_width=bound.filter.width if bound.filter is not None else 0,
        seed=seed,
        visit=visit,
    )


def stats_of(
    query: Query, budget: Budget, engine: Engine, lanes: Lanes, seconds: float, collisions: int = 0
) -> Stats:
    """Read the ledger of an engine."""
    ledger = engine.ledger
    handled = int(ledger.arrivals.sum())
    return Stats(
        policy=engine.policy.spec,
        window=query.window_text,
        budget=budget.text,
        budget_tuples=budget.tuples,
        budget_bytes=budget.bytes,
        tuples_in=sum(lane.rows for lane in lanes.both),
        results=int(ledger.totals[RESULTS]) - collisions,
        evicted=int(ledger.evicted.sum()),
        expired=int(ledger.expired.sum()),
        refused=int(ledger.refused.sum()),
        null_keys=sum(lane.null_keys for lane in lanes.both),
        late=sum(lane.late for lane in lanes.both),
        peak_tuples=int(ledger.totals[PEAK]),
        mean_tuples=int(ledger.totals[ALIVE_SUM]) / handled if handled else 0.0,
        seconds=seconds,
    )


def empty_stats(query: Query, policy: Policy, budget: Budget) -> Stats:
    """The numbers of a join that has not begun."""
    nothing = dict.fromkeys(
        (
            "tuples_in",
            "results",
            "evicted",
            "expired",
            "refused",
            "null_keys",
            "late",
            "peak_tuples",
        ),
        0,
    )
    return Stats(
        policy=policy.spec, window=query.window_text, budget=budget.text,
        budget_tuples=budget.tuples, budget_bytes=budget.bytes,
        mean_tuples=0.0, seconds=0.0, **nothing,
    )  # fmt: skip


def _plain(shares: Any) -> Any:
    return list(shares) if isinstance(shares, tuple) else shares


def _new_output(rows: int) -> Output:
    return Output(np.empty(rows, np.int64), np.empty(rows, np.int64), np.zeros(1, np.int64))


def _to_bytes(batch: pa.RecordBatch) -> np.ndarray:
    target = pa.BufferOutputStream()
    with pa.ipc.new_stream(target, batch.schema) as writer:
        writer.write_batch(batch)
    return np.frombuffer(target.getvalue(), np.uint8)


def _from_bytes(data: np.ndarray) -> pa.RecordBatch:
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        return reader.read_next_batch()
