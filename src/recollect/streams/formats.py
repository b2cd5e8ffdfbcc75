"""Which ending of a file name stands for which format, for reading and for writing."""

from enum import Enum
from os import PathLike, fspath

from recollect.errors import InputError


class Format(Enum):
    """A file format; its value is how messages call it."""

    PARQUET = "Parquet"
    CSV = "CSV"
    CSV_GZIP = "gzipped CSV"
    TSV = "TSV"
    IPC = "Arrow IPC"
    JSON_LINES = "JSON lines"


ENDINGS = {
    ".parquet": Format.PARQUET,
    ".pq": Format.PARQUET,
    ".csv": Format.CSV,
    ".csv.gz": Format.CSV_GZIP,
    ".tsv": Format.TSV,
    ".arrow": Format.IPC,
    ".feather": Format.IPC,
    ".ipc": Format.IPC,
    ".jsonl": Format.JSON_LINES,
    ".ndjson": Format.JSON_LINES,
    ".json": Format.JSON_LINES,
}


def format_of(path: str | PathLike[str]) -> Format:
    """Return the format that the ending of a file name stands for, in any case of letters.

    Examples
    --------
    >>> format_of("trades.CSV.gz")
    <Format.CSV_GZIP: 'gzipped CSV'>
    >>> format_of("trades.pq").value
    'Parquet'
    """
    name = fspath(path)
    for ending, format_ in ENDINGS.items():
        if name.lower().endswith(ending):
            return format_
    raise InputError(f"{name}: unknown ending; known are {', '.join(ENDINGS)}")
