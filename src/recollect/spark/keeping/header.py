"""The header of a shard's state: its format, whose state it is and what parts it has."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from recollect.errors import StateError
from recollect.join.kernel import BEFORE_ALL
from recollect.join.query import SIDES
from recollect.spark.keeping.packed import Layout
from recollect.spark.keeping.shard import STREAMS, Job

HEADER = "header"
FORMAT = 2
"""Counts up when anything in the state is written in another way. Format 1 had no number."""


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
    segments: dict[str, int] = field(default_factory=dict)
    """The segments of rows, ``rows-<stream>-<number>``, and their sizes."""
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
    """The header of a shard's state; refuse another format, and the state of another join."""
    text = vault.get(HEADER)
    identity = identity_of(job)
    if text is None:
        return Header(identity)
    stored = json.loads(text)
    if (found := stored.pop("format", 1)) != FORMAT:
        raise StateError(
            f"the checkpoint has state of format {found}, but this version of recollect reads"
            f" format {FORMAT}; go on with the version that wrote it, or start with a new"
            " checkpoint"
        )
    header = Header(**stored)
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
    text = json.dumps({"format": FORMAT, **asdict(header)}).encode()
    vault.put(HEADER, text)
    return len(text)


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
