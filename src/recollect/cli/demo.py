"""``recollect demo``: the whole way on generated data, from two streams to a report to look at."""

import os
import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import typer

from recollect.cli.pipeline_screen import Screen
from recollect.errors import InputError, MissingExtraError
from recollect.report import require_page
from recollect.streams import LocalityStream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TUPLES, KEYS, BATCHES = 100_000, 20_000, 4
START = 1_767_225_600_000
"""The first of January 2026, in milliseconds."""
BUDGET = "20%"
CONFIG = """\
# What `recollect demo` ran. Change something and run it again:
#
#     recollect pipeline {out}/pipeline.toml

[pipeline]
name = "Two generated streams"
out = "{out}/run"

[left]
format = "parquet"
path = "{out}/streams/left"
options = {{ maxFilesPerTrigger = 1 }}

[right]
format = "parquet"
path = "{out}/streams/right"
options = {{ maxFilesPerTrigger = 1 }}

[compare]
policies = ["prob", "clock", "lru", "fifo"]
budgets = ["5%", "10%", "20%", "40%"]

[join]
on = "key"
time = "time"
window = "5 seconds"             # 5,000 tuples of each stream
budget = {budget}
policy = "{policy}"
shards = 2
lateness = "1 second"
seed = {seed}

[quality]
slice = "10 seconds"

[report]
html = "{out}/report.html"
"""


def demo(
    out: Annotated[Path, typer.Option(help="The folder for the report.")] = Path("recollect-demo"),
    seed: Annotated[int, typer.Option(min=0, help="For the streams and the policies.")] = 0,
) -> None:
    """Generate two streams, compare policies, join on Spark with a budget, see what is lost."""
    for package in ("pyspark", "plotly"):
        if find_spec(package) is None:
            raise MissingExtraError(
                f"the demo needs {package}, which is not installed: pip install 'recollect[all]'"
            )
    _make_room(out)
    # Spark takes a few seconds to load and to start, in which there is other work to be done.
    with ThreadPoolExecutor(1) as aside, Screen(batches=False) as screen:
        starting = aside.submit(_session, str(out / "run"))
        try:
            screen.begin("generate")
            began = monotonic()
            for side, name in enumerate(("left", "right"), 1):
                _generate(out / "streams" / name, seed=2 * seed + side)
            screen.end("generate", {"tuples": TUPLES, "seconds": monotonic() - began})
            numbers = _run(out, seed, starting.result, screen)
        finally:
            starting.result().stop()
    for line in _message(numbers):
        typer.echo(line)
    typer.echo(f"Report: {(out / 'report.html').resolve()}")


def _make_room(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        for ours in ("streams", "run"):  # of an earlier demo
            shutil.rmtree(out / ours, ignore_errors=True)
            (out / ours).mkdir()
    except OSError as error:
        raise InputError(f"cannot make the folder {out}: {error.strerror}") from None
    require_page(out / "report.html")


def _session(folder: str) -> "SparkSession":
    from recollect.spark.session import logging_to, messages_in, session

    settings = logging_to(folder, {})
    return session("recollect demo", config=settings, messages=messages_in(folder))


def _generate(folder: Path, seed: int) -> None:
    """Write a stream whose tuples come every millisecond as a few files."""
    stream = pa.Table.from_batches(LocalityStream(TUPLES, keys=KEYS, seed=seed).batches())
    times = pc.add(stream["time"], START).cast(pa.timestamp("ms", "UTC"))
    stream = stream.set_column(stream.schema.get_field_index("time"), "time", times)
    folder.mkdir()
    rows = TUPLES // BATCHES
    for number in range(BATCHES):
        file = folder / f"{number}.parquet"
        pq.write_table(stream.slice(number * rows, rows), file)
        os.utime(file, (number, number))  # Spark reads the oldest file first


def _run(out: Path, seed: int, start: Any, screen: Screen) -> dict[str, dict[str, Any]]:
    """Let the evidence of the first three stages choose the policy of the others."""
    from recollect.spark.pipeline import parse_config, run_pipeline

    words = {"out": str(out), "seed": seed, "budget": 1, "policy": "clock"}
    config = parse_config(CONFIG.format(**words), "pipeline.toml")
    numbers = run_pipeline(config, start, ("ingest", "profile", "compare"), screen)
    best = max(_at_budget(numbers), key=lambda row: float(row["recall"]))
    words |= {"budget": best["budget_tuples"], "policy": best["policy"]}
    (out / "pipeline.toml").write_text(CONFIG.format(**words), encoding="utf-8")
    config = parse_config(CONFIG.format(**words), "pipeline.toml")
    return numbers | run_pipeline(config, start, ("join", "quality", "report"), screen)


def _at_budget(numbers: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in numbers["compare"]["rows"] if row["budget"] == BUDGET]


def _message(numbers: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the three numbers that matter."""
    rows = {row["policy"]: row for row in _at_budget(numbers)}
    budget, exact = rows["fifo"]["budget_tuples"], rows["fifo"]["mean_alive"]
    quality = numbers["quality"]
    return [
        "",
        f"memory     {budget / exact:6.1%}   room for {budget:,} of the {exact:,.0f} tuples that"
        " the exact join holds",
        f"kept       {quality['recall']:6.1%}   of {quality['exact_results']:,} exact results",
        f"otherwise  {rows['fifo']['recall']:6.1%}   with a window that is cut to the same memory",
        "",
    ]
