"""How a shard is kept between micro-batches: in the state store, and for speed in shared memory.

The state store holds three things. *Rows*: the segments of the payload, each written once.
A *snapshot* of the engine's arrays, and a *log* of the keys and times that arrived since. The
engine is deterministic, so the snapshot and the log give the same buffer, the same policy state and
the same victims to come. What is written per micro-batch thus depends on what arrived, not on what
is remembered: a new snapshot replaces the log when the log has become as large as the last one.

Beside that the arrays themselves and the rows are left in shared memory. Usually the next
micro-batch finds them there and reads nothing but a small header.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from recollect.errors import StateError
from recollect.spark.keeping.header import Header, Vault, write_header
from recollect.spark.keeping.packed import (
    compress,
    decompress,
    layout_of,
    pack_arrays,
    pack_log,
    same_kinds,
    unpack_arrays,
    unpack_log,
)
from recollect.spark.keeping.shard import CHANGED, Job, Shard, Taken
from recollect.spark.keeping.shared_memory import ARRAYS, SharedMemory
from recollect.spark.packing import from_bytes, to_buffer

SERIAL = "recollect.serial"
PAGE = 8 * 2**20
"""State is written in pieces of at most so many bytes."""
SMALLEST_SNAPSHOT = 2**18
"""A log shorter than this is not replaced by a snapshot."""


class Keeper:
    """Opens a shard for a micro-batch and saves it afterwards.

    The vault is the shard's part of the state store; memory is shared under the query's name.
    """

    def __init__(self, job: Job, number: int, vault: Vault, header: Header, query: str) -> None:
        self._vault, self._header, self._number = vault, header, number
        self.written = 0
        """Bytes written to the state store."""
        self.shard = Shard(job, number)
        self.shard.newest = list(header.newest)
        self._memory: SharedMemory | None = None
        self._mapped: dict[str, np.ndarray] = {}
        self.rebuilt = bool(header.log or header.snapshot_pages) and not self._from_memory(query)
        """Whether the shard came from the state store."""
        if self._memory is None:
            self._memory = SharedMemory.fresh(query, number)
        if self.rebuilt:
            self._rebuild()

    # -- opening -----------------------------------------------------------------------------

    def _from_memory(self, query: str) -> bool:
        """Open the shard from shared memory, if that is there and current."""
        header = self._header
        if not header.token:
            return False
        if (memory := SharedMemory.claim(query, self._number, header.token)) is None:
            return False
        arrays = None
        if same_kinds(header.layout, self.shard.engine.arrays()):
            arrays = memory.arrays(header.layout)
        segments = {name: memory.read(name, size) for name, size in header.segments.items()}
        if arrays is None or any(data is None for data in segments.values()):
            memory.free()
            return False
        self._memory, self._mapped = memory, arrays
        self.shard.engine.restore(arrays)
        self._restore_rows(segments)
        return True

    def _rebuild(self) -> None:
        """Open the shard from the state store: the snapshot, then what arrived since."""
        header = self._header
        if header.snapshot_pages:
            pages = [self._get(f"snapshot/{page}") for page in range(header.snapshot_pages)]
            if not same_kinds(header.snapshot_layout, self.shard.engine.arrays()):
                raise StateError(CHANGED.format(self.shard.job.policy.spec))
            arrays = unpack_arrays(b"".join(pages), header.snapshot_layout)
            self.shard.engine.restore_snapshot(arrays)
        for entry in range(header.log):
            self.shard.take_again(unpack_log(self._get(f"log/{entry}"), self.shard.job.bound))
        segments = {name: decompress(self._get(name)) for name in header.segments}
        for name, data in segments.items():
            self._leave(name, data)
        self._restore_rows(segments)
        self.shard.find_rows()

    def _restore_rows(self, segments: Mapping[str, pa.Buffer | None]) -> None:
        batches: list[dict[int, pa.RecordBatch]] = [{} for _ in self.shard.stores]
        for name, data in segments.items():
            assert data is not None
            stream, number = map(int, name.split("-")[1:])
            batch = from_bytes(data)
            self.shard.serials[stream][number] = batch.column(SERIAL).to_numpy()
            batches[stream][number] = batch.drop_columns([SERIAL])
        for store, restored in zip(self.shard.stores, batches, strict=True):
            store.restore(restored, [])

    def _get(self, name: str) -> bytes:
        value = self._vault.get(name)
        if value is None:
            raise StateError(f"part {name!r} of the state of shard {self._number} is missing")
        return value

    # -- saving ------------------------------------------------------------------------------

    def save(self, taken: Taken, batch: int, watermark: int) -> Header:
        """Save what has changed through a micro-batch, and leave everything in shared memory."""
        header = self._header
        header.batch, header.watermark = batch, watermark
        header.newest = self.shard.newest
        self._save_rows()
        self._save_log(taken)
        if header.log_bytes > max(SMALLEST_SNAPSHOT, header.snapshot_bytes):
            self._save_snapshot()
        self._leave_arrays()
        header.token = self._memory.token if self._memory is not None else ""
        header.buffered = self.shard.buffered
        header.buffered_bytes = self.shard.buffered_bytes
        self.written += write_header(self._vault, header)
        return header

    def _put(self, name: str, value: bytes) -> int:
        self._vault.put(name, value)
        self.written += len(value)
        return len(value)

    def _save_rows(self) -> None:
        """Write the segments that are new, and delete those that are gone."""
        before, after = self._header.segments, {}
        for stream, store in enumerate(self.shard.stores):
            for number, batch in store.segments():
                name = f"rows-{stream}-{number}"
                if name not in before:
                    serials = pa.array(self.shard.serials[stream][number])
                    data = to_buffer(batch.append_column(SERIAL, serials))
                    before[name] = data.size
                    self._put(name, compress(data))
                    self._leave(name, data)
                after[name] = before.pop(name)
        for gone in before:
            self._vault.delete(gone)
            if self._memory is not None:
                self._memory.drop(gone)
        self._header.segments = after

    def _save_log(self, taken: Taken) -> None:
        self._header.log_bytes += self._put(f"log/{self._header.log}", pack_log(taken))
        self._header.log += 1

    def _save_snapshot(self) -> None:
        header = self._header
        arrays = self.shard.engine.snapshot()
        packed = pack_arrays(arrays)
        pages = [packed[start : start + PAGE] for start in range(0, len(packed), PAGE)]
        for page, data in enumerate(pages):
            self._put(f"snapshot/{page}", data)
        for gone in range(len(pages), header.snapshot_pages):
            self._vault.delete(f"snapshot/{gone}")
        for entry in range(header.log):
            self._vault.delete(f"log/{entry}")
        header.snapshot_layout = layout_of(arrays)
        header.snapshot_pages, header.snapshot_bytes = len(pages), len(packed)
        header.log = header.log_bytes = 0

    def _leave_arrays(self) -> None:
        """Leave the arrays in shared memory; mostly they are there already."""
        arrays = self.shard.engine.arrays()
        if any(array is not self._mapped.get(name) for name, array in arrays.items()):
            self._leave(ARRAYS, arrays)
        if self._memory is not None:
            self._memory.free_others()

    def _leave(self, name: str, data: Any) -> None:
        """Leave something in shared memory; without room, the next batch reads the state store."""
        if self._memory is not None:
            try:
                if name == ARRAYS:
                    self._header.layout = self._memory.write_arrays(data)
                else:
                    self._memory.write(name, data)
            except OSError:
                self._memory.free()
                self._memory = None
