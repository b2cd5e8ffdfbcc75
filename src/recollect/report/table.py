"""Pieces of the tables of all reports."""

import html

from recollect.report.wording import percent


def table(label: str, head: list[str], bodies: list[str]) -> str:
    """Put a table together that scrolls sideways where it is too wide.

    Parameters
    ----------
    label
        What a person hears who cannot see it.
    head
        The names of the columns, plain text.
    bodies
        Rows in HTML, in groups.
    """
    cells = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in head)
    groups = "\n".join(f"<tbody>\n{body}\n</tbody>" for body in bodies)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{html.escape(label)}">\n'
        f"<table>\n<thead><tr>{cells}</tr></thead>\n{groups}\n</table>\n</div>"
    )


def share_cell(share: float) -> str:
    """Show a share as a bar and in per cent."""
    bar = f'<span class="bar"><i style="width:{100 * share:.1f}%"></i></span>'
    return f'<td>{bar}<span class="number">{percent(share, 2)}</span></td>'


def number_cells(*numbers: float | None) -> str:
    """Show whole numbers, and dashes for what was not measured."""
    return "".join(f"<td>{'–' if n is None else f'{n:,.0f}'}</td>" for n in numbers)
