"""How the pictures look, and files that are small and the same each time."""

import re
from io import StringIO
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

SHADES = ["#fbd3c4", "#f5a98d", "#ee7f59", "#e4572e"]
DARK, GREY = "#1d3557", "#c4c9d0"
WIDTH, PANEL = 5.6, 2.3
"""Of a picture and the height of a panel, in inches: small, so that letters are large."""
mpl.rcParams |= {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10,
    "path.simplify": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "recollect",
}


def save(figure: Figure, path: Path) -> None:
    """Write a picture without the date, and with coordinates that are no more exact than needed."""
    nothing = dict.fromkeys(["Creator", "Date", "Format", "Type"])
    drawn = StringIO()
    figure.savefig(drawn, format="svg", metadata=nothing)
    path.write_text(re.sub(r"(\d\.\d)\d+", r"\1", drawn.getvalue()), encoding="utf-8")
    print(path, path.stat().st_size // 1024, "KB", flush=True)
