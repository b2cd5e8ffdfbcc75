"""Tables as the pages of the documentation have them."""

from collections.abc import Sequence


def table(lines: Sequence[Sequence[str]]) -> str:
    """Write lines of cells, the first of which is the head, as Markdown with even columns.

    >>> print(table([["policy", "hits"], ["lru", "7"]]))
    | policy | hits |
    |-------:|-----:|
    |    lru |    7 |
    """
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    rows = [
        "| " + " | ".join(c.rjust(w) for c, w in zip(line, widths, strict=True)) + " |"
        for line in lines
    ]
    rows.insert(1, "|" + "|".join("-" * (w + 1) + ":" for w in widths) + "|")
    return "\n".join(rows)
