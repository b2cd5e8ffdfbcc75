"""Saved state that is cut, changed or something else is refused with a StateError."""

import io
import json

import numpy as np
import pytest

import recollect as rc
from recollect.errors import StateError
from recollect.join.saving import FORMAT, MAGIC, pack, unpack
from tests.join.brute import WHAT, random_table
from tests.join.feeding import numbers, take_all

STREAM = random_table(1, 40, 5)


@pytest.fixture(scope="module")
def saved() -> bytes:
    join = rc.Join(**WHAT, window=20, budget=12)
    take_all(join.feed("left", STREAM))
    take_all(join.feed("right", STREAM.slice(0, 20)))
    return join.save()


def test_cut_anywhere(saved):
    random = np.random.default_rng(1)
    for length in [0, 1, 4, *random.integers(0, len(saved), 60), len(saved) - 1]:
        with pytest.raises(StateError):
            rc.Join.load(saved[:length])


def test_a_changed_byte_is_noticed_or_changes_nothing(saved):
    whole = numbers(rc.Join.load(saved))
    random = np.random.default_rng(2)
    directory = saved.index(b"PK\x01\x02")
    places = [*range(120), *random.integers(0, len(saved), 200)]
    places += list(random.integers(directory, len(saved), 500))
    noticed = 0
    for place in places:
        damaged = bytearray(saved)
        damaged[place] ^= 1 << int(random.integers(8))
        try:
            join = rc.Join.load(bytes(damaged))
        except StateError:
            noticed += 1
        else:
            assert numbers(join) == whole
            assert join.save() == saved
    assert noticed > 300


def state(**arrays) -> bytes:
    target = io.BytesIO()
    np.savez(target, **arrays)
    return target.getvalue()


def header(content) -> np.ndarray:
    return np.frombuffer(json.dumps(content).encode(), np.uint8)


def single_array() -> bytes:
    target = io.BytesIO()
    np.save(target, np.arange(3))
    return target.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        b"something else",
        single_array(),
        state(something=np.arange(3)),
        state(header=header([])),
        state(header=header({"version": 1})),
        state(header=header({"version": 99})),
        state(header=np.frombuffer(b"{", np.uint8)),
    ],
    ids=["text", "array", "no header", "list", "incomplete", "version", "no JSON"],
)
def test_what_is_no_saved_join(data):
    with pytest.raises(StateError):
        rc.Join.load(data)


def test_another_format_is_refused_by_name(saved):
    older = saved.replace(MAGIC + b"%d" % FORMAT, MAGIC + b"%d" % (FORMAT - 1), 1)
    message = f"saved in format {FORMAT - 1}, this version of recollect reads format {FORMAT}"
    with pytest.raises(StateError, match=message):
        rc.Join.load(older)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda arrays: arrays.pop("used"), "its part 'used' is missing"),
        (lambda arrays: arrays.pop("state0"), "its part 'state0' is missing"),
        (
            lambda arrays: arrays.update(next=arrays["next"].astype(float)),
            "'next' is of another kind",
        ),
        (lambda arrays: arrays.update(slots=arrays["next"]), "'slots' is of another kind"),
        (lambda arrays: arrays.update(table=arrays["table"][0]), "'table' is of another kind"),
    ],
    ids=["no ledger", "no policy", "other numbers", "other records", "other shape"],
)
def test_arrays_that_do_not_fit(saved, change, message):
    parts = unpack(saved)
    change(parts.arrays)
    with pytest.raises(StateError, match=message):
        rc.Join.load(pack(parts))


def test_a_state_of_another_policy(saved):
    parts = unpack(saved)
    arguments = parts.header["arguments"] | {"policy": "lru"}
    with pytest.raises(StateError, match="does not fit policy lru of this version"):
        rc.Join.load(pack(parts._replace(header=parts.header | {"arguments": arguments})))
