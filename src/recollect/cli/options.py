"""The options that several commands share, with their help texts."""

import os
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from recollect.errors import InputError

Left = Annotated[
    str, typer.Argument(help="The left stream: a Parquet, CSV, Arrow IPC or JSON-lines file.")
]
File = Annotated[
    str, typer.Argument(help="The stream: a Parquet, CSV, Arrow IPC or JSON-lines file.")
]
Right = Annotated[str, typer.Argument(help="The right stream; may be the same file.")]
On = Annotated[str, typer.Option(help="Key columns: KEY, LEFT=RIGHT, several separated by commas.")]
_TIME = typer.Option(help="Time column: T, or LEFT=RIGHT.")
_WINDOW = typer.Option(
    help="How long a tuple may match: 1000 (units of the time column), 10s, 500rows,"
    " landmark:1h, unlimited; LEFT=RIGHT for different ones."
)
Time = Annotated[str, _TIME]
Window = Annotated[str, _WINDOW]
TimeOfJoin = Annotated[str | None, _TIME]
"""For a command that can do without."""
WindowOfJoin = Annotated[str | None, _WINDOW]
Split = Annotated[
    bool, typer.Option("--split/--unified", help="Divide the budget by arrival rates.")
]
Shares = Annotated[
    str | None, typer.Option(help="Divide the budget otherwise: equal, or shares such as 30:70.")
]
Where = Annotated[
    str | None,
    typer.Option(help="A condition on the pair, as in: left.sensor != right.sensor"),
]
Lateness = Annotated[
    str | None,
    typer.Option(
        help="How far out of order tuples may come; what is later is counted, not joined."
    ),
]
NullKeys = Annotated[
    str, typer.Option(help="Tuples with NULL or NaN keys: 'error', or 'skip' as in SQL.")
]
Shed = Annotated[
    str | None,
    typer.Option(
        help="Drop arrivals before the buffer with this probability, or by 'rate' as many as it"
        " takes to fit the budget; LEFT=RIGHT for different ones."
    ),
]
WarmUp = Annotated[
    str | None,
    typer.Option(help="Count results only after a share of the arrivals (1/3), or after a time."),
]
Divisions = Annotated[
    str | None,
    typer.Option(help="Divisions of the budget side by side: unified,rate,equal or 30:70."),
]
Quality = Annotated[
    bool,
    typer.Option(
        "--quality",
        help="Show the recall under stress, how far the distribution of the results over the keys"
        " is from the exact one, and what memory the exact join needs over time.",
    ),
]
Seed = Annotated[int, typer.Option(help="For policies that draw random numbers.")]
Out = Annotated[
    str | None, typer.Option(help="Write the rows to this file (format by its ending).")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
Html = Annotated[str | None, typer.Option(help="Write a page with the recall curves to this file.")]


def require_apart(inputs: Sequence[str], *outputs: str | None) -> None:
    """Refuse to write over an input, or to write two outputs to one file."""
    taken = {os.path.realpath(path): "is an input" for path in inputs}
    for path in filter(None, outputs):
        place = os.path.realpath(path)
        if place in taken:
            raise InputError(f"{path} {taken[place]}; write to another file")
        taken[place] = "is written to already"


def split_of(split: bool, shares: str | None) -> str | None:
    """How the budget is divided, from the two options for it."""
    if shares is not None:
        return shares
    return "rate" if split else None


def pair(text: str) -> Any:
    """Two parts around ``=`` as a tuple, one part as it is."""
    left, equals, right = text.partition("=")
    if equals and not (left.strip() and right.strip()):
        raise InputError(f"{text!r}: a side of the = is missing")
    return (left.strip(), right.strip()) if equals else text


def split_policies(text: str) -> list[str]:
    """Separate policies at commas, but not the parameters of one policy.

    >>> split_policies("fifo,gdj:percentile=0.95,method=3,lru")
    ['fifo', 'gdj:percentile=0.95,method=3', 'lru']
    """
    policies: list[str] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        if policies and "=" in part and ":" not in part:
            policies[-1] += "," + part
        else:
            policies.append(part)
    return policies
