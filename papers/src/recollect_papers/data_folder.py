"""Real data sets that do not come with the package: what files hold, and where to get them."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from recollect.errors import InputError
from recollect.streams.arrow_errors import plain_errors

VARIABLE = "RECOLLECT_DATA"


@dataclass(frozen=True)
class DataFile:
    """A Parquet file that a workload needs.

    Parameters
    ----------
    name
        The file, without its ending.
    columns
        The columns that are read; times are time stamps, rows are in order of arrival.
    origin
        Where the data come from, and under which licence.
    """

    name: str
    columns: Sequence[str]
    origin: str

    def read(self, data: str | os.PathLike[str] | None = None) -> pa.Table:
        """Read the columns.

        Parameters
        ----------
        data
            The folder; if left out, the one named by the environment variable RECOLLECT_DATA.
        """
        folder = data if data is not None else os.environ.get(VARIABLE)
        if not folder:
            raise InputError(
                f"{self._needed()}: set {VARIABLE}, or give data=…, to the folder that has it;"
                f" {self._how_to_get()}"
            )
        path = Path(folder) / f"{self.name}.parquet"
        if not path.is_file():
            raise InputError(
                f"{self._needed()}, which is not in {folder} (from {VARIABLE} or data=…);"
                f" {self._how_to_get()}"
            )
        with plain_errors(str(path), "read as Parquet"):
            present = pq.read_schema(path).names
            for column in self.columns:
                if column not in present:
                    raise InputError(f"{path} has no column {column!r}; {self._how_to_get()}")
            table: pa.Table = pq.read_table(path, columns=list(self.columns))
        return table

    def _needed(self) -> str:
        return f"the workload needs the file {self.name}.parquet"

    def _how_to_get(self) -> str:
        return f"make it, with columns {', '.join(self.columns)}, from {self.origin}"
