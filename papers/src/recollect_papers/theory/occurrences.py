"""How often, and when, one key is to be expected under the locality model.

References
----------
Li, Chang, Kollios, Bestavros: Characterizing and Exploiting Reference Locality in Data Stream
Applications, ICDE 2006, section 4.1.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recollect.locality import LocalityModel, Prediction
from recollect.streams.checks import require_whole

Floats = NDArray[np.float64]


def expected_occurrences(
    prediction: Prediction, key: int, recent: ArrayLike, popularity: float
) -> float:
    """How often a key will come, wherever it is among the recent ones; the paper's Lemma 3.

    Where it is one of them only, this is Lemma 2.

    Parameters
    ----------
    prediction
        From :func:`recollect.locality.predict`.
    key
        The code of the key.
    recent
        The last tuples of the stream, the latest at the end; only h of them matter.
    popularity
        The key's share of the independent draws, P(c).

    Examples
    --------
    >>> from recollect.locality import predict
    >>> next_two = predict(LocalityModel(np.array([0.5, 0.0]), b=0.5), horizon=2)
    >>> expected_occurrences(next_two, 7, recent=[8, 7], popularity=0.1)
    0.875
    """
    backwards = np.asarray(recent)[::-1][: len(prediction.by_lag)]
    near = prediction.by_lag[: len(backwards)] @ (backwards == key)
    return float(near) + prediction.fresh * popularity


def probabilities(
    model: LocalityModel, key: int, recent: ArrayLike, popularity: float, horizon: int
) -> Floats:
    """How likely each of the next tuples has a key: the recursion of the paper's section 4.1.

    Parameters
    ----------
    model
        The locality model of the stream.
    key
        The code of the key.
    recent
        The last tuples of the stream, the latest at the end; only h of them matter.
    popularity
        The key's share of the independent draws, P(c).
    horizon
        How many tuples ahead.

    Examples
    --------
    >>> model = LocalityModel(np.array([0.5, 0.0]), b=0.5)
    >>> probabilities(model, 7, recent=[8, 7], popularity=0.1, horizon=3)
    array([0.55  , 0.325 , 0.2125])
    """
    require_whole("horizon", horizon, least=0)
    past = (np.asarray(recent)[-model.h :] == key).astype(float)
    past = np.concatenate([np.zeros(model.h - len(past)), past, np.zeros(horizon)])
    backwards = model.weights[::-1]
    for place in range(model.h, len(past)):
        past[place] = model.b * popularity + backwards @ past[place - model.h : place]
    return past[model.h :]
