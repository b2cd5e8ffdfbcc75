"""Spark's Python workers, made from a process that has imported everything already.

Spark makes its workers as copies of one process, but that process imports nothing, so each worker
imports PySpark, pandas, numba and this library for itself: about three seconds of processor time.
This module is such a process that imports them first, so that a worker starts at once and shares
their memory with the others. :func:`recollect.spark.session` uses it where all of Spark runs on
this machine; elsewhere it is the setting ``spark.python.daemon.module``.

>>> from recollect.spark.session import defaults
>>> defaults("local[2]")["spark.python.daemon.module"]
'recollect.spark.workers'
"""

import gc

import numpy as np
import pandas  # noqa: F401
from pyspark import daemon, worker  # noqa: F401

import recollect.spark  # noqa: F401
from recollect.join.buffer import refill

if __name__ == "__main__":
    # The first kernel that a process runs makes it import numba, which loads its own library.
    refill(np.zeros(1, np.int64), np.zeros(0, np.int64))
    gc.freeze()  # workers collect garbage after each task, and would look through all of this
    daemon.manager()
