"""What Spark does with the operators before it runs them."""

import subprocess
import sys

from recollect.spark.operators import PICKLE, join_processor
from tests.spark.feeds import events, job

ASKED = """
import pickle, sys
class Handle:
    def getMapState(self, name, key, value):
        print(name, "of", key, "and", value)
pickle.load(sys.stdin.buffer).init(Handle())
print([name for name in sys.modules if "recollect" in name or "numba" in name])
"""


def test_what_state_there_is_can_be_asked_without_the_library():
    made = job(*([events(side, [], [])] for side in "lr"), "10s")
    pickled = PICKLE.dumps(join_processor(made, 1000, True))
    done = subprocess.run(
        [sys.executable, "-c", ASKED], input=pickled, capture_output=True, check=True
    )
    assert done.stdout.decode() == "shard of name string and value binary\n[]\n"
