"""One writer or many readers: what keeps two processes from spoiling one index.

The lock belongs to the open file and goes with the process that held it, however that ended.
"""

import fcntl
from io import FileIO


def lock(file: FileIO, exclusive: bool) -> bool:
    """Lock a file, or change the kind of its lock; whether that was possible at once.

    If not, the file is not locked at all.
    """
    kind = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
