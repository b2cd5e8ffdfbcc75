"""Pieces of the tables of all reports."""

import html
from collections.abc import Iterable

from recollect.report.wording import percent


def table(label: str, head: list[str], bodies: list[str]) -> str:
    """Put a table together that scrolls sideways where it is too wide.

    The names of the columns are plain text; the bodies are rows in HTML, in groups. The label is
    for people who cannot see the table.
    """
    cells = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in head)
    groups = "\n".join(f"<tbody>\n{body}\n</tbody>" for body in bodies)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{html.escape(label)}">\n'
        f"<table>\n<thead><tr>{cells}</tr></thead>\n{groups}\n</table>\n</div>"
    )


def row_of(name: str, cells: str, kind: str = "") -> str:
    """Begin a row with a name, plain text; the cells are HTML, the kind a class."""
    attribute = f' class="{kind}"' if kind else ""
    return f'<tr{attribute}><td class="policy">{html.escape(name)}</td>{cells}</tr>'


def group_of(title: str, columns: int, rows: Iterable[str]) -> str:
    """Put a heading, HTML, over rows of so many columns."""
    over = f'<tr><th scope="rowgroup" colspan="{columns}">{title}</th></tr>'
    return "\n".join([over, *rows])


def share_cell(share: float) -> str:
    """Show a share as a bar and in per cent."""
    bar = f'<span class="bar"><i style="width:{100 * share:.1f}%"></i></span>'
    return f'<td>{bar}<span class="number">{percent(share, 2)}</span></td>'


def number_cells(*numbers: float | None) -> str:
    """Show whole numbers, and dashes for what was not measured."""
    return "".join(f"<td>{'–' if n is None else f'{n:,.0f}'}</td>" for n in numbers)
