"""``recollect papers``: the experiments of the papers, run again."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from recollect.cli.show import print_table
from recollect.errors import InputError
from recollect_papers.data_folder import VARIABLE

if TYPE_CHECKING:
    from recollect_papers.places import Place
    from recollect_papers.replication import Exhibit
    from recollect_papers.running import Progress as Report

ALL = "all"


def papers(
    name: Annotated[
        str, typer.Argument(help="gdj, locality, stochastic, temporal, clock, or all of them.")
    ],
    out: Annotated[
        Path,
        typer.Option(help="The folder for tables, pictures and report; run again to go on."),
    ],
    scale: Annotated[
        str, typer.Option(help="small takes minutes, full has the sizes of the papers.")
    ] = "small",
    data: Annotated[
        str | None,
        typer.Option(
            help=f"Folder of the real data; {VARIABLE} if left out. Without either, only generated"
            " streams are used."
        ),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Only this experiment (figure-3); may be repeated.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="How many processes; one per core if left out.")
    ] = None,
    master: Annotated[
        str | None, typer.Option(help="Measure on Spark instead: local[4], spark://host:7077, …")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
) -> None:
    """Run the experiments of the papers again, and say which claims hold."""
    from recollect_papers.registry import PAPERS, Scale, run_papers

    folder = data or os.environ.get(VARIABLE) or None
    if folder is not None and not Path(folder).is_dir():
        raise InputError(f"there is no folder {folder}")
    asked = Scale(scale, folder and str(Path(folder).resolve()), seed)
    names = list(PAPERS) if name == ALL else [name]
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {out}: {error.strerror}") from None
    with _place(master, workers) as place, _progress() as report:
        exhibits = run_papers(PAPERS, names, asked, out, place, only or [], report)
    _print_claims(exhibits)
    typer.echo(f"Report: {(out / 'report.html').resolve()}")


@contextmanager
def _place(master: str | None, workers: int | None) -> Iterator["Place"]:
    from recollect_papers.places import OnSpark, Processes

    if master is None:
        yield Processes(workers)
        return
    from recollect.spark import session

    spark = session("recollect papers", master)
    try:
        yield OnSpark(spark)
    finally:
        spark.stop()


@contextmanager
def _progress() -> Iterator["Report"]:
    console = Console(stderr=True)
    if not console.is_terminal:
        yield (
            lambda what, done, points: (
                typer.echo(f"{what}: {points} points", err=True) if done == points else None
            )
        )
        return
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console) as bar:
        tasks: dict[str, object] = {}

        def report(what: str, done: int, points: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=points)
            bar.update(tasks[what], completed=done)  # type: ignore[arg-type]

        yield report


def _print_claims(exhibits: list["Exhibit"]) -> None:
    from recollect_papers.replication import headline

    table = Table(title=headline(exhibits), title_justify="left")
    for column in ("where", "claim", "reproduced?"):
        table.add_column(column)
    for exhibit in exhibits:
        for finding in exhibit.findings:
            where = f"{exhibit.paper} {exhibit.title.partition(':')[0]}"
            table.add_row(where, finding.claim, finding.outcome)
    print_table(table)
