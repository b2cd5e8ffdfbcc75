"""Whole workloads: what is declared, what is measured, and what is refused."""

from datetime import datetime

import numpy as np
import pyarrow as pa
import pytest

from recollect.errors import (
    BudgetError,
    FilterError,
    InputError,
    NullKeyError,
    PolicyError,
    TimeOrderError,
    WindowError,
)
from recollect.streams import LocalityStream, ZipfStream
from recollect.workload import JoinOn, Prepared, Stream, Workload, run
from recollect.workload.division import divide
from recollect.workload.measures import PERIODS, distortion

TIMES = {"time": "t", "window": 10}


def random_table(seed: int, rows: int = 120, **columns) -> pa.Table:
    """Times that never go back, and keys ``k``."""
    random = np.random.default_rng(seed)
    times = np.cumsum(random.integers(0, 3, rows))
    return pa.table({"t": times, "k": random.integers(0, 6, rows), **columns})


def of_two(left, right, **words) -> Workload:
    """One join of two streams."""
    streams = {name: Stream(part, **TIMES) for name, part in (("L", left), ("R", right))}
    return Workload(streams, {"j": "L.k = R.k"}, **words)


def test_two_streams_are_the_join_of_two():
    import recollect as rc

    left, right = random_table(1), random_table(2)
    prepared = Prepared(of_two(left, right))
    for policy in ("fifo", "prob"):
        answer = rc.join(left, right, on="k", policy=policy, budget=6, **TIMES)
        assert prepared.run(policy, 6).results == answer.stats.results
        rows = prepared.rows(policy, 6)["j"]
        assert rows.num_rows == answer.table.num_rows
        assert left["t"].take(rows["L"]).to_pylist() == answer.table["left_t"].to_pylist()


def test_a_stream_meets_itself():
    """Pairs of different sensors, each once, the earlier tuple on the left."""
    sensors = np.random.default_rng(3).integers(0, 3, 120)
    table = random_table(4, s=sensors)
    where = "left.s != right.s and left.k >= 2"
    workload = Workload({"W": Stream(table, **TIMES)}, {"pairs": JoinOn("W.k = W.k", where)})
    rows = Prepared(workload).rows("fifo", None)["pairs"]
    t, k = table["t"].to_numpy(), table["k"].to_numpy()
    expected = {
        (i, j)
        for j in range(120)
        for i in range(j)
        if k[i] == k[j] >= 2 and sensors[i] != sensors[j] and t[j] - t[i] <= 10
    }
    found = list(zip(rows["W_earlier"].to_pylist(), rows["W_later"].to_pylist(), strict=True))
    assert set(found) == expected
    assert len(found) == len(expected)


def test_filters_of_several_joins():
    """Each join has its own filter over its own columns, strings and NULLs among them."""
    texts = [None, "x", "a long text"] * 40
    left, right = random_table(5, a=texts, b=list(range(120))), random_table(6, a=texts[::-1])
    streams = {"L": Stream(left, **TIMES), "R": Stream(right, **TIMES)}
    joins = {
        "same": JoinOn("L.k = R.k", "left.a = right.a"),
        "plain": JoinOn("L.k = R.k"),
        "later": JoinOn("R.k = L.k", "right.b > 60 and left.a != 'x'"),
    }
    by_join = Prepared(Workload(streams, joins)).exact.results_by_join
    for name, join in joins.items():
        alone = Prepared(Workload(streams, {name: join})).exact.results_by_join
        assert alone[name] == by_join[name] > 0
    t, u = left["t"].to_numpy(), right["t"].to_numpy()
    expected = sum(
        left["k"][i] == right["k"][j]
        and abs(t[i] - u[j]) <= 10
        and left["b"][i].as_py() > 60
        and right["a"][j].as_py() not in (None, "x")
        for i in range(120)
        for j in range(120)
    )
    assert by_join["later"] == expected


