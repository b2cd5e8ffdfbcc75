"""How many flights from New York were in the air at every moment of 2013, by airport?

    pip install '.[report]' './papers[data]'
    python examples/flights_in_the_air.py [--out flights.html]

Prints the busiest moment of each airport and how many flights left JFK each month, and writes a
page with the flights in the air and the miles that they were to cover.
"""

import argparse

import numpy as np
import pyarrow.compute as pc

import recollect as rc
from recollect.report.aggregate import write_aggregate_report
from recollect_papers.streams.nyc_flights import flights


def main() -> None:
    """Aggregate the flights and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="flights.html", help="the page to write")
    out = parser.parse_args().out
    table = flights()

    per_origin = rc.aggregate(table, "start", "end", "distance", agg="count,sum", group_by="origin")
    counts = per_origin.of("count")
    for origin in ("EWR", "JFK", "LGA"):
        here = counts.filter(pc.equal(counts["origin"], origin))
        (busiest,) = here.slice(np.argmax(here["count"]), 1).to_pylist()
        print(f"{origin}: {busiest['count']} flights in the air at {busiest['start']} UTC")

    longest = rc.aggregate(
        table, "start", "end", "distance", agg="count,max", span="month", where="origin = 'JFK'"
    )
    for row in longest.table.to_pylist():
        print(f"{row['start']:%B %Y}: {row['count']:,} from JFK, the longest {row['max']:,} miles")

    question = {"start": "departure", "end": "arrival", "value": "distance", "group by": "origin"}
    write_aggregate_report("Flights from New York in 2013", per_origin, question, out)
    print(f"Report: {out}")


if __name__ == "__main__":
    main()
