"""The picture of what a policy keeps: a lane per key, bars while it is in memory."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import streams
import traces
from drawing import DARK, PANEL, SHADES, WIDTH, save
from matplotlib.axes import Axes
from matplotlib.figure import Figure


def memory_of(page: str, cache: bool) -> list[tuple[str, traces.Trace]]:
    """Run a policy over the small streams."""
    if cache:
        trace = traces.of_cache(streams.references(), 8, page)
        return [("references, and scans over rows wanted once", trace)]
    kinds, moving = (streams.kinds_of_keys(), 80, 10), (streams.moving_keys(), 60, 6)
    run: Callable[..., traces.Trace] = partial(traces.of_join, policy=page)
    if page == "lba":
        run = partial(traces.of_join, policy="lba:h=20")
    if page == "opt":
        run = traces.of_optimum
    if page == "flowexpect":
        return [("keys that move", traces.of_plans(*moving, streams.TRENDS))]
    return [("keys of three kinds", run(*kinds)), ("keys that move", run(*moving))]


def draw_memory(page: str, cache: bool, out: Path) -> None:
    """Draw what a policy of joins or of caches keeps of the small streams."""
    made = memory_of(page, cache)
    figure = Figure(figsize=(WIDTH, PANEL * len(made)), layout="constrained")
    panels = figure.subplots(len(made), squeeze=False)[:, 0]
    for axes, (title, trace) in zip(panels, made, strict=True):
        draw_trace(axes, trace, kinds="move" not in title)
        found, exact = trace.found[-streams.SHOWN :].sum(), trace.exact[-streams.SHOWN :].sum()
        what = "hits" if cache else "results"
        axes.set_title(f"{title}: {found} of {exact} {what}", loc="left")
    save(figure, out / f"{page}-memory.svg")


def draw_trace(axes: Axes, trace: traces.Trace, kinds: bool) -> None:
    """A lane per key: bars while it is in memory, the darker the more; a dot for each arrival."""
    begin = len(trace.keys) - streams.SHOWN
    keys = trace.keys[begin:]
    present = np.unique(keys)
    heights = np.where(kinds & (present >= streams.RARE), 0.35, 1.0)
    lane = dict(zip(present.tolist(), np.cumsum(heights) - heights / 2, strict=True))
    bars: dict[int, list[tuple[float, float]]] = {}
    for key in present.tolist():
        for first, last, many in runs(trace.memory[key, begin:]):
            line = [(first, lane[key]), (last, lane[key]), (np.nan, np.nan)]
            bars.setdefault(min(many, 4), []).extend(line)
    thick = 0.8 * PANEL * 72 / heights.sum()
    for many, lines in sorted(bars.items()):
        axes.plot(*np.array(lines).T, c=SHADES[many - 1], lw=min(thick, 6), solid_capstyle="butt")
    found, exact = trace.found[begin:] > 0, trace.exact[begin:] > 0
    y = np.array([lane[key] for key in keys.tolist()])
    dots(axes, found, y, DARK, 3.6)
    dots(axes, ~found & exact, y, DARK, 3.6)
    dots(axes, ~found & exact, y, "white", 2.2)
    dots(axes, ~exact, y, DARK, 1.2)
    axes.set(xlim=(-2, streams.SHOWN + 1), ylim=(0, heights.sum()), yticks=[])
    axes.set(xlabel="arrivals", ylabel="" if kinds else "key")
    if kinds:
        tops = [heights[present < end].sum() for end in (0, streams.AWHILE, streams.RARE, np.inf)]
        axes.set_yticks(np.diff(tops) / 2 + tops[:-1], ["often", "for a\nwhile", "rarely"])
        axes.tick_params("y", length=0)


def dots(axes: Axes, where: np.ndarray, y: np.ndarray, color: str, size: float) -> None:
    """Many dots as a single line of length 0, which makes a small file."""
    x = np.flatnonzero(where)
    points = np.stack([[x, x, x * np.nan], [y[where]] * 3]).transpose(0, 2, 1).reshape(2, -1)
    axes.plot(*points, c=color, lw=size, solid_capstyle="round")


def runs(counts: np.ndarray) -> list[tuple[int, int, int]]:
    """Where a number stays the same and is not 0: begin, end and the number."""
    cuts = np.flatnonzero(np.diff(counts, prepend=-1, append=-1))
    return [
        (first, last, int(counts[first]))
        for first, last in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
        if counts[first]
    ]
