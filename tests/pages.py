"""The pages of the documentation: their blocks, and running what they show.

A block is run in the order of its page, in a folder with small files of the names that pages use:

python  executed; blocks of a page see each other's names. One that begins with a comment that names
        a file, as in ``# laziest.py``, becomes this file instead.
sh      ``recollect …`` in this process; other commands cannot be run
toml    a pipeline or a workload is validated, anything else only parsed
json    parsed
text    is what the block before it must have printed; ``...`` stands for anything
math    translated, as the site does

A block that cannot be run here has a comment before it: ``<!-- not run: why -->``.
"""

import contextlib
import io
import json
import os
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest

from recollect.cli import main
from recollect.workload.config import parse_workload

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^\n]*) -->\n\n?)?^```(?P<language>[^\n]*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
FILE = re.compile(r"# (\w+\.\w+)\n")


class Block(NamedTuple):
    """A fenced block of a page."""

    page: str
    line: int
    language: str
    text: str
    reason: str | None
    """Why it is not run."""


def pages() -> list[str]:
    """Every page of the documentation."""
    found = ["README.md", "CONTRIBUTING.md"]
    return found + sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))


def blocks(page: str) -> list[Block]:
    """The blocks of a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        Block(
            page, text.count("\n", 0, found.start("text")), found["language"], found["text"],
            found["reason"],
        )
        for found in BLOCK.finditer(text)
    ]  # fmt: skip


def uses_spark(page: str) -> bool:
    """Whether a page has a block that needs a Spark session."""
    return any("recollect.spark" in b.text for b in blocks(page) if b.language == "python")


def run_page(page: str, names: dict[str, Any], stand_ins: dict[str, str]) -> Iterator[Block]:
    """Run the blocks of a page in the current folder, handing out each when it has run.

    Parameters
    ----------
    names
        What its Python knows beforehand.
    stand_ins
        Text of the page that must be read as another, for what is not on this machine.
    """
    printed = ""
    for block in blocks(page):
        if block.reason is not None:
            continue
        text = block.text
        for name, other in stand_ins.items():
            text = text.replace(name, other)
        if block.language == "text":
            assert_printed(text, printed)
        else:
            printed = RUN[block.language](block._replace(text=text), names)
        yield block


@contextlib.contextmanager
def in_folder(folder: Path) -> Iterator[None]:
    """Work in a folder, and find the modules there."""
    before, modules = os.getcwd(), set(sys.modules)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        os.chdir(before)
        for name in set(sys.modules) - modules:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
                del sys.modules[name]


def assert_printed(expected: str, printed: str) -> None:
    """Compare what a block printed with what the page shows."""
    lines = "".join(line.rstrip() + "\n" for line in printed.strip("\n").splitlines())
    assert OutputChecker().check_output(expected, lines, ELLIPSIS), f"{expected}\n---\n{lines}"


def run_python(block: Block, names: dict[str, Any]) -> str:
    if found := FILE.match(block.text):
        Path(found[1]).write_text(block.text, encoding="utf-8")
        return ""
    # Empty lines before it, so that an error names the line of the page.
    code = compile("\n" * block.line + block.text, block.page, "exec")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, names)
    return printed.getvalue()


def run_shell(block: Block, names: dict[str, Any]) -> str:
    printed = io.StringIO()
    for line in block.text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        assert words[0] == "recollect", f"{block.page}:{block.line}: cannot run {line!r}"
        with (
            patch.object(sys, "argv", words),
            contextlib.redirect_stdout(printed),
            pytest.raises(SystemExit) as ended,
        ):
            main()
        assert not ended.value.code, f"{block.page}:{block.line}: {line!r} failed"
    return printed.getvalue()


def run_toml(block: Block, names: dict[str, Any]) -> str:
    if found := FILE.match(block.text):
        Path(found[1]).write_text(block.text, encoding="utf-8")
    table = tomllib.loads(block.text)
    if "pipeline" in table:
        from recollect.spark.pipeline.config import parse_config

        parse_config(block.text, block.page)
    elif "joins" in table:
        parse_workload(block.text, Path(block.page).name)
    return ""


def run_json(block: Block, names: dict[str, Any]) -> str:
    json.loads(block.text)
    return ""


def run_math(block: Block, names: dict[str, Any]) -> str:
    from latex2mathml.converter import convert

    for line in block.text.splitlines():
        convert(line)
    return ""


def show(block: Block, names: dict[str, Any]) -> str:
    """A drawing in letters, not code."""
    return ""


RUN = {
    "python": run_python, "sh": run_shell, "toml": run_toml, "json": run_json, "math": run_math,
    "": show,
}  # fmt: skip
