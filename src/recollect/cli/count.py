"""``recollect count``: the frequent values of a column, in bounded memory."""

from math import isfinite
from typing import Annotated, Any

import typer
from rich.table import Table

from recollect.cli import options
from recollect.cli.show import print_json, print_table, progress
from recollect.counting import Frequent
from recollect.counting import count as count_values


def count(
    file: options.File,
    key: Annotated[str, typer.Option(help="The column whose values are counted.")],
    support: Annotated[
        float, typer.Option(help="The share of all tuples that makes a value frequent: 0.01.")
    ],
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="How far a count may be too low, as a share of all tuples; less than support."
        ),
    ] = None,
    memory: Annotated[
        int | None,
        typer.Option(help="Instead of epsilon: how many values may have a counter at once."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Find the frequent values of a column in bounded memory (Lossy Counting)."""
    with progress() as report:
        found = count_values(file, key, support, epsilon, memory, progress=report)
    if json:
        facts = found.as_dict()
        facts["frequent"] = [[plain(value), *counts] for value, *counts in facts["frequent"]]
        print_json(facts)
    else:
        _print_table(f"{file}: {key}", found)


def plain(value: Any) -> Any:
    """A value as JSON knows it: itself if that does, else as a text (bytes in hexadecimal).

    >>> from datetime import date
    >>> plain({"day": date(2024, 2, 29), "flag": b"\\xff", "size": 3})
    {'day': '2024-02-29', 'flag': 'ff', 'size': 3}
    """
    if isinstance(value, str | bool | int) or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, bytes):
        return value.hex()
    return None if value is None else str(value)


def _print_table(title: str, found: Frequent) -> None:
    table = Table(title=title, title_justify="left")
    table.add_column("value")
    for name in ("at least", "at most", "share"):
        table.add_column(name, justify="right")
    for value, count_, error in found.as_dict()["frequent"]:
        share = f"{count_ / found.tuples:.2%}"
        table.add_row(str(plain(value)), f"{count_:,}", f"{count_ + error:,}", share)
    print_table(table)
    print(f"{found.tuples:,} tuples; counts are low by at most {found.epsilon:.3g} of them.")
    if found.null_keys:
        print(f"{found.null_keys:,} more tuples without a value.")
    print(
        f"At most {found.entries_peak:,} counters at once;"
        f" {found.entries_estimated:,.0f} were expected."
    )
