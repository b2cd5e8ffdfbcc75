"""Faults in Python workers, and a program that joins while its cluster suffers them.

``Faulty`` is the policy clock, except that it runs in the workers and can do harm there: when the
file it is told exists, the next worker that writes state removes the file and comes to grief.
"""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from recollect.policies import Room
from recollect.policies.base import State
from recollect.policies.clock import Clock
from recollect.spark.keeping import keeper as keeping
from recollect.spark.keeping.shared_memory import root

WORDS = {"on": "k", "time": "lt=rt", "window": "10s", "lateness": "5 seconds", "budget": 60}
PUT = keeping.Keeper._put
"""How state is written where nothing is wrong."""


@dataclass(frozen=True)
class Faulty(Clock):
    """The policy clock, with a fault.

    Parameters
    ----------
    trap
        The file that causes the fault: ``kill`` or ``raise`` are its contents.
    """

    trap: str = ""

    def start(self, room: Room) -> State:
        """Arm the trap; a shard calls this before it does anything else."""
        keeping.Keeper._put = _trapped(Path(self.trap))  # type: ignore[method-assign]
        return super().start(room)


def _trapped(trap: Path) -> Callable[..., int]:
    def put(self: keeping.Keeper, name: str, value: bytes) -> int:
        size = PUT(self, name, value)
        # Rows come first, then the log: between them the state is half written.
        if name.startswith("rows") and trap.exists():
            how = trap.read_text()
            trap.unlink(missing_ok=True)
            if how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            raise RuntimeError("trapped")
        return size

    return put


def owners(query: str) -> list[Path]:
    """The folders in shared memory of the executors that have joined for a query."""
    return [folder.parent for folder in root().glob(f"*/{query}*")]


def main(folder: Path) -> None:
    """Join the streams in a folder on two executors, while one thing after the other breaks."""
    from recollect.spark.bounded_join import bounded_join
    from recollect.spark.session import session
    from tests.spark.conftest import FAST_START
    from tests.spark.feeds import start, stream

    spark = session(
        master="local-cluster[2,1,1024]",
        config={
            "spark.driver.extraJavaOptions": FAST_START,
            "spark.executor.extraJavaOptions": FAST_START,
            "spark.driver.memory": "1g",
            "spark.local.dir": folder / "local",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.streaming.metricsEnabled": False,
        },
    )
    trap = folder / "cluster.trap"
    both = [stream(spark, folder / side) for side in ("left", "right")]
    joined = bounded_join(*both, policy=Faulty(trap=str(trap)), shards=2, **WORDS)
    query = start(joined, folder / "cluster")
    for batch, harm in enumerate(("kill", "raise", "executor")):
        while query.isActive and (query.lastProgress or {"batchId": -1})["batchId"] < batch:
            time.sleep(0.01)
        if harm == "executor":
            process = int(owners(query.id)[0].name.partition("-")[0])
            os.kill(process, signal.SIGKILL)
        else:
            trap.write_text(harm)
            while query.isActive and trap.exists():
                time.sleep(0.01)
    query.awaitTermination()
    observed = [
        batch["observedMetrics"]["recollect.bounded_join"] for batch in query.recentProgress
    ]
    print("rebuilt", sum(numbers.rebuilt or 0 for numbers in observed))
    print("owners", *owners(query.id))
    spark.stop()
