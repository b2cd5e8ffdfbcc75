"""Two streams whose tuples have several attributes, for as many joins at once: figures 7 and 8."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from recollect_papers.catalogue.workload import seeds
from recollect_papers.gdj.inputs import TUPLES
from recollect_papers.streams import AttributesStream, ParetoStream

FLURRIES, INDEPENDENT = "Pareto gaps", "independent"
LAWS = (FLURRIES, INDEPENDENT)
CREDIT = "gdj:percentile=0.3"
"""The best initial credit of GDJ for four attributes, on seeds from 500 on."""


def attribute_streams(
    law: str, skews: tuple[Sequence[float], Sequence[float]], seed: int
) -> dict[str, Any]:
    """Return two streams whose tuples have several attributes, each with a skew of its own.

    Parameters
    ----------
    law
        With Pareto gaps each attribute is a stream of the paper's generator, and the i-th tuple has
        the i-th value of each. Independent tuples are those of the catalogue.
    skews
        By stream and attribute.
    seed
        Which of the many.

    Examples
    --------
    >>> made = attribute_streams("Pareto gaps", ([0.0, 1.0], [0.0, 0.5]), seed=1)
    >>> made["S"].schema.names, len(made["S"])
    (['time', 'key_1', 'key_2'], 14400)
    """
    own = dict(zip("RS", zip(skews, seeds(seed, 2), strict=True), strict=True))
    if law == INDEPENDENT:
        return {
            name: AttributesStream(TUPLES, exponents=list(mine), seed=its)
            for name, (mine, its) in own.items()
        }
    return {name: _with_gaps(mine, its) for name, (mine, its) in own.items()}


def _with_gaps(skews: Sequence[float], seed: int) -> pa.Table:
    columns = [
        ParetoStream(TUPLES, exponent=skew, seed=one).table()
        for skew, one in zip(skews, seeds(seed, len(skews)), strict=True)
    ]
    keys = {f"key_{i + 1}": column["key"] for i, column in enumerate(columns)}
    return pa.table({"time": columns[0]["time"], **keys})
