"""What every policy of a cache must do."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from recollect.lookup.cache import Cache
from recollect.policies import Policy, Room

STREAMS = {
    "empty": [],
    "one reference": [3],
    "one key": [3] * 30,
    "no key twice": list(range(60)),
    "round and round": list(range(7)) * 8,
    "extreme keys": [-(2**63), 2**63 - 1, 0, -1] * 10,
}


def make_stream(seed: int, length: int = 300, keys: int = 25) -> list[int]:
    """Keys of which small ones come more often."""
    random = np.random.default_rng(seed)
    return [int(key) for key in keys * random.random(length) ** 2]


def start(
    policy: Policy, keys: Sequence[int], capacity: int, slots: int | None = None, seed: int = 7
) -> Cache:
    """Begin a cache."""
    trace = np.array(keys, np.int64)
    room = Room.of_cache(capacity, seed, pa.int64(), trace if policy.offline else None)
    return Cache(policy, room if slots is None else room.with_slots(slots))


def refer(cache: Cache, keys: Sequence[int]) -> list[bool]:
    """Which references hit."""
    hit = np.ones(len(keys), bool)
    missed = cache.refer(np.array(keys, np.int64)).missed
    hit[missed] = False
    cache.put(0, np.zeros(len(missed), bool))
    return [bool(each) for each in hit]


def cached_in(cache: Cache) -> set[int]:
    """The keys that are cached."""
    buffer = cache.buffer
    return {int(key) for key in buffer.key[buffer.group[cache.rows_of()[0], 0]]}


def check_hits_are_what_is_cached(policy: Policy) -> None:
    """A reference hits if its key is cached, and never are there more rows than allowed."""
    for capacity in (1, 2, 6):
        for title, keys in {**STREAMS, "random": make_stream(1)}.items():
            cache = start(policy, keys, capacity)
            for number, key in enumerate(keys):
                before = cached_in(cache)
                place = f"stream {title!r}, capacity {capacity}, reference {number}"
                assert refer(cache, [key]) == [key in before], f"{place}: hit or miss is wrong"
                after = cached_in(cache)
                assert len(after) == cache.live <= capacity, f"{place}: {cache.live} rows"
                assert after <= before | {key}, f"{place}: a row that nobody asked for"


def check_large_cache_misses_once(policy: Policy) -> None:
    """A cache that is never full misses each key once."""
    keys = make_stream(2)
    hits = refer(start(policy, keys, 30), keys)
    first = [key not in keys[:number] for number, key in enumerate(keys)]
    assert hits == [not new for new in first], "a key that was cached missed"


def check_same_seed_same_hits(policy: Policy) -> None:
    """The same seed gives the same hits, however the stream is cut into batches."""
    keys = make_stream(3)
    whole = refer(start(policy, keys, 6), keys)
    for step in (300, 1, 7, 90):
        cache = start(policy, keys, 6)
        cut = [hit for at in range(0, 300, step) for hit in refer(cache, keys[at : at + step])]
        assert cut == whole, f"batches of {step}"


def check_growth_of_the_cache(policy: Policy) -> None:
    """A cache whose slots had to grow chooses as one that was large from the beginning."""
    keys = make_stream(4, 900, keys=150)
    large = refer(start(policy, keys, 40), keys)
    assert refer(start(policy, keys, 40, slots=4), keys) == large, "other hits"


def check_rows_that_do_not_last(policy: Policy) -> None:
    """A row that has outlived its time is a miss; references without a key are nothing at all."""
    keys = np.array(make_stream(5, 60), np.int64)
    room = Room.of_cache(5, 0, pa.int64(), np.tile(keys, 3) if policy.offline else None)
    cache = Cache(policy, room, ttl=3)
    for number, now in enumerate((0, 2, 9)):
        cached = cached_in(cache)
        referred = cache.refer(keys[:1], None if number < 2 else np.ones(1, bool), now)
        cache.put(0, np.zeros(len(referred.missed), bool))
        assert len(referred.missed) == (1, 0, 0)[number], f"at {now}: {sorted(cached)} are cached"
    referred = cache.refer(keys, None, 9)
    assert 0 in referred.missed, "a row was used for too long"
    assert cache.live <= 5, "more rows than allowed"


CACHE_CHECKS = [check for name, check in list(globals().items()) if name.startswith("check_")]
