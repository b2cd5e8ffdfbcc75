"""Machine code is kept on disk, but never that of other code than there is now."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HELPER = """
from recollect.compiled import inlined

@inlined
def step(number):
    return number + {by}
"""
LOOP = """
from recollect.compiled import cached
from walking.helper import step

@cached
def twice(number):
    return step(step(number))
"""


def result(folder: Path) -> int:
    program = "from walking.loop import twice; print(twice(1))"
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, check=True, text=True
    )
    return int(done.stdout)


@pytest.mark.compiled
def test_an_edited_helper_is_compiled_again(tmp_path):
    package = tmp_path / "walking"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "loop.py").write_text(LOOP)
    (package / "helper.py").write_text(HELPER.format(by=1))
    assert result(tmp_path) == 3
    kept = sorted((tmp_path / "cache").rglob("*.nbc"))
    assert result(tmp_path) == 3
    assert sorted((tmp_path / "cache").rglob("*.nbc")) == kept
    (package / "helper.py").write_text(HELPER.format(by=5))
    assert result(tmp_path) == 11
