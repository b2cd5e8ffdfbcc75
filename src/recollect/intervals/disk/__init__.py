"""An index of intervals in one file: pages, a buffer pool that knows what comes next, a journal.

Everything in it is a 64-bit word, so it knows nothing of columns, types or aggregates. This module
is its front door: nothing outside imports a module of this package.
"""

from recollect.intervals.disk.index import POOL_PAGES, IntervalIndex
from recollect.intervals.disk.page import PAGE_BYTES
from recollect.intervals.disk.replacement import require_replacement

__all__ = ["PAGE_BYTES", "POOL_PAGES", "IntervalIndex", "require_replacement"]
