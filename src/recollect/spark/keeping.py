"""How a shard is kept between micro-batches: safely in the state store, and at hand in memory.

The state store holds three things. *Rows*: the segments of the payload, each written once.
A *snapshot* of the engine's arrays, and a *log* of the keys and times that arrived since. The
engine is deterministic, so the snapshot and the log give the same buffer, the same policy state and
the same victims to come. What is written per micro-batch thus depends on what arrived, not on what
is remembered: a new snapshot replaces the log when the log has become as large as the last one.

Beside that the arrays themselves and the rows are left in shared memory. Usually the next
micro-batch finds them there and reads nothing but a small header.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from recollect.errors import StateError
from recollect.join.buffer import STREAMS
from recollect.join.encoding import feed_of
from recollect.join.kernel import BEFORE_ALL
from recollect.join.query import SIDES
from recollect.spark.shard import CHANGED, Job, Shard, Taken
from recollect.spark.shared_memory import Layout, SharedMemory

HEADER = "header"
SERIAL = "recollect.serial"
PAGE = 8 * 2**20
"""State is written in pieces of at most so many bytes."""
SMALLEST_SNAPSHOT = 2**18
"""A log shorter than this is not replaced by a snapshot."""
CODEC = "zstd"
PREFIX = 8
WORD = 8


class Vault(Protocol):
    """Named bytes that are committed together with a micro-batch, or not at all."""

    def get(self, name: str) -> bytes | None:
        """Return the bytes of a name, if there are any."""

    def put(self, name: str, value: bytes) -> None:
        """Keep bytes under a name."""

    def delete(self, name: str) -> None:
        """Forget a name."""


@dataclass
class Header:
    """What a shard's state consists of."""

    identity: dict[str, Any]
    """The join that it belongs to."""
    batch: int = -1
    """The last micro-batch."""
    watermark: int = BEFORE_ALL
    """The watermark then, in units of the time columns."""
    newest: list[int] = field(default_factory=lambda: [BEFORE_ALL] * STREAMS)
    segments: list[dict[str, int]] = field(default_factory=lambda: [{} for _ in range(STREAMS)])
    """By stream: the segments of rows and their sizes."""
    snapshot_pages: int = 0
    snapshot_bytes: int = 0
    snapshot_layout: Layout = field(default_factory=dict)
    log: int = 0
    """The number of entries in the log."""
    log_bytes: int = 0
    token: str = ""
    """Names the shared memory that belongs to this state."""
    layout: Layout = field(default_factory=dict)
    """Of the arrays there."""
    buffered: int = 0
    buffered_bytes: int = 0


def identity_of(job: Job) -> dict[str, Any]:
    """What must not change while a join's state lives."""
    query = job.bound.query
    return {
        "policy": job.policy.spec,
        "budget": str(job.budget),
        "shards": job.shards,
        "window": query.window_text,
        "lateness": job.lateness,
        "seed": job.seed,
        **{
            f"{name} columns": [
                f"{job.called(side, column.name)} {column.type}" for column in schema
            ]
            for side, (name, schema) in enumerate(zip(SIDES, job.bound.schemas, strict=True))
        },
        "keys": [[job.called(side, key) for key in keys] for side, keys in enumerate(query.on)],
        "times": [job.called(side, time) for side, time in enumerate(query.time)],
    }


def read_header(vault: Vault, job: Job) -> Header:
    """The header of a shard's state; refuse that of another join."""
    text = vault.get(HEADER)
    identity = identity_of(job)
    if text is None:
        return Header(identity)
    header = Header(**json.loads(text))
    for name, value in identity.items():
        before = header.identity.get(name)
        if before != value:
            raise StateError(
                f"the checkpoint belongs to a join with {name} {_shown(before)}, this one has"
                f" {name} {_shown(value)}; go on with the same, or start with a new checkpoint"
            )
    return header


def write_header(vault: Vault, header: Header) -> int:
    """Save a header; return its bytes."""
    text = json.dumps(asdict(header)).encode()
    vault.put(HEADER, text)
    return len(text)


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


