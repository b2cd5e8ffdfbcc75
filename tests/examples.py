"""Runs what somebody would start from: the scripts and notebooks of the folder examples."""

import json
import runpy
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples"


def run_script(name: str, folder: Path, patch: Any) -> None:
    """Run a script in a folder of its own."""
    patch.chdir(folder)
    patch.setattr("sys.argv", [name])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")


def run_notebook(name: str, folder: Path, patch: Any) -> dict[str, Any]:
    """Run the cells of a notebook as a kernel would, and return its variables."""
    patch.chdir(folder)
    patch.setenv("MPLBACKEND", "agg")
    variables: dict[str, Any] = {}
    for cell in json.loads((EXAMPLES / name).read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert cell["execution_count"], f"{name} was not run before it was committed"
            exec("".join(cell["source"]), variables)
    return variables
