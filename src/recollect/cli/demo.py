"""``recollect demo``: everything on generated data, with a report to look at."""

from pathlib import Path
from typing import Annotated

import typer

from recollect.cli.compare import BUDGETS, page_facts
from recollect.cli.show import print_recalls, progress
from recollect.errors import InputError
from recollect.join.whole import compare
from recollect.report import require_page, write_recall_report
from recollect.streams import LocalityStream

TUPLES = 200_000
KEYS = 20_000
WINDOW = 5_000
POLICIES = ("prob", "lba", "clock", "gdj", "lru", "fifo")


def demo(
    out: Annotated[Path, typer.Option(help="The folder for the report.")] = Path("recollect-demo"),
    seed: Annotated[int, typer.Option(help="For the streams and the policies.")] = 0,
) -> None:
    """Generate two streams, compare policies at four budgets, and write a report."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {out}: {error.strerror}") from None
    page = out / "report.html"
    require_page(page)
    left, right = (LocalityStream(TUPLES, keys=KEYS, seed=2 * seed + side) for side in (1, 2))
    typer.echo(
        f"Two streams of {TUPLES:,} tuples, half of them repeats of one of the last 50 keys,"
        f" window {WINDOW:,}. The first run compiles each policy, about five seconds each."
    )
    with progress() as report:
        comparison = compare(
            left, right, on="key", time="time", window=WINDOW,
            policies=POLICIES, budgets=BUDGETS.split(","), seed=seed, progress=report,
        )  # fmt: skip
    print_recalls("Share of the exact result that each policy keeps, by budget", comparison.runs)
    facts = {
        "title": "Demo: two generated streams",
        "left": f"LocalityStream({TUPLES}, keys={KEYS}, seed={2 * seed + 1})",
        "right": f"LocalityStream({TUPLES}, keys={KEYS}, seed={2 * seed + 2})",
        "on": "key",
        "seed": seed,
    }
    write_recall_report(facts | page_facts(comparison), page)
    typer.echo(f"Report: {page.resolve()}")
