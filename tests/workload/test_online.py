"""Workloads that are fed in batch by batch: as the naive workload, and as the whole input."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import WorkloadJoin, hashing
from recollect.errors import BudgetError, InputError, NullKeyError, TimeOrderError
from recollect.join import feed as feeds
from recollect.policies import parse_policy
from recollect.testing.joins import MANY, assert_exact, feed, finish, make_stream, run
from recollect.workload import JoinOn, Prepared, Stream, Workload
from tests.naive import simple
from tests.naive import workload as naive
from tests.naive.join import CountWindow, TimeWindow, UnlimitedWindow
from tests.policies.scenarios import examples

NAMES = ("R", "S", "T")
WINDOWS = {"R": 12, "S": "7rows", "T": "unlimited"}
SPANS = (TimeWindow(12), CountWindow(7), UnlimitedWindow())
JOINS = {"all": "R.k = S.k = T.k", "two": "S.k = R.k", "itself": "R.j = R.j"}
PROBLEM = naive.Problem(SPANS, ((0, 1, 2), (1, 0), (0, 0)))
POLICIES = {"lru": simple.Lru, "prob": naive.Prob, "rand": simple.Rand}


def streams_of(tables, **more) -> dict[str, Stream]:
    return {
        name: Stream(tables and tables[name], time="t", window=WINDOWS[name], **more)
        for name in NAMES
    }


def random_rows(seed: int, length: int = 90) -> list[tuple]:
    """A merged input: (stream, time, k, j), some keys NULL."""
    random = np.random.default_rng(seed)
    times = np.cumsum(random.integers(0, 3, length))
    streams = random.integers(0, 3, length)
    order = np.lexsort((streams, times))
    keys = np.where(random.random((2, length)) < 0.1, -1, random.integers(0, 4, (2, length)))
    return [
        (int(streams[i]), int(times[i]), *(None if key < 0 else f"key {key}" for key in keys[:, i]))
        for i in order
    ]


def tables_of(rows) -> dict[str, pa.Table]:
    """The streams, each tuple with its serial."""
    schema = pa.schema(
        [("t", pa.int64()), ("k", pa.string()), ("j", pa.string()), ("n", pa.int64())]
    )
    tables = {}
    for number, name in enumerate(NAMES):
        own = [(*row[1:], serial) for serial, row in enumerate(rows, 1) if row[0] == number]
        columns = zip(*own, strict=True) if own else [[], [], [], []]
        arrays = [
            pa.array(list(one), kind) for one, kind in zip(columns, schema.types, strict=True)
        ]
        tables[name] = pa.table(arrays, schema=schema)
    return tables


def serials_in(found) -> dict[str, list[tuple[int, ...]]]:
    """By join: the serials of the tuples of each result."""
    by_join = {name: [] for name in JOINS}
    for name, batch in found:
        columns = [batch[c].to_pylist() for c in batch.schema.names if c.endswith("_n")]
        by_join[name] += zip(*columns, strict=True)
    return by_join


def feed_in_cuts(join: WorkloadJoin, tables, cuts, save: bool = False):
    """Feed pieces of the streams, in the order given, then what is left."""
    rest, found = dict(tables), []
    for number, rows in [*cuts, *((number, 10**6) for number in (2, 0, 1))]:
        name = NAMES[number]
        found += join.feed(name, rest[name].slice(0, rows))
        rest[name] = rest[name].slice(rows)
        if save:
            join = WorkloadJoin.load(join.save())
    return serials_in([*found, *join.finish()]), join


cuts_of = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 25)), max_size=8)


@pytest.mark.parametrize("policy", POLICIES)
@examples(10)
@given(st.integers(0, 99), cuts_of, st.sampled_from([1, 4, 9, (2, 3, 4)]))
def test_the_naive_workload_however_it_is_cut(policy, seed, cuts, budget):
    rows = random_rows(seed)
    tables = tables_of(rows)
    parts = budget if isinstance(budget, tuple) else (budget,)
    shares = dict(zip(NAMES, parts, strict=True)) if len(parts) > 1 else "unified"
    words = {"budget": sum(parts), "policy": policy, "division": shares, "seed": 5}
    join = WorkloadJoin(Workload(streams_of(None), JOINS), **words)
    found, join = feed_in_cuts(join, tables, cuts)

    facts = [
        naive.Row(s, t, (k, k if s < 2 else None, j if s == 0 else None)) for s, t, k, j in rows
    ]
    pools = range(3) if len(parts) > 1 else (0, 0, 0)
    trace = naive.run(facts, PROBLEM, pools, parts, POLICIES[policy], 5)
    expected = {name: [] for name in JOINS}
    for number, serials in trace.results:
        expected[list(JOINS)[number]].append(serials)
    assert {name: sorted(each) for name, each in found.items()} == {
        name: sorted(each) for name, each in expected.items()
    }
    assert join.stats.evicted == sum(trace.evicted.values())
    assert join.stats.null_keys == sum(k is None or (s == 0 and j is None) for s, _, k, j in rows)

    prepared = Prepared(Workload(streams_of(tables), JOINS))
    for name, table in prepared.rows(policy, words["budget"], shares, seed=5).items():
        order = [
            column.removesuffix("_earlier").removesuffix("_later") for column in table.schema.names
        ]
        numbers = [
            tables[stream]["n"].take(column).to_pylist()
            for stream, column in zip(order, table.columns, strict=True)
        ]
        assert sorted(zip(*numbers, strict=True)) == sorted(found[name])


@examples(6)
@given(st.integers(0, 99), cuts_of)
def test_saving_in_mid_stream_changes_nothing(seed, cuts):
    tables = tables_of(random_rows(seed))
    words = {"budget": 6, "policy": "lfu", "division": {"R": 1, "S": 1, "T": 2}}
    workload = Workload(streams_of(None), JOINS, lateness=3)
    found, join = feed_in_cuts(WorkloadJoin(workload, **words), tables, cuts)
    again, loaded = feed_in_cuts(WorkloadJoin(workload, **words), tables, cuts, save=True)
    assert again == found
    assert loaded.stats.evicted == join.stats.evicted > 0


def test_a_policy_that_is_more_than_its_text_is_given_to_load():
    rows = make_stream(MANY, 4, 80)
    policy = parse_policy("lba:h=3,warmup=9")
    join = MANY.start(policy, 8)
    found = feed(MANY, join, rows[:40])
    join = WorkloadJoin.load(join.save(), policy)
    assert finish(join, found + feed(MANY, join, rows[40:], 41)) == run(MANY, policy, rows, 8)


@pytest.fixture(params=[1, 3])
def colliding(request, monkeypatch):
    """Only so many different codes of texts."""
    true_codes = hashing.code_of_columns

    def codes(columns):
        found = true_codes(columns)
        own_code = len(columns) == 1 and hashing.fits_in_64_bits(columns[0].type)
        return found if own_code else found % request.param

    monkeypatch.setattr(feeds, "code_of_columns", codes)


def test_keys_that_share_a_code_are_told_apart(colliding):
    tables = tables_of(random_rows(7))
    found, join = feed_in_cuts(WorkloadJoin(Workload(streams_of(None), JOINS)), tables, [])
    facts = [
        naive.Row(s, t, (k, k if s < 2 else None, j if s == 0 else None))
        for s, t, k, j in random_rows(7)
    ]
    expected = {name: set() for name in JOINS}
    for number, serials in naive.exact_results(facts, PROBLEM):
        expected[list(JOINS)[number]].add(serials)
    assert {name: set(each) for name, each in found.items()} == expected
    assert join.stats.results == sum(map(len, found.values()))


def test_lateness():
    """Shuffled within the lateness, the streams give the same; what is later is counted."""
    tables = tables_of(random_rows(8))
    join = WorkloadJoin(Workload(streams_of(None), JOINS))
    in_order, _ = feed_in_cuts(join, tables, [])
    random = np.random.default_rng(1)
    shuffled = {
        name: table.take(np.argsort(table["t"].to_numpy() + random.uniform(0, 4, len(table))))
        for name, table in tables.items()
    }
    join = WorkloadJoin(Workload(streams_of(None), JOINS, lateness=4))
    found, join = feed_in_cuts(join, shuffled, [(0, 9), (1, 9), (2, 9)])
    count_free = ("itself",)  # a count window depends on the order at equal times
    assert {name: set(found[name]) for name in count_free} == {
        name: set(in_order[name]) for name in count_free
    }
    assert join.stats.late == 0
    late = tables["R"].slice(0, 1)
    join = WorkloadJoin(Workload(streams_of(None), JOINS, lateness=4))
    join.feed("R", tables["R"].slice(20))
    join.feed("R", late)
    for name in ("S", "T"):
        join.feed(name, tables[name].slice(0, 0))
    list(join.finish())
    assert join.stats.late == 1
    join = WorkloadJoin(Workload(streams_of(None), JOINS))
    for name in NAMES:
        join.expect(name, tables[name].schema)
    join.feed("R", tables["R"].slice(20))
    with pytest.raises(TimeOrderError, match="of stream R"):
        join.feed("R", late)


def test_a_budget_in_bytes():
    rows = make_stream(MANY, 5, 300, keys=200)
    case = MANY.with_windows(*["unlimited"] * 3)
    assert_exact(case, run(case, parse_policy("fifo"), rows, "600MB", width=80), rows)
    small = run(case, parse_policy("fifo"), rows, "300kB", width=80)
    assert 0 < small.stats["evicted"] < 300
    assert set(small.results) < case.exact(rows)


def test_what_is_refused():
    table = tables_of(random_rows(1))["R"]
    workload = Workload(streams_of(None), JOINS)
    join = WorkloadJoin(workload)
    with pytest.raises(InputError, match="'Q' is not a side of a join; give 'R' or 'S' or 'T'"):
        join.feed("Q", table)
    join.finish("R")
    with pytest.raises(InputError, match="R stream has been finished"):
        join.feed("R", table)
    for words in ({"budget": "10%"}, {"budget": 5, "division": "rate"}):
        with pytest.raises(BudgetError, match="known only for whole inputs"):
            WorkloadJoin(workload, **words)
    with pytest.raises(InputError, match="cannot be shed"):
        WorkloadJoin(Workload(streams_of(None, shed=0.5), JOINS))
    strict = WorkloadJoin(
        Workload({"R": Stream(None, time="t", window=5)}, {"i": JoinOn("R.k = R.k")}, "error")
    )
    with pytest.raises(NullKeyError, match="in row 1"):
        strict.feed("R", pa.table({"t": [1, 2], "k": ["x", None]}))


def test_counting_only():
    tables = tables_of(random_rows(2))
    workload = Workload(streams_of(None), JOINS)
    listing = WorkloadJoin(workload, budget=6)
    found, listing = feed_in_cuts(listing, tables, [])
    counting, join = feed_in_cuts(WorkloadJoin(workload, budget=6, count_only=True), tables, [])
    assert not any(counting.values())
    assert join.stats.results == listing.stats.results == sum(map(len, found.values())) > 0
