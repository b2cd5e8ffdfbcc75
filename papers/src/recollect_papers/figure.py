"""Small vector pictures of tidy rows: curves, bars and heat maps, in panels if need be.

Unlike the charts of the interactive reports these are files of their own: a browser shows them, a
document includes them, and nothing else is needed to draw them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from math import ceil, floor, log10
from typing import Any

from recollect.errors import InputError
from recollect.report.canvas import BEST, FAINT, INK, OTHERS, SOFT

Row = Mapping[str, Any]
KINDS = ("lines", "steps", "bars", "heat")
SIZE = (4.6, 3.3)
"""Inches of one panel."""
DOTS = ("o", "s", "D", "^", "v", "P", "X", "p", "*", "h")
STYLES = ("-", "--", ":", "-.")
FEW = 8
"""Up to so many whole numbers stand themselves on an axis."""
FINE = 1_000
"""A logarithmic axis that goes up to so many times its least number has ticks for 2 and 5, too."""


@dataclass(frozen=True)
class Figure:
    """How rows become a picture.

    Parameters
    ----------
    x, y
        The columns that are drawn.
    series
        The column that tells lines or bars of one panel apart, if there is more than one.
    panels
        The column that tells panels apart, if there is more than one.
    kind
        ``lines`` with a marker for each row, ``steps`` for distributions (no markers), ``bars``, or
        ``heat``, whose colour is the column ``series`` over ``x`` and ``y``.
    log
        Which axes are logarithmic: ``x``, ``y`` or ``xy``.
    error
        A column with the standard deviation of ``y``.
    titles
        What a column is called on its axis.
    """

    x: str
    y: str
    series: str = ""
    panels: str = ""
    kind: str = "lines"
    log: str = ""
    error: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the kind."""
        if self.kind not in KINDS:
            raise InputError(f"unknown kind of figure {self.kind!r}; known are {', '.join(KINDS)}")

    def title(self, column: str) -> str:
        """Return what a column is called."""
        return self.titles.get(column, column.replace("_", " "))


def draw(figure: Figure, rows: Sequence[Row]) -> str:
    """Draw rows as SVG; the same rows always give the same text.

    Examples
    --------
    >>> rows = [{"budget": b, "recall": b * f, "policy": p} for p, f in (("prob", 2), ("fifo", 1))
    ...         for b in (0.1, 0.2, 0.4)]
    >>> draw(Figure("budget", "recall", "policy"), rows).startswith("<?xml")
    True
    """
    import matplotlib  # not above: the processes that only measure do not need it
    from matplotlib.figure import Figure as Canvas

    panels = _distinct(rows, figure.panels) or [None]
    across = min(len(panels), 3)
    down = -(-len(panels) // across)
    settings: Any = {
        "svg.fonttype": "none", "svg.hashsalt": "recollect", "font.family": "sans-serif",
        "font.size": 9, "text.color": INK, "axes.edgecolor": SOFT, "axes.labelcolor": INK,
        "xtick.color": SOFT, "ytick.color": SOFT, "axes.spines.top": False,
        "axes.spines.right": False, "axes.grid": figure.kind != "heat", "grid.color": FAINT,
        "axes.axisbelow": True, "legend.frameon": False, "legend.fontsize": 8,
    }  # fmt: skip
    with matplotlib.rc_context(settings):
        canvas = Canvas(figsize=(SIZE[0] * across, SIZE[1] * down), layout="constrained")
        grid = list(canvas.subplots(down, across, squeeze=False).flat)
        for axes, panel in zip(grid, panels, strict=False):
            shown = [row for row in rows if panel is None or row[figure.panels] == panel]
            {"heat": _heat, "bars": _bars}.get(figure.kind, _lines)(axes, figure, shown)
            if panel is not None:
                axes.set_title(str(panel), fontsize=9.5)
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        text = StringIO()
        canvas.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


def _distinct(rows: Sequence[Row], column: str) -> list[Any]:
    return list(dict.fromkeys(row[column] for row in rows)) if column else []


def _lines(axes: Any, figure: Figure, rows: Sequence[Row]) -> None:
    for number, name in enumerate(_distinct(rows, figure.series) or [None]):
        mine = [row for row in rows if name is None or row[figure.series] == name]
        mine = [row for row in mine if row[figure.y] is not None]
        x, y = [row[figure.x] for row in mine], [row[figure.y] for row in mine]
        colour, style = _look(number)
        steps = figure.kind == "steps"
        axes.plot(
            x, y, label=None if name is None else str(name), color=colour, linestyle=style,
            linewidth=1.6, marker=None if steps else DOTS[number % len(DOTS)], markersize=4.5,
        )  # fmt: skip
        if figure.error:
            spread = [row[figure.error] or 0 for row in mine]
            below = [value - error for value, error in zip(y, spread, strict=True)]
            above = [value + error for value, error in zip(y, spread, strict=True)]
            axes.fill_between(x, below, above, color=colour, alpha=0.12, linewidth=0)
    _axes(axes, figure)
    places = _distinct(rows, figure.x)
    if len(places) <= FEW and all(isinstance(place, int) for place in places):
        axes.set_xticks(places, [str(place) for place in places])
        axes.set_xticks([], minor=True)
    if not figure.log.endswith("y"):
        axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))


