"""``recollect lookup``: enrich a file from a database through a bounded cache."""

from typing import Annotated

import typer

from recollect.cli import options
from recollect.cli.show import print_facts, print_json, progress
from recollect.lookup.online import DEFAULT_POLICY
from recollect.lookup.outage import RelationLostError
from recollect.lookup.sql_relation import without_password
from recollect.lookup.whole import BATCH_ROWS, WholeLookup
from recollect.streams import open_sink


def lookup(
    stream: options.File,
    on: Annotated[
        str, typer.Option(help="Key columns: KEY, STREAM=RELATION, several separated by commas.")
    ],
    relation: Annotated[
        str,
        typer.Option(
            help="sqlite:///file.db, duckdb:///file.db, postgresql://user@host/database, or a file."
        ),
    ],
    cache: Annotated[int, typer.Option(help="How many rows may be cached.")],
    table: Annotated[str | None, typer.Option(help="The table of the database.")] = None,
    policy: Annotated[
        str,
        typer.Option(
            help="Which row to forget: rand, fifo, lru, lfu, clock:w0=2, sieve, s3-fifo, lba,"
            " heeb:forecast=ar1, lfd (offline), or my_module:MyPolicy."
        ),
    ] = DEFAULT_POLICY,
    how: Annotated[
        str, typer.Option(help="Rows whose key is not there: 'left' keeps them, 'inner' does not.")
    ] = "left",
    ttl: Annotated[
        str | None, typer.Option(help="How long a row may be used before it is fetched anew: 5min.")
    ] = None,
    retries: Annotated[
        int, typer.Option(help="How often to try again when the database does not answer.")
    ] = 5,
    batch: Annotated[
        int,
        typer.Option(min=1, max=2**31, help="Rows per batch; for each there is at most one query."),
    ] = BATCH_ROWS,
    seed: options.Seed = 0,
    out: options.Out = None,
    json: options.Json = False,
) -> None:
    """Enrich a stream with the rows of a database, through a cache of bounded size."""
    options.require_apart([stream, relation], out)
    with progress() as report:
        run = WholeLookup(
            stream, relation, on=on, table=table, cache=cache, policy=policy, how=how, ttl=ttl,
            retries=retries, seed=seed, count_only=out is None, batch_rows=batch, progress=report,
        )  # fmt: skip
        if out is None:
            for _ in run:
                pass
        else:
            _write(run, out)
    if json:
        print_json(run.stats.as_dict())
    else:
        there = relation if table is None else f"{without_password(relation)} {table}"
        print_facts(f"{stream} ⋈ {there}", run.stats.as_dict())


def _write(run: WholeLookup, out: str) -> None:
    """Write the results; if the database is lost, what was joined before is kept."""
    lost: RelationLostError | None = None
    with open_sink(out, run.schema) as sink:
        try:
            for batch in run:
                sink.write(batch)
        except RelationLostError as error:
            lost = error
    if lost is not None:
        raise RelationLostError(lost.name, lost.reason, lost.rows_done, out)
