"""Keys of like popularity are counted together, and none is lost."""

import numpy as np
import pytest

from recollect.counting.popularity import popularity_classes
from recollect.errors import InputError


def test_classes_keep_all_tuples():
    popularity = np.random.default_rng(1).pareto(1, 5000)
    shares, keys = popularity_classes(popularity)
    assert len(shares) < 1000
    assert keys.sum() == 5000
    assert shares @ keys == pytest.approx(1)
    assert np.minimum(1, shares * 1000) @ keys == pytest.approx(
        np.minimum(1, popularity / popularity.sum() * 1000).sum(), rel=1e-3
    )


@pytest.mark.parametrize("popularity", [[], [1, -1], [[1]]])
def test_bad_popularity(popularity):
    with pytest.raises(InputError, match="popularity must be"):
        popularity_classes(popularity)
