"""When a page was written, and by what."""

import platform
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

FOOTER = "<footer>This page was written by recollect and loads nothing from elsewhere.</footer>"


def origin(*packages: str) -> dict[str, str]:
    """Facts for the end of a page: the time, and the versions of Python and some packages."""
    found = {
        "Written": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "Python": platform.python_version(),
    }
    for package in packages:
        # A source tree that is only on the path has no version to tell.
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found
