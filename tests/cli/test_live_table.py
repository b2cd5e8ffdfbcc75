"""A running join is shown as a table on a terminal and as lines in a log."""

import io
import re
from contextlib import suppress

from rich.console import Console

from recollect.cli.live_table import BATCHES, live_table


def record(batch, join="ads", **more):
    counts = {
        "rows_in": 100_000,
        "results": 8_120,
        "evicted": 88_000,
        "refused": 7,
        "expired": 1_200,
        "late": 3,
        "duration_ms": 1_840,
    }
    totals = {name: value * (batch + 1) for name, value in counts.items()}
    return {
        "join": join,
        "query_id": "q",
        "batch": batch,
        "rows_per_second": 54_347.8,
        "buffered": 20_000,
        "buffered_bytes": 1_900_000,
        **counts,
        "totals": totals
        | {
            "input_rows": totals["rows_in"],
            "peak_buffered": 21_000,
            "peak_buffered_bytes": 2_000_000,
        },
        **more,
    }


def shown(records, terminal, width=80):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=terminal, width=width, height=40)
    with live_table(console) as show:
        for one in records:
            show(one)
    return screen.getvalue()


def last_table(text):
    """The words of each line of the last picture, the head first."""
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).rstrip()
    return [line.split() for line in plain[plain.rindex("rows/s") :].splitlines()]


def test_a_log_gets_one_plain_line_per_batch_and_the_totals():
    assert shown([record(0), record(1)], terminal=False).splitlines() == [
        *(
            f"ads batch {batch}: 100,000 rows (54,348/s), 8,120 results, 20,000 tuples in 1.90 MB,"
            " 88,000 evicted, 7 refused, 1,200 expired, 3 late, 1.8 s"
            for batch in range(2)
        ),
        "ads total: 200,000 rows (54,348/s), 16,240 results, ≤21,000 tuples in ≤2.00 MB,"
        " 176,000 evicted, 14 refused, 2,400 expired, 6 late, 3.7 s",
    ]


def test_the_totals_are_told_even_if_the_query_fails():
    screen = io.StringIO()
    with suppress(RuntimeError), live_table(Console(file=screen)) as show:
        show(record(0))
        raise RuntimeError
    assert "ads total:" in screen.getvalue()


def test_nothing_is_written_if_nothing_happens():
    assert shown([], terminal=False) == ""


def test_what_is_not_known_is_left_out():
    assert "100,000 rows, " in shown([record(0, rows_per_second=None)], terminal=False)
    assert "–" in shown([record(0, rows_per_second=None)], terminal=True)


def test_a_terminal_sees_the_last_batches_and_the_totals():
    text = shown([record(batch) for batch in range(25)], terminal=True)
    head, *batches, total = last_table(text)
    assert head[1:6] == ["results", "tuples", "memory", "evicted", "refused"]
    assert [words[0] for words in batches] == [str(batch) for batch in range(15, 25)]
    assert len(batches) == BATCHES
    assert " ".join(total) == (
        "total 2.50 M 54.3 k 203 k ≤21.0 k ≤2.00 MB 2.20 M 175 30.0 k 75 46.0 s"
    )


def test_the_table_fits_into_80_columns():
    plain = shown([record(batch) for batch in range(25)], terminal=True)
    assert "…" not in plain


def test_several_joins_are_told_apart():
    text = shown([record(0), record(0, "users")], terminal=True, width=100)
    _, ads, users, *totals = last_table(text)
    assert (ads[0], users[0]) == ("ads", "users")
    assert len(totals) == 2
