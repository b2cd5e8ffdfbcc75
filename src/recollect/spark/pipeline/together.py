"""Ingest and join at the same time, for sources that have no end."""

from typing import Any

from recollect.spark.pipeline import ingest, join
from recollect.spark.pipeline.context import Run
from recollect.spark.pipeline.counts import Counts
from recollect.spark.pipeline.queries import patience, wait


def ingest_and_join(run: Run) -> dict[str, dict[str, Any]]:
    """Run both until the time is over or Ctrl-C is pressed, then join what is left, and stop."""
    with join.listening(run) as live, patience(run.config.sink) as is_over:
        sources = ingest.start(run)
        counts = Counts(run.layout.ingest_counts, sources)
        joining = join.start(run, run.config.sink.trigger)
        queries = ingest.named(sources) | {join.QUERY: joining}
        wait(queries, until=is_over, look=lambda: ingest.look(run, counts))
        for query in sources.values():
            query.stop()
        run.watch.news(
            "join",
            "stopping; joining what has been read so far (Ctrl-C to leave it for the next run)",
        )
        joining.processAllAvailable()
        joining.stop()
        live.wait(joining)
    return {"ingest": ingest.finish(run, counts), "join": join.finish(run, joining)}