class Keeper:
    """Opens a shard for a micro-batch and saves it afterwards.

    Parameters
    ----------
    job, number
        The join and which of its shards this is.
    vault
        The shard's part of the state store.
    header
        What :func:`read_header` gave.
    query
        The streaming query, under whose name memory is shared.
    """

    def __init__(self, job: Job, number: int, vault: Vault, header: Header, query: str) -> None:
        self._vault = vault
        self._header = header
        self._query = query
        self._number = number
        self.written = 0
        """Bytes written to the state store."""
        self.shard = Shard(job, number)
        self.shard.newest = list(header.newest)
        self._memory: SharedMemory | None = None
        self._mapped: dict[str, np.ndarray] = {}
        self.rebuilt = bool(header.log or header.snapshot_pages) and not self._at_hand()
        """Whether the shard came from the state store."""
        if self._memory is None:
            self._memory = SharedMemory.fresh(query, number)
        if self.rebuilt:
            self._rebuild()

    # -- opening -----------------------------------------------------------------------------

    def _at_hand(self) -> bool:
        """Open the shard from shared memory, if that is there and current."""
        header = self._header
        if not header.token:
            return False
        memory = SharedMemory.claim(self._query, self._number, header.token)
        if memory is None:
            return False
        arrays = memory.arrays(header.layout, self.shard.engine.arrays())
        segments = {
            (stream, int(number)): memory.read(_segment(stream, number), size)
            for stream, sizes in enumerate(header.segments)
            for number, size in sizes.items()
        }
        if arrays is None or any(data is None for data in segments.values()):
            memory.give_back()
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
            like = self.shard.engine.arrays()
            if like.keys() != header.snapshot_layout.keys():
                raise StateError(CHANGED.format(self.shard.job.policy.spec))
            arrays = _unpacked(b"".join(pages), header.snapshot_layout, like)
            self.shard.engine.restore_snapshot(arrays)
        for entry in range(header.log):
            self.shard.take_again(_read_log(self._get(f"log/{entry}")))
        segments = {
            (stream, int(number)): _decompress(self._get(_segment(stream, number)))
            for stream, sizes in enumerate(header.segments)
            for number in sizes
        }
        for (stream, number), data in segments.items():
            self._leave(_segment(stream, number), data)
        self._restore_rows(segments)
        self.shard.find_rows()

    def _restore_rows(self, segments: Mapping[tuple[int, int], pa.Buffer | None]) -> None:
        for stream in range(STREAMS):
            batches = {}
            for (owner, number), data in segments.items():
                if owner != stream:
                    continue
                with pa.ipc.open_stream(data) as reader:
                    batch = reader.read_next_batch()
                self.shard.serials[stream][number] = batch.column(SERIAL).to_numpy()
                batches[number] = batch.drop_columns([SERIAL])
            self.shard.stores[stream].restore(batches, [])

    def _get(self, name: str) -> bytes:
        value = self._vault.get(name)
        if value is None:
            raise StateError(f"the state of shard {self._number} lacks its part {name!r}")
        return value

    # -- saving ------------------------------------------------------------------------------

    def save(self, taken: Taken, batch: int, watermark: int) -> Header:
        """Save what has changed through a micro-batch, and leave everything at hand."""
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
        for stream, store in enumerate(self.shard.stores):
            before = self._header.segments[stream]
            after = {}
            for number, batch in store.segments():
                name = _segment(stream, number)
                if str(number) not in before:
                    data = _with_serials(batch, self.shard.serials[stream][number])
                    before[str(number)] = data.size
                    self._put(name, _compress(data))
                    self._leave(name, data)
                after[str(number)] = before.pop(str(number))
            for gone in before:
                self._vault.delete(_segment(stream, gone))
                if self._memory is not None:
                    self._memory.drop(_segment(stream, gone))
            self._header.segments[stream] = after

    def _save_log(self, taken: Taken) -> None:
        self._header.log_bytes += self._put(f"log/{self._header.log}", _log(taken))
        self._header.log += 1

    def _save_snapshot(self) -> None:
        header = self._header
        arrays = self.shard.engine.snapshot()
        packed = _packed(arrays)
        pages = [packed[start : start + PAGE] for start in range(0, len(packed), PAGE)]
        for page, data in enumerate(pages):
            self._put(f"snapshot/{page}", data)
        for gone in range(len(pages), header.snapshot_pages):
            self._vault.delete(f"snapshot/{gone}")
        for entry in range(header.log):
            self._vault.delete(f"log/{entry}")
        header.snapshot_layout = {name: list(array.shape) for name, array in arrays.items()}
        header.snapshot_pages, header.snapshot_bytes = len(pages), len(packed)
        header.log = header.log_bytes = 0

    def _leave_arrays(self) -> None:
        """Leave the arrays in shared memory; mostly they are there already."""
        arrays = self.shard.engine.arrays()
        moved = any(array is not self._mapped.get(name) for name, array in arrays.items())
        if self._memory is not None and moved:
            try:
                self._header.layout = self._memory.write_arrays(arrays)
            except OSError:
                self._do_without_memory()
        if self._memory is not None:
            self._memory.give_back_others()

    def _leave(self, name: str, data: pa.Buffer) -> None:
        if self._memory is not None:
            try:
                self._memory.write(name, data)
            except OSError:
                self._do_without_memory()

    def _do_without_memory(self) -> None:
        """There is no room: the next micro-batch will read the state store."""
        assert self._memory is not None
        self._memory.give_back()
        self._memory = None


