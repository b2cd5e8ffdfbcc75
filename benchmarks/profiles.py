"""The profile of a long stream, and how stack distances scale.

    python benchmarks/profiles.py [profile] [stack]

profile: 10,000,000 tuples read from Parquet, half of them repeats of one of the last 50, the others
Zipf 0.5 over 1,100,000 keys; h = 50. In a process of its own, whose resident memory is watched.

stack: the stack distances of independent tuples, Zipf 0.8, at n and at 4n tuples, over 1,000,000
keys and over as many keys as there are tuples. Best of several runs, the two sizes in turns.

Seconds are those of the processor, so that other work on the machine counts as little as possible.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from platform import python_version
from time import process_time

import numba
import numpy as np

from recollect.locality import KeyNumbers, StackDistance
from recollect.streams import LocalityStream, ZipfStream, open_sink
from tables import table

ROUNDS = 11
MEMORY_GOAL = 1500
SCALE_GOAL = 5.0
PROFILE = """
import json, resource, sys, time
from recollect.locality import profile
from recollect.streams import LocalityStream
profile(LocalityStream(1_000), "key", h=50)  # compiles
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.process_time()
found = profile(sys.argv[1], "key", time="time", h=50)
seconds = time.process_time() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps(found.to_dict() | {"seconds": seconds, "base": base, "peak": peak}))
"""


def whole_profile() -> None:
    stream = LocalityStream(10_000_000, keys=1_100_000, exponent=0.5, repeat=0.5, depth=50, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "stream.parquet")
        with open_sink(file, stream.schema) as sink:
            for batch in stream.batches():
                sink.write(batch)
        done = subprocess.run(
            [sys.executable, "-c", PROFILE, str(file)], check=True, capture_output=True, text=True
        )
    found = json.loads(done.stdout)
    # Linux counts in KiB.
    peak, base = (found[name] * 1024 / 1e6 for name in ("peak", "base"))
    met = "met" if peak < MEMORY_GOAL else "MISSED"
    print("\nProfile, h = 50, stream and permutation")
    print(
        table(
            [
                ["tuples", "distinct", "b", "seconds", "M tuples/s", "peak MB", "goal", "at start"],
                [
                    f"{found['tuples']:,}", f"{found['distinct']:,}", f"{found['b']:.3f}",
                    f"{found['seconds']:.1f}", f"{found['tuples'] / found['seconds'] / 1e6:.2f}",
                    f"{peak:.0f}", f"< {MEMORY_GOAL} {met}", f"{base:.0f}",
                ],
            ]
        )
    )  # fmt: skip


def numbers_of(tuples: int, keys_of_stream: int) -> np.ndarray:
    stream = ZipfStream(tuples, keys=keys_of_stream, exponent=0.8, seed=1)
    keys = KeyNumbers()
    return np.concatenate([keys.add(batch["key"].to_numpy()) for batch in stream.batches()])


def stack_seconds(numbers: np.ndarray) -> float:
    stack = StackDistance()
    started = process_time()
    stack.add(numbers)
    return process_time() - started


def stack() -> None:
    stack_seconds(numbers_of(1_000, 10))  # compiles
    lines = [["n", "distinct", "at 4n", "seconds", "at 4n", "ratio", "goal"]]
    for tuples, grows in ((1_000_000, 0), (2_500_000, 0), (1_000_000, 1), (2_500_000, 1)):
        small, large = (
            numbers_of(size, size if grows else 1_000_000) for size in (tuples, 4 * tuples)
        )
        runs = [(stack_seconds(small), stack_seconds(large)) for _ in range(ROUNDS)]
        one, four = (min(times) for times in zip(*runs, strict=True))
        met = "met" if four <= SCALE_GOAL * one else "MISSED"
        lines.append(
            [f"{tuples:,}", f"{small.max() + 1:,}", f"{large.max() + 1:,}", f"{one:.3f}",
             f"{four:.3f}", f"{four / one:.2f}", f"≤ {SCALE_GOAL:g} {met}"]
        )  # fmt: skip
    print("\nStack distances, Zipf 0.8 over 1,000,000 keys, then over as many keys as tuples")
    print(table(lines))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    actions = {"profile": whole_profile, "stack": stack}
    parser.add_argument("parts", nargs="*", default=[*actions])
    arguments = parser.parse_args()
    print(
        f"{date.today()}, {os.cpu_count()} cores, Python {python_version()},"
        f" numba {numba.__version__}, numpy {np.__version__}"
    )
    for part in arguments.parts:
        actions[part]()


if __name__ == "__main__":
    main()
