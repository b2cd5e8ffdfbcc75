"""What a join remembers as bytes, and back.

The container is numpy's: a zip archive of arrays, each with a checksum, so that damage is noticed.
Record batches go into it in Arrow's own format, everything else as JSON.
"""

import io
import json
import zipfile
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from recollect.errors import StateError

VERSION = 1


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
    header = saved.header | {"version": VERSION, "batches": [name for name, _ in saved.batches]}
    arrays = {f"array:{name}": array for name, array in saved.arrays.items()}
    for i, (_, batch) in enumerate(saved.batches):
        target = pa.BufferOutputStream()
        with pa.ipc.new_stream(target, batch.schema) as writer:
            writer.write_batch(batch)
        arrays[f"batch:{i}"] = np.frombuffer(target.getvalue(), np.uint8)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    archive = io.BytesIO()
    np.savez(archive, **arrays)  # type: ignore[arg-type]
    return archive.getvalue()


def unpack(data: bytes) -> Saved:
    """Take apart what :func:`pack` made."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            parts = {name: archive[name] for name in archive.files}
        header = json.loads(parts["header"].tobytes())
    except (zipfile.BadZipFile, ValueError, TypeError, KeyError, OSError, EOFError) as error:
        raise StateError(
            f"this is not the saved state of a join, or it is damaged: {error}"
        ) from None
    if not isinstance(header, dict) or header.get("version") != VERSION:
        raise StateError(f"this is not a join saved in format {VERSION}, which this version reads")
    batches = []
    for i, name in enumerate(header.get("batches", [])):
        with pa.ipc.open_stream(pa.py_buffer(parts[f"batch:{i}"])) as reader:
            batches.append((name, reader.read_next_batch()))
    prefix = "array:"
    arrays = {n.removeprefix(prefix): a for n, a in parts.items() if n.startswith(prefix)}
    return Saved(header, arrays, batches)
