"""The command line: one file per command."""

import sys

import typer

from recollect.cli.compare import compare
from recollect.cli.demo import demo
from recollect.cli.join import join
from recollect.errors import RecollectError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Join streams inside a hard memory budget, forget by evidence, and say how much was lost.",
)
app.command()(join)
app.command()(compare)
app.command()(demo)


def main() -> None:
    """Run the command line; a mistake of the user is one line on stderr and exit code 2."""
    try:
        app()
    except RecollectError as error:
        print(f"recollect: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("recollect: interrupted", file=sys.stderr)
        sys.exit(130)
