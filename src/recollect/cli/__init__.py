"""The command line: one file per command, imported when the command is used."""

import ast
import os
import sys
from importlib import import_module
from importlib.util import find_spec
from io import TextIOWrapper

import typer

from recollect.errors import MissingExtraError, RecollectError
from recollect.plugins import PAPERS, added
from recollect.toml.tables import ConfigError

# typer uses click, or a copy of its own; this is the right class in both cases.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]

COMMANDS = (
    "join", "compare", "run", "profile", "count", "lookup", "aggregate", "pipeline", "demo",
)  # fmt: skip


def new_app(wanted: str) -> typer.Typer:
    """Make the command line; of commands that are not wanted only the help is known."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.callback()(recollect)  # with one command only, typer would take away its name
    for name in COMMANDS:
        if name == wanted:
            app.command(name)(getattr(import_module(f"recollect.cli.{name}"), name))
        elif wanted not in COMMANDS:
            app.command(name, help=_help_of(f"recollect.cli.{name}", name))(_unused)
    if wanted not in COMMANDS:
        others = added("commands")
        if wanted == "papers" and wanted not in others:
            raise MissingExtraError(f"the command papers comes with {PAPERS}")
        for name, function in others.items():
            if name == wanted:
                app.command(name)(function.load())
            else:
                app.command(name, help=_help_of(function.module, function.attr))(_unused)
    return app


def recollect() -> None:
    """Join streams inside a hard memory budget, forget by evidence, and say how much was lost."""


def _unused() -> None:
    """Stand for a command that is not wanted."""


def _help_of(module: str, name: str) -> str:
    """The docstring of a command, without importing what it needs."""
    spec = find_spec(module)
    source = spec.loader.get_source(spec.name) if spec and spec.loader else ""  # type: ignore[attr-defined]
    for node in ast.parse(source or "").body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return ast.get_docstring(node) or ""
    return ""


def main() -> None:
    """Run the command line; a mistake of the user is one line on stderr and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a character that it does not have is no mistake
            stream.reconfigure(errors="backslashreplace")
    try:
        words = sys.argv[1:] or ["--help"]
        sys.exit(new_app(words[0])(words, standalone_mode=False))
    except ConfigError as error:
        for mistake in error.mistakes:
            _complain(mistake)
        sys.exit(2)
    except RecollectError as error:
        _complain(str(error))
        sys.exit(2)
    except UsageError as error:
        _complain(error.format_message())  # type: ignore[attr-defined]
        sys.exit(2)
    except KeyboardInterrupt:
        _complain("interrupted")
        sys.exit(130)
    except BrokenPipeError:  # whoever reads our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except UnicodeEncodeError as error:
        _complain(f"{error.object!r} is not valid text")
        sys.exit(2)
    except OSError as error:
        _complain(str(error))
        sys.exit(2)


def _complain(message: str) -> None:
    print(f"recollect: {' '.join(message.split())}", file=sys.stderr)
