"""Every policy against its naive twin, reference by reference, however the stream is cut."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.forecast import Ar1, DiscreteLaw, Markov, Trend, Walk
from recollect.lookup import lookup
from recollect.lookup.cache import Cache
from recollect.policies import Room, cache_policy_names, parse_cache_policy
from recollect.policies.heeb import Heeb
from tests.naive import caches
from tests.policies.scenarios import examples

CHAIN = Markov(range(8), np.random.default_rng(3).dirichlet(np.full(8, 0.5), 8))


def variant(cls, **parameters):
    return type(cls.__name__, (cls,), parameters)


def heeb(law, alpha=5.0):
    return Heeb(right=law, alpha=alpha), variant(caches.Heeb, law=law, alpha=alpha)


TWINS = {
    "rand": ("rand", caches.Rand),
    "fifo": ("fifo", caches.Fifo),
    "lru": ("lru", caches.Lru),
    "lfu": ("lfu", caches.Lfu),
    "clock": ("clock", caches.Clock),
    "clock 2.5": ("clock:w0=2.5", variant(caches.Clock, w0=2.5)),
    "sieve": ("sieve", caches.Sieve),
    "s3-fifo": ("s3-fifo", caches.S3Fifo),
    "s3-fifo half": ("s3-fifo:small=0.5", variant(caches.S3Fifo, share=0.5)),
    "lfd": ("lfd", caches.Lfd),
    "lfd always admits": ("lfd:refuse=false", variant(caches.Lfd, refuse=False)),
    "heeb stationary": ("heeb:forecast=stationary", caches.Lfu),
    "heeb markov": heeb(CHAIN),
    "heeb walk": heeb(Walk(DiscreteLaw(-2, [0.1, 0.3, 0.2, 0.1, 0.3]))),
    "heeb trend": heeb(Trend(0.25, 1, DiscreteLaw.uniform(-3, 2))),
    "lba": ("lba:h=3,warmup=9", variant(caches.Lba, h=3, warmup=9)),
    "lba at 7": ("lba:h=3,warmup=9,horizon=7", variant(caches.Lba, h=3, warmup=9, horizon=7)),
}


def room_for(capacity, seed, keys):
    return Room.of_cache(capacity, seed, pa.int64(), np.array(keys, np.int64))


def hits_of(cache, keys, **more):
    """Which references hit."""
    hit = np.ones(len(keys), bool)
    referred = cache.refer(np.array(keys, np.int64), **more)
    hit[referred.missed] = False
    cache.put(0, np.zeros(len(referred.missed), bool))
    return hit.tolist()


def test_every_policy_has_a_twin():
    assert {name.split()[0] for name in TWINS} == set(cache_policy_names())


@pytest.mark.parametrize("name", TWINS)
@examples(25)
@given(
    st.lists(st.integers(0, 7), min_size=4, max_size=70).filter(lambda keys: len(set(keys)) > 2),
    st.integers(1, 5),
    st.integers(1, 40),
    st.integers(0, 9),
)
def test_the_same_hits(name, keys, capacity, cut, seed):
    policy, twin = TWINS[name]
    expected = twin(capacity, seed, keys).refer(keys)
    cache = Cache(parse_cache_policy(policy), room_for(capacity, seed, keys))
    got = []
    for start in range(0, len(keys), cut):
        got += hits_of(cache, keys[start : start + cut])
    assert got == expected
    assert cache.live <= capacity


@pytest.mark.parametrize("name", [name for name in TWINS if "heeb" not in name])
def test_larger_caches(name):
    """The slots of the cache grow a few times, and the queues have more than a few rows."""
    keys = (np.random.default_rng(5).zipf(1.2, 900) % 900).tolist()
    policy, twin = TWINS[name]
    room = room_for(60, 1, keys).with_slots(4)
    got = hits_of(Cache(parse_cache_policy(policy), room), keys)
    assert got == twin(60, 1, keys).refer(keys)
    assert sum(got) > 100


@pytest.mark.parametrize("name", [name for name in TWINS if "lba" in name])
def test_lessons_go_on(name):
    """The model is fitted again and again, while it changes."""
    keys = [*Ar1(0.9, 1, 2).sample(60, seed=1), *Ar1(-0.5, 20, 2).sample(100, seed=2)]
    policy, twin = TWINS[name]
    keys = [int(key) for key in keys]
    got = hits_of(Cache(parse_cache_policy(policy), room_for(5, 0, keys)), keys)
    assert got == twin(5, 0, keys).refer(keys)
    assert sum(got) > 30


@pytest.mark.parametrize("name", ["rand", "lru", "lfu", "clock", "sieve", "s3-fifo", "lba", "lfd"])
@examples(15)
@given(
    st.lists(st.lists(st.integers(0, 7), max_size=9), min_size=2, max_size=9),
    st.integers(1, 4),
    st.integers(1, 20),
)
def test_rows_that_do_not_last(name, batches, capacity, ttl):
    """Each batch comes five time units after the one before."""
    policy, twin = TWINS[name]
    keys = [key for batch in batches for key in batch]
    naive = twin(capacity, 0, keys)
    cache = Cache(parse_cache_policy(policy), room_for(capacity, 0, keys), ttl)
    for number, batch in enumerate(batches):
        assert hits_of(cache, batch, now=5 * number) == naive.refer(batch, 5 * number, ttl)


@pytest.mark.compiled
def test_a_law_that_does_not_fit_is_no_end():
    """A chain cannot have so many states; what was learnt before is kept."""
    random = np.random.default_rng(0)
    keys = np.concatenate([random.integers(0, 50, 7_000), np.arange(100_000, 120_000)])
    stream = pa.table({"key": keys})
    words = {"on": "key", "cache": 25, "count_only": True}
    found = lookup(stream, stream.slice(0, 0), policy="heeb:forecast=markov", **words).stats
    assert found.misses > 20_000
    assert found.hits > 2_000


def test_keys_that_the_law_does_not_know_are_worth_nothing():
    """Each second reference is to a row that is never wanted again."""
    random = np.random.default_rng(0)
    chain = random.integers(0, 3, 3_000) * 2
    keys = np.stack([chain, 1_001 + 2 * np.arange(3_000)]).T.ravel()
    law = Markov([0, 2, 4], np.full((3, 3), 1 / 3))
    stream = pa.table({"key": keys})
    words = {"on": "key", "cache": 3, "count_only": True}
    found = lookup(stream, stream.slice(0, 0), policy=Heeb(right=law), **words).stats
    assert found.hits == 3_000 - 3


def test_nulls_refer_to_nothing():
    cache = Cache(parse_cache_policy("lru"), Room.of_cache(2))
    rows, missed = cache.refer(np.array([1, 2, 1, 2, 3]), np.array([0, 1, 0, 1, 0], bool))
    assert missed.tolist() == [0, 4]
    assert rows.tolist()[1] == rows.tolist()[3] == -1
