"""What a person sees: progress on stderr, tables on stdout."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from recollect.join.whole import Progress as Report
from recollect.join.whole import quiet


@contextmanager
def progress() -> Iterator[Report]:
    """Show on a terminal what is being done and how many tuples have been read."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield quiet
        return
    columns = (
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(),
        TextColumn("{task.completed:,} tuples"), TimeElapsedColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)
        stage = ""

        def report(name: str, tuples: int) -> None:
            nonlocal stage
            if name != stage:
                stage = name
                bar.reset(task, description=name)
            bar.advance(task, tuples)

        yield report


def print_json(value: Any) -> None:
    """Print exactly one JSON object."""
    json.dump(value, sys.stdout)
    sys.stdout.write("\n")


def print_facts(title: str, facts: dict[str, Any]) -> None:
    """Print names and values below each other."""
    table = Table(title=title, show_header=False, title_justify="left")
    table.add_column(style="bold")
    table.add_column(justify="right")
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), _text(name, value))
    Console().print(table)


def print_rows(title: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print one line per row."""
    table = Table(title=title, title_justify="left")
    for name, value in rows[0].items():
        left = isinstance(value, str) and name == "policy"
        table.add_column(name.replace("_", " "), justify="left" if left else "right")
    for row in rows:
        table.add_row(*(_text(name, value) for name, value in row.items()))
    Console().print(table)


def _text(name: str, value: Any) -> str:
    if value is None:
        return "–"
    if name == "recall":
        return f"{value:.2%}"
    if isinstance(value, float):
        return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
