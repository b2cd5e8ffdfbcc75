"""HEEB's scores are what their definition says."""

import pytest

from recollect.errors import InputError
from recollect.forecast import Now, Stationary, Survival
from recollect_papers.theory.heeb_scores import caching_scores, joining_scores
from tests.forecast.laws import EXAMPLES
from tests.naive import forecast as naive


@pytest.mark.parametrize("caching", [False, True])
@pytest.mark.parametrize("name", EXAMPLES)
def test_scores_are_the_definition(name, caching):
    law, twin, history, values = EXAMPLES[name]
    score = caching_scores if caching else joining_scores
    found = score(law, values, Now.after(history), Survival("exp", 5.0), horizon=3)
    expected = [naive.score(twin, history, v, naive.exponential(5.0), 3, caching) for v in values]
    assert found == pytest.approx(expected, abs=1e-7)


def test_windows_end_the_benefit():
    law, now = Stationary.fit([1, 2]), Now.after([1])
    scores = joining_scores(law, [1, 1, 1], now, Survival("fixed", 9), lifetimes=[0, 3, 20])
    assert scores == pytest.approx([0, 1.5, 4.5])


def test_mistakes_in_scores():
    law, now = Stationary.fit([1]), Now.after([1])
    with pytest.raises(InputError, match="for caches only"):
        joining_scores(law, [1], now, Survival("inf"), 5)
    with pytest.raises(InputError, match="say how far"):
        caching_scores(law, [1], now, Survival("inf"))
    for kind, scale in (("exp", 0), ("fixed", 2.5), ("inf", 3), ("ever", 1)):
        with pytest.raises(InputError):
            Survival(kind, scale)
