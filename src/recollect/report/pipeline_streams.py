"""What kind of locality the streams of a pipeline have, in a table."""

from collections.abc import Mapping
from typing import Any

from recollect.report.table import number_cells, row_of, share_cell, table

STREAMS_NOTE = (
    "Copies are the share of the tuples that the locality model takes for repetitions of recent"
    " ones; they lower the entropy (bits per tuple) below that of popularity alone. Half of the"
    " repeats come within the distance given, which is also given for the same tuples shuffled."
)
_HEAD = (
    "Stream", "Tuples", "Keys", "Zipf slope", "Copies", "Entropy", "Repeats after", "Shuffled",
)  # fmt: skip


def streams_table(profiles: Mapping[str, Mapping[str, Any]]) -> str:
    """Compare streams by their :meth:`recollect.locality.Profile.to_dict`.

    Those without tuples are left out, and the text is empty without any.
    """
    rows = [_row(name, found) for name, found in profiles.items() if found["tuples"]]
    return table("The streams", list(_HEAD), ["\n".join(rows)]) if rows else ""


def _row(name: str, found: Mapping[str, Any]) -> str:
    slope = "–" if found["zipf_slope"] is None else f"{found['zipf_slope']:.2f}"
    medians = (found[f"iad_quantiles{order}"]["0.5"] for order in ("", "_permuted"))
    return row_of(
        name,
        f"{number_cells(found['tuples'], found['distinct'])}<td>{slope}</td>"
        f"{share_cell(1 - found['b'])}<td>{found['entropy']:.2f} of {found['entropy_iid']:.2f}</td>"
        f"{number_cells(*medians)}",
    )
