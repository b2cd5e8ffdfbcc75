"""The command line: one file per command."""

import os
import sys
from io import TextIOWrapper

import typer

from recollect.cli.aggregate import aggregate
from recollect.cli.compare import compare
from recollect.cli.count import count
from recollect.cli.demo import demo
from recollect.cli.join import join
from recollect.cli.lookup import lookup
from recollect.cli.pipeline import pipeline
from recollect.cli.profile import profile
from recollect.cli.run import run
from recollect.errors import MissingExtraError, RecollectError
from recollect.plugins import PAPERS, added

# typer uses click, or a copy of its own; this is the right class in both cases.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Join streams inside a hard memory budget, forget by evidence, and say how much was lost.",
)
for command in (
    join, compare, run, profile, count, lookup, aggregate, pipeline, demo,
):  # fmt: skip
    app.command(command.__name__)(command)


def main() -> None:
    """Run the command line; a mistake of the user is one line on stderr and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a character that it does not have is no mistake
            stream.reconfigure(errors="backslashreplace")
    try:
        words = sys.argv[1:] or ["--help"]
        _add_commands(words[0])
        sys.exit(app(words, standalone_mode=False))
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


def _add_commands(wanted: str) -> None:
    """Add the commands of other packages, unless one of ours is wanted: finding them takes time."""
    ours = {command.name for command in app.registered_commands}
    if wanted in ours:
        return
    others = added("commands")
    if wanted == "papers" and wanted not in others:
        raise MissingExtraError(f"the command papers comes with {PAPERS}")
    for name, function in others.items():
        if name not in ours:
            app.command(name)(function.load())


def _complain(message: str) -> None:
    print(f"recollect: {' '.join(message.split())}", file=sys.stderr)