def _bars(axes: Any, figure: Figure, rows: Sequence[Row]) -> None:
    places = {name: place for place, name in enumerate(_distinct(rows, figure.x))}
    names = _distinct(rows, figure.series) or [None]
    width = 0.8 / len(names)
    for number, name in enumerate(names):
        mine = [row for row in rows if name is None or row[figure.series] == name]
        axes.bar(
            [places[row[figure.x]] - 0.4 + width * (number + 0.5) for row in mine],
            [row[figure.y] for row in mine],
            width * 0.92,
            yerr=[row[figure.error] or 0 for row in mine] if figure.error else None,
            label=None if name is None else str(name),
            color=_look(number)[0],
            error_kw={"ecolor": SOFT, "elinewidth": 1},
        )
    _axes(axes, figure)
    axes.set_xticks(list(places.values()), [str(name) for name in places])
    axes.grid(visible=False, axis="x")
    if figure.series:  # room for the names above bars of equal height
        axes.margins(y=0.25)


def _heat(axes: Any, figure: Figure, rows: Sequence[Row]) -> None:
    across, down = (sorted(_distinct(rows, column)) for column in (figure.x, figure.y))
    shades = [[float("nan")] * len(across) for _ in down]
    for row in rows:
        shades[down.index(row[figure.y])][across.index(row[figure.x])] = row[figure.series]
    drawn = axes.imshow(shades, origin="lower", aspect="auto", cmap="viridis")
    axes.set_xticks(range(len(across)), [f"{value:g}" for value in across])
    axes.set_yticks(range(len(down)), [f"{value:g}" for value in down])
    bar = axes.figure.colorbar(drawn, ax=axes)
    bar.set_label(figure.title(figure.series))
    axes.set_xlabel(figure.title(figure.x))
    axes.set_ylabel(figure.title(figure.y))


def _axes(axes: Any, figure: Figure) -> None:
    axes.set_xlabel(figure.title(figure.x))
    axes.set_ylabel(figure.title(figure.y))
    if "x" in figure.log:
        axes.set_xscale("log")
        least, most = axes.get_xlim()
        if most <= FINE * least:
            axes.set_xticks(_round_numbers(least, most))
            axes.xaxis.set_major_formatter("{x:g}")
            axes.xaxis.set_minor_formatter("")
    if "y" in figure.log:
        axes.set_yscale("log")
    if figure.series:
        axes.legend()


def _round_numbers(least: float, most: float) -> list[float]:
    """Give 1, 2 and 5 times the powers of ten in between.

    >>> _round_numbers(0.4, 11)
    [0.5, 1.0, 2.0, 5.0, 10.0]
    """
    powers = range(floor(log10(least)), ceil(log10(most)) + 1)
    numbers = [float(f"{first}e{power}") for power in powers for first in (1, 2, 5)]
    return [number for number in numbers if least <= number <= most]


def _look(number: int) -> tuple[str, str]:
    colours = (BEST, *OTHERS)
    turn, colour = divmod(number, len(colours))
    return colours[colour], STYLES[turn % len(STYLES)]
