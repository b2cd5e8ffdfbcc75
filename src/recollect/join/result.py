"""What a result looks like: the columns of both tuples, clashing names with their side in front."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recollect.errors import InputError
from recollect.join.encoding import keys_of
from recollect.join.payload import take
from recollect.join.query import SIDES, Bound


class ResultShape:
    """Puts rows of both streams together.

    Where key codes are hashes, the keys themselves are compared here, and pairs of different keys
    left out: a collision can never make a wrong result.
    """

    def __init__(self, bound: Bound) -> None:
        self._bound = bound
        left, right = bound.schemas
        clashing = set(left.names) & set(right.names)
        self.schema = pa.schema(
            [
                field.with_name(f"{side}_{field.name}" if field.name in clashing else field.name)
                for side, schema in zip(SIDES, bound.schemas, strict=True)
                for field in schema
            ]
        )
        for name in self.schema.names:
            if len(self.schema.get_all_field_indices(name)) > 1:
                raise InputError(
                    f"two columns of the result would be called {name!r}; rename one of the input"
                )

    def joined(self, left: pa.RecordBatch, right: pa.RecordBatch) -> pa.RecordBatch:
        """The pairs whose keys are really equal."""
        columns = [*left.columns, *right.columns]
        batch = pa.RecordBatch.from_arrays(columns, schema=self.schema)
        if self._bound.exact_codes:
            return batch
        same = np.ones(batch.num_rows, bool)
        sides = (keys_of(self._bound, side, part) for side, part in enumerate((left, right)))
        for one, two in zip(*sides, strict=True):
            same &= _equal(one, two)
        return batch if same.all() else take(batch, np.flatnonzero(same))


def _equal(one: pa.Array, two: pa.Array) -> np.ndarray:
    """Which values are the same; where NaN is let through as a key, it equals NaN."""
    try:
        same = pc.equal(one, two)
        if pa.types.is_floating(one.type):
            same = pc.or_(same, pc.and_(pc.is_nan(one), pc.is_nan(two)))
        return same.to_numpy(zero_copy_only=False).astype(bool)
    except pa.ArrowNotImplementedError:  # nested types and intervals
        pairs = zip(one.to_pylist(), two.to_pylist(), strict=True)
        return np.array([a == b or repr(a) == repr(b) for a, b in pairs])
