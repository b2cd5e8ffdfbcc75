"""What mkdocstrings does to docstrings: roles, sections and examples become Markdown.

Sections are translated here, because there one text may stand for several parameters.
"""

import re
from typing import Any

from griffe import Extension

ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc):`(~?)([\w.]+)`")
SECTION = re.compile(r"^([A-Z]\w+)\n-{3,}$", re.MULTILINE)
EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\n).*)*", re.MULTILINE)
LITERAL = re.compile(r"::\n(\n(?:    .*\n|\n)+)")
NAMED = ("Parameters", "Returns", "Attributes", "Raises")


def to_markdown(text: str) -> str:
    """Translate a docstring.

    >>> to_markdown("As :func:`recollect.join`, see :class:`~recollect.Join`.")
    'As `recollect.join`, see `Join`.'
    >>> print(to_markdown("Parameters\\n----------\\nleft, right\\n    Paths."))
    **Parameters**
    <BLANKLINE>
    `left, right`
    <BLANKLINE>
    :   Paths.
    """
    text = ROLE.sub(lambda role: f"`{role[2].rpartition('.')[2] if role[1] else role[2]}`", text)
    text = LITERAL.sub(r":\n\1", text + "\n").replace("\n:\n", "\n").rstrip()
    text = EXAMPLE.sub(r"```python\n\g<0>\n```", text)
    first, *sections = SECTION.split(text)
    titles, bodies = sections[::2], sections[1::2]
    return first + "\n".join(map(_section, titles, bodies)).rstrip("\n")


def _section(title: str, body: str) -> str:
    return f"**{title}**\n\n{_named(body) if title in NAMED else body}\n"


def _named(body: str) -> str:
    """Names, each with an indented text, as a list of definitions."""
    parts = re.split(r"^(\S.*)$", body.strip("\n"), flags=re.MULTILINE)[1:]
    named = zip(parts[::2], parts[1::2], strict=True)
    return "\n\n".join(f"`{name}`\n\n:   {text.strip()}" for name, text in named)


class Docstrings(Extension):
    """Translate every docstring as it is read."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """See griffe."""
        if obj.docstring:
            obj.docstring.value = to_markdown(obj.docstring.value)
