"""Work that is done stays done: the rows of every finished point, in a file that only grows."""

import hashlib
import inspect
import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from recollect_papers.experiment import Point, Rows


class Finished:
    """The finished points of a paper.

    A point is known by the function that measures it, what is in it, and the text of the module
    that the function is in; so a measurement that was changed is made again. A change elsewhere in
    the library goes unnoticed: take a new folder then.

    Parameters
    ----------
    path
        The file, one JSON object per line. A last line that was cut off counts as not done.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = Finished(Path(folder, "points.jsonl"))
    ...     done.add(Finished.key(len, {"budget": 10}), [{"recall": 0.5}])
    ...     Finished(Path(folder, "points.jsonl")).rows(Finished.key(len, {"budget": 10}))
    [{'recall': 0.5}]
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: dict[str, Rows] = {}
        if path.exists():
            text = path.read_bytes()
            whole = text[: text.rfind(b"\n") + 1]
            if len(whole) < len(text):  # a line that was cut off would spoil the next one
                path.write_bytes(whole)
            for line in whole.splitlines():
                entry = json.loads(line)
                self._rows[entry["key"]] = entry["rows"]

    @staticmethod
    def key(measure: Callable[..., Rows], point: Point) -> str:
        """Return what a point is known by."""
        name = f"{measure.__module__}.{measure.__qualname__}"
        text = json.dumps([name, _source(measure.__module__), point], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def rows(self, key: str) -> Rows | None:
        """Return the rows of a point, or None if it is not done."""
        return self._rows.get(key)

    def add(self, key: str, rows: Rows) -> None:
        """Keep the rows of a point."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"key": key, "rows": list(rows)}) + "\n"
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line)
        # What JSON makes of the rows, so that a run that goes on sees what one without a stop sees.
        self._rows[key] = json.loads(line)["rows"]


@cache
def _source(module: str) -> str:
    try:
        return hashlib.sha256(inspect.getsource(sys.modules[module]).encode()).hexdigest()
    except (OSError, TypeError):  # built in, or typed at a prompt
        return ""
