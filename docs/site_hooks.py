"""What mkdocs does to the pages: formulas become MathML, links out of ``docs/`` stay in the site.

Pages are written for the repository, where ``../examples/x.py`` and ``../CONTRIBUTING.md`` are
right. The site gets copies of these files, and the links lose their dots.
"""

import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
FORMULA = re.compile(r"^```math\n(.*?)^```$", re.DOTALL | re.MULTILINE)
OUTSIDE = re.compile(r"\]\((?:\.\./)+(CONTRIBUTING\.md|examples/)")
INSIDE = re.compile(r"\]\(docs/")


def on_files(files: Any, config: Any) -> Any:
    """Add the files outside of ``docs/`` that pages refer to."""
    for path in [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "examples").glob("*.*"))]:
        name = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Translate a page of the repository into a page of the site."""
    up = "../" * page.file.src_uri.count("/")
    markdown = OUTSIDE.sub(rf"]({up}\1", markdown)
    if page.file.src_uri == "CONTRIBUTING.md":
        markdown = INSIDE.sub("](", markdown)
    return FORMULA.sub(_formula, markdown)


def _formula(found: re.Match) -> str:
    lines = [line for line in found[1].splitlines() if line.strip()]
    maths = "".join(convert(line.removesuffix(r"\\"), display="block") for line in lines)
    return f'<div class="formula">{maths}</div>'
