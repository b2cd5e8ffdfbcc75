"""What the page on forecasts shows must run."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "forecast.md"


def test_examples_run():
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict = {}
    exec(block, names)
    assert names["best"].forecast.slope > 0.99
