"""Everything that can go wrong on the user's side, each error naming the value and the way out.

The command line prints the message as one line and exits with code 2; a program catches
:class:`RecollectError` for all of them or one class for one kind of mistake.
"""


class RecollectError(ValueError):
    """Base of every error that the caller can mend."""


class InputError(RecollectError):
    """A file or table cannot be read, is empty, lacks a column or has one of a wrong type."""


class NullKeyError(InputError):
    """A join key is NULL or NaN where the caller asked for that to be an error."""


class TimeOrderError(InputError):
    """A tuple is older than one that came before it, and no lateness was allowed for."""


class WindowError(RecollectError):
    """A window is malformed, negative or does not fit the type of the time column."""


class BudgetError(RecollectError):
    """A budget is malformed, zero, larger than the machine's memory or too small to work in."""


class PolicyError(RecollectError):
    """A policy is unknown, or one of its parameters is unknown or out of range."""


class FilterError(RecollectError):
    """A ``where`` expression is malformed or does not fit the columns it names."""


class StateError(RecollectError):
    """Saved state is damaged or belongs to another query."""


class MissingExtraError(RecollectError):
    """An optional dependency is needed for what was asked and is not installed."""
