"""A database that goes away: try again, each time after a longer wait, and give up in the end."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from recollect.errors import RecollectError

Answer = TypeVar("Answer")


class RelationLostError(RecollectError):
    """A relation could not be reached any more, however often it was tried.

    What was joined before stays joined.

    Parameters
    ----------
    name, reason
        Which relation, and what its driver says.
    rows_done
        How many rows of the stream had been joined before.
    kept_in
        Where these are, if they were written.
    """

    def __init__(
        self, name: str, reason: str, rows_done: int | None = None, kept_in: str | None = None
    ) -> None:
        self.name, self.reason, self.rows_done = name, reason, rows_done
        done = "" if rows_done is None else f"; {rows_done:,} rows of the stream had been joined"
        kept = "" if kept_in is None else f" and are in {kept_in}"
        super().__init__(f"{name} cannot be reached any more: {reason}{done}{kept}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Let the error pass between processes."""
        return type(self), (self.name, self.reason, self.rows_done)


@dataclass(frozen=True)
class Patience:
    """How often to try again, and how long to wait before.

    Parameters
    ----------
    retries
        How often. The waits double, so five take three seconds and ten take two minutes.
    first_wait
        Seconds before the first.

    Examples
    --------
    >>> calls = iter([OSError("no route"), OSError("no route"), None])
    >>> def ask():
    ...     error = next(calls)
    ...     if error:
    ...         raise error
    ...     return 42
    >>> Patience(retries=2, first_wait=0.001).until(ask, (OSError,), "db", lambda: None)
    42
    """

    retries: int = 5
    first_wait: float = 0.1

    def until(
        self,
        ask: Callable[[], Answer],
        outages: tuple[type[Exception], ...],
        name: str,
        give_up_connection: Callable[[], None],
    ) -> Answer:
        """Ask until there is an answer.

        Parameters
        ----------
        ask
            The question.
        outages
            The errors after which it is asked again.
        name
            What messages call whom is asked.
        give_up_connection
            Called after each error.
        """
        started = time.monotonic()
        wait = self.first_wait
        for attempt in range(self.retries + 1):
            try:
                return ask()
            except outages as error:
                give_up_connection()
                if attempt == self.retries:
                    tried = f"{attempt + 1} attempts in {time.monotonic() - started:.1f} s"
                    raise RelationLostError(name, f"{one_line(error)} ({tried})") from error
            time.sleep(wait)
            wait *= 2
        raise AssertionError("a loop that ends has returned or raised")


def one_line(error: Exception) -> str:
    """What a driver says, without the query and drawings below it."""
    return str(error).strip().partition("\n")[0].rstrip(".:") or type(error).__name__
