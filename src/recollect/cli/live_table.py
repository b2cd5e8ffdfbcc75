"""The numbers of a running join on stderr: a table on a terminal, else one line per batch."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table

from recollect.report.units import amount, size

Record = Mapping[str, Any]
"""A batch of a join, as :class:`recollect.spark.live.LiveNumbers` makes it."""

BATCHES = 10
"""How many of the last ones stay in sight."""
COLUMNS = (
    "batch", "rows", "rows/s", "results", "tuples", "memory", "evicted", "refused", "expired",
    "late", "time",
)  # fmt: skip


@contextmanager
def live_table(console: Console | None = None) -> Iterator[Callable[[Record], None]]:
    """Show every record that the yielded function is given, and the totals at the end."""
    console = console or Console(stderr=True)
    shown = LastBatches()
    if console.is_terminal:
        # Drawn when there is news, not by the clock.
        with Live(shown, console=console, auto_refresh=False) as screen:

            def draw(record: Record) -> None:
                shown.add(record)
                screen.refresh()

            yield draw
        return

    def write(line: str) -> None:
        console.print(line, soft_wrap=True, markup=False, highlight=False)

    def tell(record: Record) -> None:
        shown.add(record)
        write(_line(_batch(record)))

    try:
        yield tell
    finally:
        for total in shown.totals():
            write(_line(total))


class LastBatches:
    """The last batches and the totals of each join."""

    def __init__(self) -> None:
        self._records: deque[Record] = deque(maxlen=BATCHES)
        self._newest: dict[tuple[str, str], Record] = {}

    def add(self, record: Record) -> None:
        """Take in a record."""
        self._records.append(record)
        self._newest[record["query_id"], record["join"]] = record

    def totals(self) -> list[Record]:
        """Sum up each join."""
        return [_total(record) for record in self._newest.values()]

    def __rich__(self) -> Table:
        """Draw a table; the joins are named if there are several."""
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
        named = len(self._newest) > 1
        if named:
            table.add_column("join", overflow="ellipsis")
        for name in COLUMNS:
            table.add_column(name, justify="right", no_wrap=True)
        rows = [(_batch(record), "") for record in self._records]
        for values, style in rows + [(total, "bold") for total in self.totals()]:
            cells = _cells(values)
            table.add_row(*([values["join"], *cells] if named else cells), style=style)
        return table


def _batch(record: Record) -> Record:
    return {**record, "what": str(record["batch"]), "bound": ""}


def _total(record: Record) -> Record:
    totals = record["totals"]
    seconds = totals["duration_ms"] / 1000
    return {
        **totals,
        "join": record["join"],
        "what": "total",
        "bound": "≤",
        "buffered": totals["peak_buffered"],
        "buffered_bytes": totals["peak_buffered_bytes"],
        "rows_per_second": totals["input_rows"] / seconds if seconds else None,
    }


def _cells(values: Record) -> list[str]:
    rate, bound = values["rows_per_second"], values["bound"]
    return [
        values["what"],
        amount(values["rows_in"]),
        "–" if rate is None else amount(rate),
        amount(values["results"]),
        bound + amount(values["buffered"]),
        bound + size(values["buffered_bytes"]),
        *(amount(values[name]) for name in ("evicted", "refused", "expired", "late")),
        f"{values['duration_ms'] / 1000:,.1f} s",
    ]


def _line(values: Record) -> str:
    what = values["what"] if values["bound"] else f"batch {values['what']}"
    rate, bound = values["rows_per_second"], values["bound"]
    parts = [
        f"{values['rows_in']:,} rows" + ("" if rate is None else f" ({rate:,.0f}/s)"),
        f"{values['results']:,} results",
        f"{bound}{values['buffered']:,} tuples in {bound}{size(values['buffered_bytes'])}",
        *(f"{values[name]:,} {name}" for name in ("evicted", "refused", "expired", "late")),
        f"{values['duration_ms'] / 1000:,.1f} s",
    ]
    return f"{values['join']} {what}: {', '.join(parts)}".replace("\u00a0", " ")
