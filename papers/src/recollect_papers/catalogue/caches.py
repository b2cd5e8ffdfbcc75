"""Traces of caches: the caching problem of the stochastic paper at a scale it did not have."""

import numpy as np
import pyarrow as pa

from recollect_papers.catalogue.workload import Folder, Recipes, Workload
from recollect_papers.data_folder import DataFile

CACHES = Recipes("stochastic")
ORM = DataFile("cache2k_orm_busy", ("key",), "the traces in ben-manes/caffeine (CC BY 4.0)")
OLTP = DataFile("arc_oltp", ("key",), "the traces of the ARC paper in moka-rs/cache-trace")


def _references(file: DataFile, data: Folder) -> Workload:
    keys = file.read(data)["key"]
    numbered = pa.table({"time": np.arange(len(keys)), "key": keys})
    return Workload({"R": numbered}, {"on": "key"})


@CACHES.real("orm", "§3 (other data)")
def orm(data: Folder) -> Workload:
    """Five million accesses to database objects."""
    return _references(ORM, data)


@CACHES.real("oltp", "§3 (other data)")
def oltp(data: Folder) -> Workload:
    """References to the pages of a database under transactions."""
    return _references(OLTP, data)
