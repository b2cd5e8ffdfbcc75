"""What a join remembers as bytes, and back.

The container is numpy's archive of arrays behind a checksum, so that damage is noticed. Record
batches go into it in Arrow's own format, everything else as JSON.
"""

import io
import json
import zlib
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from recollect.errors import StateError

MAGIC = b"recollect join "
"""What saved state begins with; the number of its format and a line end follow."""
FORMAT = 2
"""To be raised whenever the parts of a saved join, or the arrays of the engine, change."""


class Saved(NamedTuple):
    """The parts of a saved join."""

    header: dict[str, Any]
    arrays: dict[str, np.ndarray]
    batches: list[tuple[str, pa.RecordBatch]]
    """Batches by name; a name may come several times."""

    def named(self, name: str) -> list[pa.RecordBatch]:
        """All batches of a name."""
        return [batch for other, batch in self.batches if other == name]


def pack(saved: Saved) -> bytes:
    """Put everything into one piece.

    >>> saved = Saved({"a": 1}, {"b": np.arange(2)}, [("c", pa.record_batch({"x": [1]}))])
    >>> unpack(pack(saved)).batches[0][1].to_pydict()
    {'x': [1]}
    """
    header = saved.header | {"batches": [name for name, _ in saved.batches]}
    arrays = {f"array:{name}": array for name, array in saved.arrays.items()}
    for i, (_, batch) in enumerate(saved.batches):
        target = pa.BufferOutputStream()
        with pa.ipc.new_stream(target, batch.schema) as writer:
            writer.write_batch(batch)
        arrays[f"batch:{i}"] = np.frombuffer(target.getvalue(), np.uint8)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    archive = io.BytesIO()
    np.savez(archive, **arrays)  # type: ignore[arg-type]
    contents = archive.getvalue()
    return MAGIC + b"%d\n" % FORMAT + zlib.crc32(contents).to_bytes(4, "big") + contents


def unpack(data: bytes) -> Saved:
    """Take apart what :func:`pack` made."""
    if not data.startswith(MAGIC):
        raise StateError("this is not the saved state of a join")
    number, _, rest = data[len(MAGIC) :].partition(b"\n")
    if number != b"%d" % FORMAT:
        raise StateError(
            f"the join was saved in format {number[:9].decode(errors='replace')}, this version of"
            f" recollect reads format {FORMAT}; load it with the version that saved it"
        )
    contents = rest[4:]
    if zlib.crc32(contents) != int.from_bytes(rest[:4], "big"):
        raise StateError("the saved state of the join is damaged or incomplete")
    with np.load(io.BytesIO(contents), allow_pickle=False) as archive:
        parts = {name: archive[name] for name in archive.files}
    header = json.loads(parts["header"].tobytes())
    batches = []
    for i, name in enumerate(header["batches"]):
        with pa.ipc.open_stream(pa.py_buffer(parts[f"batch:{i}"])) as reader:
            batches.append((name, reader.read_next_batch()))
    prefix = "array:"
    arrays = {n.removeprefix(prefix): a for n, a in parts.items() if n.startswith(prefix)}
    return Saved(header, arrays, batches)