def _segment(stream: int, number: Any) -> str:
    return f"rows-{stream}-{number}"


def _with_serials(batch: pa.RecordBatch, serials: np.ndarray) -> pa.Buffer:
    batch = batch.append_column(SERIAL, pa.array(serials))
    target = pa.BufferOutputStream()
    with pa.ipc.new_stream(target, batch.schema) as writer:
        writer.write_batch(batch)
    return target.getvalue()


def _compress(data: Any) -> bytes:
    """Compressed bytes behind their length.

    Most of it are words of eight bytes: keys, times and numbers that differ in their lower bytes
    only. So all first bytes are put together, all second ones, and so on, which halves the result.
    """
    return _squeezed(_turned(np.frombuffer(data, np.uint8), WORD))


def _decompress(data: bytes) -> pa.Buffer:
    return pa.py_buffer(_turned_back(_unsqueezed(data), WORD))


def _packed(arrays: dict[str, np.ndarray]) -> bytes:
    """The same for arrays, whose words are as long as their items."""
    return _squeezed(
        np.concatenate(
            [
                _turned(np.ascontiguousarray(array).reshape(-1).view(np.uint8), array.itemsize)
                for array in arrays.values()
            ]
        )
    )


def _unpacked(data: bytes, layout: Layout, like: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    turned = _unsqueezed(data)
    arrays = {}
    start = 0
    for name, shape in layout.items():
        dtype = like[name].dtype
        end = start + dtype.itemsize * math.prod(shape)
        flat = _turned_back(turned[start:end], dtype.itemsize)
        arrays[name] = flat.view(dtype).reshape(shape)
        start = end
    return arrays


def _turned(flat: np.ndarray, width: int) -> np.ndarray:
    words = flat[: len(flat) // width * width].reshape(-1, width).T
    return np.concatenate([words.reshape(-1), flat[words.size :]])


def _turned_back(turned: np.ndarray, width: int) -> np.ndarray:
    whole = len(turned) // width * width
    words = turned[:whole].reshape(width, -1).T
    return np.concatenate([words.reshape(-1), turned[whole:]])


def _squeezed(flat: np.ndarray) -> bytes:
    return len(flat).to_bytes(PREFIX, "little") + pa.compress(flat, codec=CODEC, asbytes=True)


def _unsqueezed(data: bytes) -> np.ndarray:
    size = int.from_bytes(data[:PREFIX], "little")
    return np.frombuffer(pa.decompress(memoryview(data)[PREFIX:], size, codec=CODEC), np.uint8)


def _log(taken: Taken) -> bytes:
    """An entry of the log: horizon, numbers of tuples, then keys, times and sizes of each stream.

    Times stand as differences, which compress well.
    """
    parts = [np.array(taken.horizon, np.int64)]
    parts += [np.array([len(feed.time), len(feed.size)], np.int64) for feed in taken.feeds]
    for feed in taken.feeds:
        parts += [feed.key, np.diff(feed.time, prepend=np.int64(0)), feed.size]
    return _compress(np.concatenate(parts).tobytes())


def _read_log(entry: bytes) -> Taken:
    words = np.frombuffer(_decompress(entry), np.int64)
    certain, probable, *lengths = words[:6].tolist()
    rest = iter(_cut(words[6:], lengths))
    left, right = (
        feed_of(key, np.cumsum(time), size)
        for key, time, size in zip(rest, rest, rest, strict=True)
    )
    return Taken((left, right), (certain, probable))


def _cut(words: np.ndarray, lengths: list[int]) -> Iterator[np.ndarray]:
    start = 0
    for tuples, sizes in zip(lengths[::2], lengths[1::2], strict=True):
        for length in (tuples, tuples, sizes):
            yield words[start : start + length]
            start += length
