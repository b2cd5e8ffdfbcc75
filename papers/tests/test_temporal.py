"""The claims on replacement in the order of time that hold, on seeds of their own."""

import pytest

from recollect.intervals import IntervalFile
from recollect.intervals.aggregate import TemporalAggregate
from recollect_papers import catalogue
from recollect_papers.experiment import Scale
from recollect_papers.temporal import TEMPORAL, buffer_size, other_relations
from recollect_papers.temporal.sweeps import LRU, ORDER, SMALLEST, measure

SEED = 1000
SWAPPED = {ORDER: LRU, LRU: ORDER}


def swept(relation, buffers, tuples=SMALLEST):
    return [
        row for buffer in buffers for row in measure(relation, tuples, buffer, seed=SEED, repeats=1)
    ]


@pytest.fixture(scope="module")
def smallest():
    return {"ds1": swept("ds1", (0.25, 1.5, 5.0)), "ds2": swept("ds2", (0.25, 2.0, 5.0))}


def swapped(rows):
    return [{**row, "replacement": SWAPPED[row["replacement"]]} for row in rows]


def verdicts(experiment, rows):
    return [finding.verdict for finding in experiment.judge(experiment.tabulate(rows))]


def test_all_figures_are_there():
    assert [experiment.name for experiment in TEMPORAL.experiments] == [
        "figure-10", "figure-11", "sizes",
    ]  # fmt: skip


@pytest.mark.parametrize("experiment", TEMPORAL.experiments[:2], ids=lambda each: each.name)
def test_points_are_one_relation(experiment):
    points = experiment.points(Scale("full", first_seed=SEED))
    assert {point["tuples"] for point in points} == {SMALLEST}
    assert {point["seed"] for point in points} == {SEED, SEED + 1, SEED + 2}
    assert len({point["relation"] for point in points}) == 1
    shared = other_relations.all_points(Scale("full", first_seed=SEED))
    assert all(point in shared for point in points)


@pytest.mark.parametrize("relation", ["ds1", "ds2"])
def test_three_times_fewer_page_reads_and_never_more(smallest, relation):
    fewer, small_buffers, never_more, _ = verdicts(buffer_size.FIGURE_10, smallest[relation])
    assert (fewer, small_buffers, never_more) == ("yes", "partly", "yes")


def test_the_other_way_round_is_refused(smallest):
    fewer, _, never_more, _ = verdicts(buffer_size.FIGURE_10, swapped(smallest["ds1"]))
    assert (fewer, never_more) == ("no", "no")


def test_time_is_judged_by_the_times(smallest):
    def with_seconds(of):
        return [{**row, "seconds": of(row)} for row in smallest["ds1"]]

    assert verdicts(buffer_size.FIGURE_10, with_seconds(lambda row: row["page_reads"]))[3] == "yes"
    rows = with_seconds(lambda row: 1 + 1e-6 * row["page_reads"])
    time = buffer_size.judge(buffer_size.tabulate(rows))[3]
    assert time.verdict == "no"
    assert "a page read takes 1 µs, and everything else 1.00 s" in time.why


def test_the_smallest_buffer_may_be_the_best(smallest):
    rows = [row for row in smallest["ds1"] if row["buffer"] >= 1.5]
    assert verdicts(buffer_size.FIGURE_10, rows)[1] == "yes"


def test_larger_relations_are_alike(smallest):
    larger = swept("ds1", (1.5,), 4 * SMALLEST) + swept("ds2", (2.0,), 4 * SMALLEST)
    rows = smallest["ds1"] + smallest["ds2"] + larger
    table = other_relations.tabulate(rows)
    assert {row["relation"] for row in table} == {"DS1 ×1", "DS2 ×1", "DS1 ×4", "DS2 ×4"}
    assert verdicts(other_relations.EXPERIMENT, rows) == ["yes", "yes"]
    assert verdicts(other_relations.EXPERIMENT, smallest["ds1"] + swapped(larger[:2])) == [
        "no", "no",
    ]  # fmt: skip


def test_real_relations_are_judged_apart(smallest):
    rows = [*smallest["ds1"], *swept("ds1", (1.5,), 4 * SMALLEST)]
    real = [{**row, "relation": "trips", "page_reads": 500} for row in smallest["ds1"][:2]]
    assert verdicts(other_relations.EXPERIMENT, rows + real) == ["yes", "yes", "no"]


def test_five_aggregates_read_what_one_reads(tmp_path):
    made = catalogue.load("ds1", tuples=4_096, seed=SEED)
    IntervalFile.load(tmp_path / "index", made.streams["tuples"], **made.query).close()

    def reads(aggregates):
        run = TemporalAggregate(tmp_path / "index", value="value", agg=aggregates, buffer_pages=6)
        assert all(len(rows.start) for rows in run)
        return run.stats.page_reads

    assert reads("min") == reads("count,sum,avg,min,max")