def test_validity():
    """Equal keys and overlapping validity; the newest fact about a viewer replaces the older."""
    stamp = [datetime(2024, 1, 1, 20, minute) for minute in range(0, 60, 10)]
    shows = pa.table({"start": [stamp[0], stamp[3]], "end": [stamp[3], None], "channel": [1, 1]})
    views = pa.table(
        {
            "from": [stamp[1], stamp[2], stamp[3], stamp[4]],
            "to": [stamp[5], stamp[3], stamp[3], stamp[5]],
            "channel": [1, 1, 1, 2],
            "who": ["ann", "bob", "cy", "ann"],
        }
    ).cast(pa.schema([("from", pa.timestamp("s")), ("to", pa.timestamp("s")),
                      ("channel", pa.int16()), ("who", pa.string())]))  # fmt: skip
    streams = {
        "shows": Stream(shows, valid=("start", "end")),
        "views": Stream(views, valid=("from", "to")),
    }
    joins = {"watching": "views.channel = shows.channel"}
    rows = Prepared(Workload(streams, joins)).rows("fifo", None)["watching"].to_pylist()
    pairs = {(row["shows"], row["views"]) for row in rows}
    # cy's fact is empty; bob's ended when the film began, ann's first one did not.
    assert pairs == {(0, 0), (0, 1), (1, 0)}

    swapped = views.take([0, 3])  # ann leaves the channel at :40 instead of :50
    later = pa.table({"start": [stamp[4]], "end": [stamp[5]], "channel": [1]})
    streams = {
        "views": Stream(swapped, valid=("from", "to"), subject="who"),
        "shows": Stream(later, valid=("start", "end")),
    }
    run_ = Prepared(Workload(streams, joins)).exact
    assert (run_.results, run_.replaced) == (0, 1)


def test_warm_up_and_stress():
    """Results before the warm-up do not count; stress is where the periods are full."""
    calm = pa.table({"t": np.arange(0, 1000, 10), "k": [1] * 100})
    busy = pa.table({"t": np.arange(1000, 1100), "k": [1] * 100})
    table = pa.concat_tables([calm, busy])
    workload = of_two(table, table)
    whole = Prepared(workload)
    assert whole.run("fifo", 4).recall < 1
    assert whole.run("fifo", 4).stress_recall < whole.run("fifo", 4).recall
    assert len(whole.memory) == PERIODS
    assert max(whole.memory) == whole.exact.peak_tuples > 2 * whole.memory[50]
    after = Prepared(workload, warm_up="1/2").exact
    timed = Prepared(workload, warm_up=1000).exact
    assert whole.exact.results > after.results == timed.results > 0
    assert Prepared(workload, warm_up="50%").exact.results == after.results
    for bad in ("soon", "3/2", "landmark:5", 1.0):
        with pytest.raises((InputError, WindowError), match="warm_up"):
            Prepared(workload, warm_up=bad)


def shed_streams(shed) -> Prepared:
    """Two streams, of which 5,000 tuples would be alive."""
    streams = {
        name: Stream(ZipfStream(12_000, keys=30, seed=i), time="time", window=2_500, shed=shed)
        for i, name in enumerate("LR")
    }
    return Prepared(Workload(streams, {"j": "L.key = R.key"}))


@pytest.mark.compiled
def test_shedding():
    """At p = 1 − B/(λW) nothing is evicted, and hardly any room is left."""
    prepared = shed_streams("rate")
    run_ = prepared.run("fifo", 1_000)
    assert run_.evicted == run_.refused == 0
    assert run_.shed == pytest.approx(0.8 * run_.tuples_in, rel=0.03)
    assert run_.peak_tuples == 1_000
    assert run_.mean_tuples > 800  # of which a quarter of the time is spent on filling the buffer
    assert run_.kl < 0.01
    assert prepared.run("fifo", 1_000).results == run_.results
    assert prepared.run("fifo", 1_000, seed=5).results != run_.results
    divided = prepared.run("fifo", 1_000, "rate")
    assert divided.shed == pytest.approx(run_.shed, rel=0.02)
    assert prepared.run("fifo", None).shed == 0
    fixed = shed_streams(0.8).run("fifo", 1_000)
    assert fixed.evicted > 0.02 * fixed.tuples_in, "without the rule of the full buffer"


