"""A workload whose streams are fed in batch by batch: :class:`WorkloadJoin`."""

from collections.abc import Iterator, Mapping
from typing import Any, Self

import pyarrow as pa

from recollect.errors import BudgetError, InputError
from recollect.join.budget import UNLIMITED, Capacity, parse_budget
from recollect.join.online import DEFAULT_POLICY, OnlineJoin
from recollect.policies import Policy, parse_policy
from recollect.workload.binding import binder
from recollect.workload.declaration import JoinOn, Stream, Workload
from recollect.workload.division import divide


class WorkloadJoin(OnlineJoin):
    """Joins of a workload over one memory, whose streams are fed in batch by batch.

    Parameters
    ----------
    workload
        Streams, without their sources, and joins. Shedding is for whole inputs.
    budget
        How much may be remembered: ``2000`` tuples, ``"64MB"``, or None for no limit.
    policy
        Which tuple to forget.
    division
        ``"unified"``: one buffer for all; ``"equal"``; or the share of each stream.
    seed
        For policies that draw random numbers.
    count_only
        Count the results instead of handing them out; the rows are then not kept.

    Examples
    --------
    >>> streams = {name: Stream(None, time="t", window=10) for name in "RST"}
    >>> join = WorkloadJoin(Workload(streams, {"all": "R.k = S.k = T.k", "two": "R.k = S.k"}))
    >>> batch = pa.record_batch({"t": [1], "k": [7]})
    >>> found = [*join.feed("R", batch), *join.feed("S", batch), *join.feed("T", batch)]
    >>> [(name, results.num_rows) for name, results in [*found, *join.finish()]]
    [('all', 1), ('two', 1)]
    """

    def __init__(
        self,
        workload: Workload,
        *,
        budget: Any = None,
        policy: str | Policy | type[Policy] = DEFAULT_POLICY,
        division: str | Mapping[str, Any] = "unified",
        seed: int = 0,
        count_only: bool = False,
    ) -> None:
        streams = workload.streams
        if any(stream.shed for stream in streams.values()):
            raise InputError("streams that are fed in batch by batch cannot be shed")
        asked, made = parse_budget(budget), parse_policy(policy)
        if asked.share is not None or division == "rate":
            raise BudgetError(
                f"budget {asked}, division {division}: a share of what the exact join holds, and"
                " arrival rates, are known only for whole inputs"
            )
        capacity = UNLIMITED
        total = asked.for_tuples if asked.bytes is not None else asked.tuples
        if total is not None:
            parts = divide(total, division, tuple(streams), [1] * len(streams))
            capacity = Capacity(parts.capacity, asked.bytes is not None)
        windows = {name: str(stream.window or stream.valid) for name, stream in streams.items()}
        window = ", ".join(f"{name}: {text}" for name, text in windows.items())
        super().__init__(
            tuple(streams), binder(workload), made, asked, capacity, window, seed, count_only
        )
        self._join_names = tuple(workload.parsed_joins)
        self._arguments = {
            "streams": {
                name: {
                    "time": stream.time,
                    "window": None if stream.window is None else str(stream.window),
                    "valid": stream.valid,
                    "subject": stream.subject,
                }
                for name, stream in streams.items()
            },
            "joins": {name: [join.on, join.where] for name, join in workload.parsed_joins.items()},
            "null_keys": workload.null_keys,
            "lateness": None if workload.lateness is None else str(workload.lateness),
            "budget": [asked.tuples, asked.bytes, asked.text],
            "policy": made.spec,
            "division": division if isinstance(division, str) else dict(division),
            "seed": int(seed),
            "count_only": count_only,
        }

    @classmethod
    def _from_arguments(cls, arguments: dict[str, Any]) -> Self:
        streams = {
            name: Stream(None, **{**words, "valid": words["valid"] and tuple(words["valid"])})
            for name, words in arguments.pop("streams").items()
        }
        joins = {name: JoinOn(*words) for name, words in arguments.pop("joins").items()}
        null_keys, lateness = arguments.pop("null_keys"), arguments.pop("lateness")
        return cls(Workload(streams, joins, null_keys, lateness), **arguments)

    def feed(self, name: str, data: Any) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Take in tuples of a stream; hand out the results that follow, each with its join.

        The tuples are taken in at once. Results that are not fetched from the iterator come with
        the next call.
        """
        self.take_in(name, data)
        return self._named()

    def finish(self, name: str | None = None) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Tell that no more tuples will come, of one stream or of all; hand out what follows."""
        self.end(name)
        return self._named()

    def _named(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        return ((self._join_names[number], batch) for number, batch in self.results())
