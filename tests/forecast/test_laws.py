"""Every law answers as a walk through all its futures does, and is found again from its samples."""

import numpy as np
import pytest

from recollect.errors import InputError
from recollect.forecast import (
    Ar1,
    DiscreteLaw,
    Locality,
    Markov,
    Now,
    Stationary,
    Trend,
    Walk,
    forecast_class,
    forecast_names,
)
from tests.forecast.laws import EXAMPLES
from tests.naive import forecast as naive

DELTAS = [3, 1, 2]


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_probabilities(example):
    law, twin, history, values = example
    found = law.probabilities(values, DELTAS, Now.after(history))
    expected = [[naive.probability(twin, history, v, d) for d in DELTAS] for v in values]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)
    assert law.probability(values[0], 2, Now.after(history)) == found[0, 2]


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_first_probabilities(example):
    law, twin, history, values = example
    found = law.first_probabilities(values, 3, Now.after(history))
    expected = [[naive.first_probability(twin, history, v, d) for d in (1, 2, 3)] for v in values]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_no_values_and_no_deltas(example):
    now = Now.after(example.history)
    assert example.law.probabilities([], [1, 2], now).shape == (0, 2)
    assert example.law.probabilities(example.values, [], now).shape == (len(example.values), 0)


def test_samples_are_repeatable_and_differ_by_seed():
    for name, (law, *_) in EXAMPLES.items():
        n = 7
        assert len(law.sample(n, seed=1)) == n
        assert np.array_equal(law.sample(n, seed=1), law.sample(n, seed=1))
        assert law.sample(n, seed=1).dtype == np.int64
        if name != "markov":
            assert not np.array_equal(law.sample(n, seed=1), law.sample(n, seed=2))


def test_samples_follow_the_law():
    """How often the next values come, against what the law says of them."""
    for name in ("stationary", "walk", "ar1", "locality"):
        law = EXAMPLES[name].law
        sample = law.sample(4_000, seed=5)
        given, happened = [], []
        for step in range(100, 4_000, 2):
            options = np.unique(sample[step - 40 : step + 1])
            given.append(law.probabilities(options, [1], Now.after(sample[:step]))[:, 0].max())
            best = np.argmax(law.probabilities(options, [1], Now.after(sample[:step]))[:, 0])
            happened.append(sample[step] == options[best])
        assert np.mean(happened) == pytest.approx(np.mean(given), abs=0.04), name


def test_fits_find_the_parameters():
    noise = DiscreteLaw(-1, [0.25, 0.5, 0.25])
    trend = Trend.fit(Trend(0.75, 20, noise).sample(4_000, seed=1))
    assert trend.slope == pytest.approx(0.75, abs=1e-4)
    assert trend.intercept == pytest.approx(20.125, abs=0.05)  # halves are rounded upwards
    walk = Walk.fit(Walk(noise, start=9).sample(20_000, seed=2))
    assert walk.steps.weights == pytest.approx([0.25, 0.5, 0.25], abs=0.02)
    assert (walk.start, walk.steps.low) == (9, -1)
    ar1 = Ar1.fit(Ar1(0.5, 10, 8).sample(20_000, seed=3))
    assert (ar1.factor, ar1.shift, ar1.deviation) == pytest.approx((0.5, 10, 8), rel=0.03)
    chain = Markov([1, 4], [[0.9, 0.1], [0.4, 0.6]])
    assert Markov.fit(chain.sample(20_000, seed=4)).transitions == pytest.approx(
        chain.transitions, abs=0.02
    )
    local = Locality.fit(EXAMPLES["locality"].law.sample(30_000, seed=5), h=4)
    assert local.model.weights == pytest.approx([0.1, 0, 0.5, 0], abs=0.03)
    assert local.model.b == pytest.approx(0.4, abs=0.03)
    stationary = Stationary.fit([4, 4, 9])
    assert stationary.popularity_of([4, 9, 5]) == pytest.approx([2 / 3, 1 / 3, 0])


def test_a_state_seen_only_at_the_end_is_followed_by_anything():
    law = Markov.fit([1, 1, 1, 2])
    assert law.transitions.tolist() == [[2 / 3, 1 / 3], [0.75, 0.25]]