@pytest.mark.compiled
def test_what_is_shed_by_rate_is_an_unbiased_sample():
    """The mean shares of the frequent keys lie within 3 standard errors of the exact ones."""
    prepared = shed_streams("rate")
    keys, exact = prepared.exact_tally.by_key(0)
    top = np.argsort(-exact)[:20]
    shares = []
    for seed in range(100):
        running = prepared.start(prepared.inputs, "fifo", 1_000, "unified", seed)
        for feed in prepared.inputs.feeds(lambda stage, tuples: None, "sample"):
            running.take(feed)
        mine, counts = running.tally.by_key(0)
        there = dict(zip(mine.tolist(), counts.tolist(), strict=True))
        shares.append([there.get(key, 0) / counts.sum() for key in keys[top].tolist()])
    error = np.std(shares, axis=0, ddof=1) / np.sqrt(len(shares))
    off = np.abs(np.mean(shares, axis=0) - exact[top] / exact.sum())
    assert (off <= 3 * error).sum() >= 19


@pytest.mark.compiled
def test_shedding_lessens_distortion():
    """Also that of FIFO, where a shorter window sees more of what repeats itself."""
    stream = LocalityStream(60_000, keys=500, repeat=0.7, depth=50, seed=1)
    for policy in ("fifo", "clock", "gdj", "prob"):
        sse, kl = zip(
            *(
                (run_.sse, run_.kl)
                for shed in (0.0, 0.3, 0.6)
                for run_ in [
                    Prepared(
                        Workload(
                            {"R": Stream(stream, time="time", window=5_000, shed=shed)},
                            {"j": "R.key = R.key"},
                        )
                    ).run(policy, 1_000)
                ]
            ),
            strict=True,
        )
        assert sorted(sse, reverse=True) == list(sse), policy
        assert sorted(kl, reverse=True) == list(kl), policy


def test_shed_arrivals_still_move_count_windows():
    """What is dropped is one of the last arrivals, too: no result that the exact join lacks."""
    table = random_table(8, rows=300)
    streams = {
        "L": Stream(table, time="t", window="5rows", shed=0.5),
        "R": Stream(random_table(9, rows=300), time="t", window="5rows"),
    }
    workload = Workload(streams, {"j": "L.k = R.k"})
    kept = Prepared(workload).rows("fifo", 100)["j"].to_pylist()
    exact = Prepared(Workload({**streams, "L": Stream(table, time="t", window="5rows")},
                              {"j": "L.k = R.k"})).rows("fifo", None)["j"].to_pylist()  # fmt: skip
    assert 0 < len(kept) < len(exact)
    assert {tuple(row.values()) for row in kept} <= {tuple(row.values()) for row in exact}


def test_distortion():
    assert distortion(np.array([1.0, 3.0]), np.array([10.0, 30.0])) == (0.0, 0.0)
    sse, kl = distortion(np.array([4.0, 0.0]), np.array([2.0, 2.0]))
    assert (sse, kl) == (0.5, pytest.approx(np.log(2)))
    assert distortion(np.zeros(2), np.ones(2)) == (None, None)


def test_divisions():
    assert divide(9, "unified", "ABC", [1, 1, 1]) == ((0, 0, 0), (9,))
    assert divide(9, "equal", "ABC", [5, 1, 1]) == ((0, 1, 2), (3, 3, 3))
    assert divide(10, "rate", "ABC", [0, 0, 1000])[1] == (1, 1, 8)
    assert divide(8, {"A": 1, "B": 3}, "AB", [1, 1])[1] == (2, 6)
    for total in range(3, 40):
        assert sum(divide(total, {"A": 0.2, "B": 0.5, "C": 4}, "ABC", [1, 1, 1])[1]) == total
    for division in ("halves", {"A": 1}, {"A": 0, "B": 1}, {"A": "x", "B": 1}):
        with pytest.raises(BudgetError, match="division"):
            divide(8, division, "AB", [1, 1])
    with pytest.raises(BudgetError, match="3 streams"):
        divide(2, "equal", "ABC", [1, 1, 1])


