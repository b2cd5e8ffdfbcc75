"""A relation: rows that are fetched by key, many keys at once."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from recollect.errors import InputError
from recollect.streams.python_values import python_values


class Fetched(NamedTuple):
    """The rows that a relation has for some keys, in any order."""

    places: np.ndarray
    """For each row: which of the keys it belongs to."""
    rows: pa.RecordBatch
    """The rows, without their keys."""


class Relation(ABC):
    """A table in which every key has at most one row.

    Attributes
    ----------
    name
        What messages call it.
    schema
        The columns of a row, without the key columns.
    """

    name: str
    schema: pa.Schema

    @abstractmethod
    def fetch(self, keys: list[pa.Array]) -> Fetched:
        """Fetch the rows of some keys, with one query.

        Parameters
        ----------
        keys
            The key columns. No key is NULL, and none is there twice.
        """

    def close(self) -> None:  # noqa: B027 (memory needs no closing)
        """Let go of the database."""


def split_schema(name: str, schema: pa.Schema, keys: Sequence[str]) -> pa.Schema:
    """Check that a relation has some key columns; return its others.

    >>> split_schema("goods", pa.schema([("id", pa.int64()), ("price", pa.float64())]), ["no"])
    Traceback (most recent call last):
    recollect.errors.InputError: goods has no column 'no'; it has 'id', 'price'
    """
    for key in keys:
        if key not in schema.names:
            there = ", ".join(repr(column) for column in schema.names)
            raise InputError(f"{name} has no column {key!r}; it has {there}")
    return pa.schema([field.remove_metadata() for field in schema if field.name not in keys])


def require_unique(name: str, keys: list[pa.Array], places: np.ndarray) -> None:
    """Refuse more than one row for a key."""
    rows = np.bincount(places, minlength=1)
    if rows.max() > 1:
        first = int(np.argmax(rows > 1))
        key = ", ".join(repr(python_values(column[first : first + 1])[0]) for column in keys)
        raise InputError(
            f"{name} has {rows[first]} rows for the key {key}; a lookup needs a key of which every"
            " value is there once"
        )