def test_an_ar1_process_far_from_its_mean():
    """A last value beyond the states of the chain is taken for the nearest of them."""
    law = Ar1(0.5, 0, 3)
    far, end = Now.after([10_000]), Now.after([int(law.chain.states[-1])])
    assert np.array_equal(law.probabilities([0], [3], far), law.probabilities([0], [3], end))
    assert law.probability(5_000, 1, far) > 0.1


def test_an_ar1_process_does_not_jump_from_one_end_to_the_other():
    law = Ar1(0.99, 0, 2)
    low, high = law.chain.states[[0, -1]]
    for here, there in ((low, high), (high, low)):
        assert law.probability(here, 2, Now.after([here])) > 0.1
        assert law.probability(there, 2, Now.after([here])) < 1e-9


def test_a_history_of_which_only_the_end_is_known():
    law, _, history, values = EXAMPLES["locality"]
    whole, end = Now.after([1, 1, 7, *history]), Now(time=6, recent=np.array(history))
    assert np.array_equal(
        law.probabilities(values, DELTAS, whole), law.probabilities(values, DELTAS, end)
    )


def test_names():
    assert forecast_names() == ["ar1", "locality", "markov", "stationary", "trend", "walk"]
    assert forecast_class("walk") is Walk


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda: forecast_class("wlak"), "did you mean walk"),
        (lambda: forecast_class("x"), "known are ar1, locality"),
        (lambda: Stationary.fit([]), "at least 1"),
        (lambda: Stationary.fit([1.5]), "1.5 is among them"),
        (lambda: Stationary.fit([1, np.inf]), "inf is among them"),
        (lambda: Stationary.fit(["a"]), "whole numbers, not of type"),
        (lambda: Stationary([2, 1], [0.5, 0.5]), "ascending"),
        (lambda: Stationary([1, 2], [0.5, 0.4]), "add up to 0.9"),
        (lambda: Stationary([1, 2], [1.0]), "for each value"),
        (lambda: DiscreteLaw(0, [0.5, 0.6]), "add up to 1"),
        (lambda: DiscreteLaw(0, [-0.5, 1.5]), "at least 0"),
        (lambda: DiscreteLaw(0.5, [1.0]), "low must be a whole number"),
        (lambda: DiscreteLaw.uniform(3, 2), "high must be"),
        (lambda: DiscreteLaw.normal(0), "deviation must be"),
        (lambda: DiscreteLaw.normal(1e6), "deviation must be"),
        (lambda: DiscreteLaw.normal(1, bound=2, mean=500), "nothing within the bound 2"),
        (lambda: Walk.fit([0, 2**40, 0]), "too far apart"),
        (
            lambda: Walk(DiscreteLaw.uniform(-9_000, 9_000)).probability(1, 5, Now.after([0])),
            "spreads over more than 65536 values; count in coarser units",
        ),
        (lambda: Trend(float("nan"), 0, DiscreteLaw.uniform(0, 0)), "slope must be a number"),
        (lambda: Walk(DiscreteLaw.uniform(0, 1), start=0.5), "start must be a whole number"),
        (lambda: Markov([1, 2], [[1.0]]), "square"),
        (lambda: Markov([1, 2], [[1, 0], [0.5, 0]]), "add up to 1"),
        (lambda: Markov([2, 1], np.eye(2)), "ascending"),
        (lambda: Markov.fit(np.arange(5_000)), "too many"),
        (lambda: Markov([1, 2], np.eye(2)).probability(1, 1, Now.after([3])), "last value 3"),
        (lambda: Ar1(1, 0, 1), "random walk"),
        (lambda: Ar1.fit([5, 5, 5]), "all values are 5"),
        (lambda: Ar1(0.5, 0, 1_000).chain, "coarser units"),
        (lambda: Walk(DiscreteLaw.uniform(0, 1)).probability(1, 1, Now.after([])), "none yet"),
        (lambda: Stationary.fit([1]).probability(1, 0, Now.after([1])), "1 step ahead, not 0"),
    ],
)  # fmt: skip
def test_mistakes(mistake, message):
    with pytest.raises(InputError, match=message):
        mistake()
