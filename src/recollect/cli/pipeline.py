"""``recollect pipeline``: from raw sources through the bounded join to a report, on Spark."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.cli import options
from recollect.cli.pipeline_screen import Screen, summary
from recollect.cli.show import print_facts, print_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def pipeline(
    config: Annotated[str, typer.Argument(help="The TOML file that describes the pipeline.")],
    master: Annotated[
        str | None,
        typer.Option(help="Where Spark runs: local[4], spark://host:7077, yarn, …"),
    ] = None,
    stage: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this stage: ingest, profile, compare, join, quality or report; may be"
            " repeated."
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Read, clean and join two sources on Spark, measure what was lost, and write a report."""
    # Only now, because Spark takes a second to load and no other command needs it.
    from recollect.spark.pipeline import read_config, run_pipeline
    from recollect.spark.session import logging_to, messages_in, session

    begun = time.monotonic()
    started: list[SparkSession] = []
    try:
        plan = read_config(config)

        def start() -> "SparkSession":
            settings = logging_to(plan.pipeline.out, plan.spark.config)
            messages = messages_in(plan.pipeline.out)
            started.append(
                session(plan.pipeline.name, master or plan.spark.master, settings, messages)
            )
            return started[-1]

        with Screen() as screen:
            numbers = run_pipeline(plan, start, stage or (), screen)
    finally:
        for spark in started:
            spark.stop()
    if json:
        print_json({"pipeline": plan.pipeline.name, **numbers})
    else:
        seconds = time.monotonic() - begun
        print_facts(plan.pipeline.name, summary(numbers) | {"seconds": seconds})
