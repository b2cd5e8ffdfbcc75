"""A budget in bytes is for what can be measured from outside: the memory of the whole process."""

import subprocess
import time

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.command import COMMAND, ENVIRONMENT

BUDGET = 32 * 10**6
TUPLES = 300_000


def make(path, tuples: int, seed: int) -> None:
    """A stream with a payload of about 100 bytes per tuple that does not compress well."""
    random = np.random.default_rng(seed)
    letters = random.integers(97, 123, (tuples, 100), dtype=np.uint8)
    text = pa.Array.from_buffers(
        pa.string(), tuples, [None, pa.py_buffer(np.arange(0, 100 * tuples + 1, 100, np.int32)),
                              pa.py_buffer(letters.tobytes())],
    )  # fmt: skip
    # Also the small run has results: what is loaded only once they come is not the buffer's fault.
    keys = random.integers(0, tuples, tuples)
    pq.write_table(pa.table({"time": range(tuples), "key": keys, "text": text}), path)


def peak_memory(folder, name: str, out: str | None) -> tuple[int, str]:
    """The most memory that the command was seen to have, in bytes, and what it printed."""
    files = [f"{name}{side}.parquet" for side in (1, 2)]
    options = ["--on", "key", "--time", "time", "--window", "250000", "--budget", "32MB", "--json"]
    process = subprocess.Popen(
        [*COMMAND, "join", *files, *options, *(["--out", out] if out else [])],
        cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE,
    )  # fmt: skip
    watched = psutil.Process(process.pid)
    peak = 0
    while process.poll() is None:
        try:
            peak = max(peak, watched.memory_info().rss)
        except psutil.NoSuchProcess:
            break
        time.sleep(0.002)
    printed, _ = process.communicate()
    assert process.returncode == 0
    return peak, printed.decode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("memory")
    for seed in (1, 2):
        make(path / f"few{seed}.parquet", 2_000, seed)  # enough to be compiled
        make(path / f"many{seed}.parquet", TUPLES, seed)
    peak_memory(path, "few", "out.csv")  # in case something has to be compiled first
    return path


@pytest.mark.compiled
@pytest.mark.parametrize("out", ["out.parquet", "out.csv", None])
def test_the_process_grows_by_its_budget_and_no_more(folder, out):
    small, _ = peak_memory(folder, "few", out)
    large, printed = peak_memory(folder, "many", out)
    assert '"evicted": 0,' not in printed
    assert large - small < 1.5 * BUDGET
    # The budget is also made use of.
    assert large - small > 0.3 * BUDGET
