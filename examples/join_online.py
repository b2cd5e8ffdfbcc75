"""Join two streams batch by batch, stop in the middle, and go on with the same memory.

    python examples/join_online.py

The batches would come from a queue; here they are generated.
"""

from pathlib import Path

import recollect as rc
from recollect.streams import LocalityStream


def main() -> None:
    """Feed batches; keep the state in a file."""
    join = rc.Join(on="key", time="time", window=2_000, budget=800, policy="clock")
    views, clicks = (LocalityStream(20_000, keys=5_000, seed=seed) for seed in (1, 2))
    found = 0
    for number, batches in enumerate(
        zip(views.batches(2_000), clicks.batches(2_000), strict=True), start=1
    ):
        for side, batch in zip(("left", "right"), batches, strict=True):
            found += sum(results.num_rows for results in join.feed(side, batch))
        if number == 5:  # as if the program ended here and was started again
            Path("join.state").write_bytes(join.save())
            join = rc.Join.load(Path("join.state").read_bytes())
            print(f"after {number} batches: {found:,} results, saved and loaded")
    found += sum(results.num_rows for results in join.finish())
    stats = join.stats
    print(
        f"{stats.results:,} results, {stats.evicted:,} tuples evicted, never more than"
        f" {stats.peak_tuples:,} in memory"
    )
    assert stats.results == found


if __name__ == "__main__":
    main()
