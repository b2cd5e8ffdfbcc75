"""Runs experiments, goes on where an earlier run was stopped, and writes what came out."""

import csv
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from pathlib import Path

from recollect.errors import InputError
from recollect_papers.experiment import Experiment, Paper, Rows, Scale
from recollect_papers.figure import draw
from recollect_papers.finished import Finished
from recollect_papers.places import Place, Processes, Task
from recollect_papers.replication import (
    Exhibit,
    exhibit_text,
    replication_text,
    write_replication_report,
)

Progress = Callable[[str, int, int], None]
"""Told what is measured, how many of its points are done, and how many there are."""


def quiet(what: str, done: int, points: int) -> None:
    """Show no progress."""


def run_papers(
    papers: Mapping[str, Paper],
    names: Sequence[str],
    scale: Scale,
    out: Path,
    place: Place | None = None,
    only: Sequence[str] = (),
    progress: Progress = quiet,
) -> list[Exhibit]:
    """Run the experiments of some papers and write what came out into a folder.

    For each experiment there are ``PAPER/NAME.csv``, ``.svg`` and ``.md`` (the commentary);
    ``report.html`` and ``report.md`` are about everything that is complete in the folder at this
    scale, also from earlier runs. Points that were measured before are not measured again.

    Parameters
    ----------
    papers
        All papers by name.
    names
        Those to be run.
    scale
        How much is to be done.
    out
        The folder.
    place
        Where to measure; processes of this machine, one per core, if left out.
    only
        The experiments to be run, such as ``figure-3``; all if left out.
    progress
        Told of every point that is done.
    """
    _require_known(papers, names, only)
    finished = {name: Finished(out / name / "points.jsonl") for name in papers}
    for name in names:
        for experiment in papers[name].experiments:
            if not only or experiment.name in only:
                measure(experiment, scale, finished[name], place or Processes(), progress)
    exhibits = []
    for name, paper in papers.items():
        for experiment in paper.experiments:
            rows = collected(experiment, scale, finished[name])
            if rows is not None:
                exhibits.append(write_exhibit(name, experiment, rows, out / name))
    titles = {name: paper.title for name, paper in papers.items()}
    facts = {"Scale": scale.name, "First seed": str(scale.first_seed)}
    facts["Real data"] = "given" if scale.data else "not given"
    write_replication_report(titles, exhibits, facts, out / "report.html")
    text = replication_text(titles, exhibits, facts, "{paper}/{name}.svg")
    (out / "report.md").write_text(text, encoding="utf-8")
    return exhibits


def measure(
    experiment: Experiment, scale: Scale, finished: Finished, place: Place, progress: Progress
) -> None:
    """Measure the points that are not done yet."""
    points = experiment.points(scale)
    keys = [Finished.key(experiment.measure, point) for point in points]
    missing = [n for n, key in enumerate(keys) if finished.rows(key) is None]
    done = len(points) - len(missing)
    progress(experiment.title, done, len(points))
    tasks = [Task(experiment.measure, points[number]) for number in missing]
    for number, rows in place.results(tasks):
        finished.add(keys[missing[number]], rows)
        done += 1
        progress(experiment.title, done, len(points))


def collected(experiment: Experiment, scale: Scale, finished: Finished) -> Rows | None:
    """Return the table of an experiment, or None if points are missing."""
    rows = []
    for point in experiment.points(scale):
        found = finished.rows(Finished.key(experiment.measure, point))
        if found is None:
            return None
        rows += list(found)
    return experiment.tabulate(rows)


def write_exhibit(paper: str, experiment: Experiment, rows: Rows, folder: Path) -> Exhibit:
    """Write table, picture and commentary."""
    exhibit = Exhibit(
        paper,
        experiment.name,
        experiment.title,
        experiment.shows,
        experiment.judge(rows),
        draw(experiment.figure, rows),
    )
    (folder / f"{experiment.name}.csv").write_text(as_csv(rows), encoding="utf-8")
    (folder / f"{experiment.name}.svg").write_text(exhibit.picture, encoding="utf-8")
    (folder / f"{experiment.name}.md").write_text(exhibit_text(exhibit) + "\n", encoding="utf-8")
    return exhibit


def as_csv(rows: Rows) -> str:
    """Write rows as CSV.

    >>> print(as_csv([{"policy": "prob", "recall": 0.5}]), end="")
    policy,recall
    prob,0.5
    """
    text = StringIO()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _require_known(papers: Mapping[str, Paper], names: Sequence[str], only: Sequence[str]) -> None:
    for name in names:
        if name not in papers:
            raise InputError(f"unknown paper {name!r}; known are {', '.join(papers)}, all")
    known = [experiment.name for name in names for experiment in papers[name].experiments]
    for name in only:
        if name not in known:
            raise InputError(f"no experiment is called {name!r}; known are {', '.join(known)}")
