"""Records in a file, one JSON object per line."""

import json
import logging
import os
from pathlib import Path

from recollect.errors import InputError
from recollect.spark.live.numbers import Record

logger = logging.getLogger(__name__)


class JsonLines:
    """Appends each record to a file, which is complete after every batch.

    Parameters
    ----------
    path
        The file; it and its folder are made if they are not there, else it is continued.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lines = JsonLines(folder + "/run/live.jsonl")
    ...     lines({"query_id": "q", "join": "ads", "batch": 0, "results": 7})
    ...     [record["results"] for record in read_records(lines.path)]
    [7]
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.touch()
        except OSError as error:
            raise InputError(
                f"live numbers cannot be written to {self.path}: {error.strerror}"
            ) from error

    def __repr__(self) -> str:
        """Name the file."""
        return f"JsonLines({str(self.path)!r})"

    def __call__(self, record: Record) -> None:
        """Append a record."""
        line = json.dumps(record, allow_nan=False).encode() + b"\n"
        with open(self.path, "a+b") as file:
            if file.tell() > 0:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # a crash or a full disk cut the last line short
                    line = b"\n" + line
            file.write(line)


def read_records(path: str | os.PathLike[str]) -> list[Record]:
    """Read what :class:`JsonLines` wrote; of a batch that was run again only the last run."""
    try:
        lines = Path(path).read_bytes().splitlines()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    records = {}
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
        except ValueError:
            logger.warning("%s, line %d was cut short and is left out", path, number)
        else:
            records[record["query_id"], record["join"], record["batch"]] = record
    return list(records.values())
