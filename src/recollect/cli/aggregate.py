"""``recollect aggregate``: COUNT, SUM, AVG, MIN and MAX of intervals at every moment."""

from contextlib import ExitStack
from typing import Annotated

import typer

from recollect.cli import options
from recollect.cli.show import print_facts, print_json, progress
from recollect.intervals.aggregate import Aggregation, TemporalAggregate
from recollect.report import require_page
from recollect.report.aggregate import write_aggregate_report
from recollect.streams import open_sink


def aggregate(
    file: Annotated[
        str,
        typer.Argument(
            help="The relation: a Parquet, CSV, Arrow IPC or JSON-lines file, or"
            " an index made with --index."
        ),
    ],
    start: Annotated[
        str | None, typer.Option(help="The column with the start times; not needed for an index.")
    ] = None,
    end: Annotated[
        str | None, typer.Option(help="The column with the end times; NULL means no end.")
    ] = None,
    value: Annotated[
        str | None, typer.Option(help="The column with the values; not needed for a count.")
    ] = None,
    agg: Annotated[
        str | None, typer.Option(help="Aggregates separated by commas: count, sum, avg, min, max.")
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(help="Conditions on columns, as in: origin = 'JFK' and distance >= 500"),
    ] = None,
    from_: Annotated[str | None, typer.Option("--from", help="Begin at this moment.")] = None,
    to: Annotated[str | None, typer.Option(help="Stop before this moment.")] = None,
    span: Annotated[
        str | None, typer.Option(help="One row per day, month, 15min, … instead of per change.")
    ] = None,
    group_by: Annotated[
        str | None, typer.Option(help="Aggregate each value of this column on its own.")
    ] = None,
    index: Annotated[
        str | None, typer.Option(help="Build an index in this file first, and keep it.")
    ] = None,
    buffer_pages: Annotated[
        int | None, typer.Option(help="Work on disk, with so many pages of 4 KiB in memory.")
    ] = None,
    replacement: Annotated[
        str, typer.Option(help="Which page leaves the buffer: order or lru.")
    ] = "order",
    memory: Annotated[
        str | None, typer.Option(help="Work on disk if the tuples take more than this, as in 2GB.")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(help="Write one row per interval to this file (format by its ending)."),
    ] = None,
    html: Annotated[
        str | None, typer.Option(help="Write a page with the aggregates over time to this file.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Aggregate tuples with a start and an end: COUNT, SUM, AVG, MIN, MAX at every moment."""
    options.require_apart([file], index, out, html)
    if html is not None:
        require_page(html)
    if agg is None:
        agg = "count" if value is None else "count,sum,avg,min,max"
    with progress() as report, ExitStack() as opened:
        run = TemporalAggregate(
            file, start, end, value, agg=agg, where=where, from_=from_, to=to, span=span,
            group_by=group_by, index=index, buffer_pages=buffer_pages, replacement=replacement,
            memory=memory, progress=report,
        )  # fmt: skip
        sink = None if out is None else opened.enter_context(open_sink(out, run.shape.schema))
        # A picture needs all rows, and so does the order of groups; else they may pass by.
        whole = html is not None or (group_by is not None and sink is not None)
        answer = Aggregation.of_run(run) if whole else None
        if sink is not None:
            for batch in run.batches() if answer is None else answer.table.to_batches():
                sink.write(batch)
        elif answer is None:
            for _ in run:
                pass
    if html is not None:
        assert answer is not None
        question = {"start": start, "end": end, "value": value, "where": where, "from": from_,
                    "to": to, "span": span, "group by": group_by}  # fmt: skip
        write_aggregate_report(file, answer, question, html)
    facts = run.stats.as_dict()
    if json:
        print_json(facts)
        return
    counts = facts.pop("constant_intervals")
    print_facts(file, facts | {f"intervals of {name}": count for name, count in counts.items()})
    if html is not None:
        print(f"Report: {html}")
