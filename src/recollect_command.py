"""The ``recollect`` command: settle how memory is allocated, then run :mod:`recollect.cli`.

Arrow's own allocator and, after a while, glibc's keep what is freed for later. That is faster, but
a process whose memory is measured looks twice as large as what it uses, and a budget in bytes is
for what can be measured. Arrow reads its setting when it is loaded, so this module stands outside
the package.
"""

import ctypes
import os
import sys

M_MMAP_THRESHOLD = -3
THRESHOLD = 128 * 1024


def main() -> None:
    """Give freed memory back to the system at once, and run the command line."""
    sys.path.append(os.getcwd())  # where a user's own policy may be
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # glibc: map large pieces one by one, always
        mallopt(M_MMAP_THRESHOLD, THRESHOLD)

    from recollect.cli import main as run

    run()
