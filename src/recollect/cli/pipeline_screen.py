"""What a person sees of a pipeline: on stderr how far it is, and in the end what came of it."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

from rich.console import Console
from rich.status import Status

from recollect.cli.live_table import live_table

Numbers = Mapping[str, Any]


class Screen(ExitStack):
    """Shows the stage that runs, the batches of the join, and a line for each stage done."""

    def __init__(self, console: Console | None = None, batches: bool = True) -> None:
        super().__init__()
        self._batches = batches
        self._console = console or Console(stderr=True)
        self._status: Status | None = None
        self._draw: Callable[[Numbers], None] | None = None

    def begin(self, stage: str) -> None:
        """Show that a stage runs."""
        self.close()
        if stage == "join" and self._batches:
            self._draw = self.enter_context(live_table(self._console))
        elif self._console.is_terminal:
            self._status = self.enter_context(self._console.status(stage))

    def news(self, stage: str, text: str) -> None:
        """Show how far a stage has come."""
        if self._status is not None:
            self._status.update(f"{stage}: {text}")
        elif stage == "join":
            self._say(f"{stage}: {text}")

    def batch(self, record: Numbers) -> None:
        """Show what the join did in a micro-batch."""
        if self._draw is not None:
            self._draw(record)

    def end(self, stage: str, numbers: Numbers) -> None:
        """Sum up a stage."""
        self.close()
        done = _SENTENCES.get(stage, lambda _: "done")(numbers)
        self._say(f"{stage}: {done} in {numbers['seconds']:,.1f} s")

    def close(self) -> None:
        """Show nothing that changes any more."""
        self._status = self._draw = None
        super().close()

    def _say(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def summary(numbers: Mapping[str, Numbers]) -> dict[str, Any]:
    """Return what is worth knowing of the stages that ran, in the order of the stages."""
    facts: dict[str, Any] = {}
    for side, counts in _sides(numbers.get("ingest", {})):
        facts[f"{side}_rows"] = counts["kept"]
        facts |= {f"{side}_{name}": counts[name] for name in _REMOVED if counts[name]}
    for side, found in _sides(numbers.get("profile", {})):
        if found["tuples"]:
            facts |= {f"{side}_distinct_keys": found["distinct"], f"{side}_copies": 1 - found["b"]}
    if compared := numbers.get("compare"):
        facts |= {f"best_at_{row['budget']}": _keeps(row) for row in _winners(compared)}
    if join := numbers.get("join"):
        facts |= {name: join[name] for name in ("batches", "results", *_FORGOTTEN)}
    if quality := numbers.get("quality"):
        facts |= {name: quality[name] for name in ("exact_results", "recall")}
        if quality["foreign"]:
            facts["results_that_the_exact_join_lacks"] = quality["foreign"]
    if report := numbers.get("report"):
        facts["report"] = report["html"]
    return facts


_REMOVED = ("null_keys", "late", "duplicates")
_FORGOTTEN = ("evicted", "refused", "expired", "late", "peak_buffered", "peak_buffered_bytes")


def _sides(numbers: Numbers) -> list[tuple[str, Numbers]]:
    return [(side, numbers[side]) for side in ("left", "right") if side in numbers]


def _ingested(numbers: Numbers) -> str:
    kept = (f"{counts['kept']:,} of {counts['read']:,} {side}" for side, counts in _sides(numbers))
    return f"{' and '.join(kept)} rows kept"


def _profiled(numbers: Numbers) -> str:
    copies = (
        f"{1 - found['b']:.0%} of the {side}" for side, found in _sides(numbers) if found["tuples"]
    )
    return f"{' and '.join(copies) or 'none of the'} rows are copies of recent ones"


def _compared(numbers: Numbers) -> str:
    return "; ".join(f"{_keeps(row)} at {row['budget']}" for row in _winners(numbers))


def _winners(numbers: Numbers) -> list[Numbers]:
    """Return the best row of each budget."""
    best: dict[str, Numbers] = {}
    for row in numbers["rows"]:
        if row["budget"] not in best or row["recall"] > best[row["budget"]]["recall"]:
            best[row["budget"]] = row
    return list(best.values())


def _keeps(row: Numbers) -> str:
    return f"{row['policy']} keeps {row['recall']:.1%}"


def _measured(numbers: Numbers) -> str:
    if numbers["recall"] is None:
        return "there was nothing to find"
    return f"{numbers['recall']:.2%} of {numbers['exact_results']:,} exact results"


_SENTENCES: dict[str, Callable[[Numbers], str]] = {
    "generate": lambda numbers: f"two streams of {numbers['tuples']:,} tuples",
    "ingest": _ingested,
    "profile": _profiled,
    "compare": _compared,
    "join": lambda numbers: f"{numbers['results']:,} results",
    "quality": _measured,
    "report": lambda numbers: f"{numbers['html']}",
}