BAD_WORKLOADS = {
    "no join": (lambda t: Workload({"A": Stream(t, **TIMES)}, {}), "at least one join"),
    "stream of no join": (
        lambda t: Workload({n: Stream(t, **TIMES) for n in "ABC"}, {"j": "A.k = B.k"}),
        "stream C takes part in no join",
    ),
    "unknown stream": (lambda t: Workload({"A": Stream(t, **TIMES)}, {"j": "A.k = B.k"}), "'B'"),
    "no equality": (lambda t: JoinOn("A.k"), "not understood"),
    "other columns of itself": (lambda t: JoinOn("A.k = A.t"), "the same columns on both sides"),
    "no stream": (lambda t: JoinOn("k = k"), "not understood"),
    "twice of three": (lambda t: JoinOn("A.k = A.k = B.k"), "twice only in a join of two"),
    "other streams": (lambda t: JoinOn("A.k = B.k, A.k = C.k"), "the same streams"),
    "where of three": (lambda t: JoinOn("A.k = B.k = C.k", "left.k > 1"), "join of two"),
    "no time": (lambda t: Stream(t, window=5), "time"),
    "no window": (lambda t: Stream(t, time="t"), "window"),
    "both": (lambda t: Stream(t, time="t", valid=("t", "t")), "not both"),
    "one column": (lambda t: Stream(t, valid="start"), "start and end"),
    "all shed": (lambda t: Stream(t, shed=1.0, **TIMES), "shed=1.0"),
    "null keys": (lambda t: of_two(t, t, null_keys="drop"), "null_keys"),
}


@pytest.mark.parametrize("name", BAD_WORKLOADS)
def test_bad_declarations(name):
    make, message = BAD_WORKLOADS[name]
    with pytest.raises(InputError, match=message):
        make(random_table(1))


def test_bad_runs():
    good = random_table(1)
    stamped = pa.table({"t": [datetime(2024, 1, 1)], "k": [1]})
    backwards = pa.table({"t": [5, 3], "k": [1, 1]})
    cases = [
        (of_two(good, pa.table({"t": [1]})), InputError, "stream R has no column 'k'"),
        (of_two(good, stamped), InputError, "do not go together"),
        (of_two(good, backwards), TimeOrderError, "row 1 of stream R: 3 after 5"),
        (of_two(good, pa.table({"t": [None, 3], "k": [1, 1]})), InputError, "NULL in row 0"),
        (of_two(good, pa.table({"t": [1], "k": ["x"]})), InputError, "cannot be compared"),
        (
            of_two(good, pa.table({"t": [1, 2], "k": [1, None]}), null_keys="error"),
            NullKeyError,
            "in row 1",
        ),
        (
            Workload({"A": Stream(good, **TIMES)}, {"j": JoinOn("A.k = A.k", "left.q > 1")}),
            FilterError,
            "q",
        ),
    ]
    for workload, error, message in cases:
        with pytest.raises(error, match=message):
            Prepared(workload)
    prepared = Prepared(of_two(good, good))
    for budget, error in ((0, BudgetError), ("much", BudgetError)):
        with pytest.raises(error, match="budget"):
            prepared.run("fifo", budget)
    with pytest.raises(PolicyError, match="unknown policy"):
        run(of_two(good, good), policies=["nope"])
    endless = Workload(
        {"A": Stream(good, time="t", window="unlimited", shed="rate")}, {"j": "A.k = A.k"}
    )
    with pytest.raises(InputError, match="can be read only once"):
        Prepared(of_two(good.to_reader(), good))
    with pytest.raises(InputError, match="never expire"):
        Prepared(endless).run("fifo", 5)


def test_facts_without_end_hold_for_ever():
    open_ended = pa.table({"t": [1, 2], "e": pa.array([None, None], pa.int64()), "k": [7, 7]})
    streams = {"A": Stream(open_ended, valid=("t", "e")), "B": Stream(random_table(1), **TIMES)}
    made = Prepared(Workload(streams, {"j": "A.k = A.k", "i": "A.k = B.k"})).exact
    assert made.results_by_join == {"j": 1, "i": 0}
    assert made.expired < made.tuples_in - 1


def test_empty_streams():
    none = random_table(1).slice(0, 0)
    run_ = Prepared(of_two(none, none)).run("prob", 5)
    assert (run_.tuples_in, run_.results, run_.recall) == (0, 0, 1.0)
