"""What may stand behind a key of the configuration: each function takes a value or says why not."""

from typing import Any

from recollect.errors import InputError, WindowError
from recollect.join.budget import capacity_of, parse_budget
from recollect.join.query import key_columns, pair_of
from recollect.join.window import COUNT, TIME, Duration, Window, parse_duration, parse_window
from recollect.policies.registry import parse_policy
from recollect.toml.values import expected, text, texts
from recollect.toml.values import flag as flag
from recollect.toml.values import one_of as one_of
from recollect.toml.values import whole as whole


def options(value: Any) -> dict[str, str]:
    """Settings for Spark; ``a.b = 1`` is a table in TOML, and the name ``a.b`` in Spark.

    >>> options({"header": True, "kafka": {"bootstrap": {"servers": "h:9092"}}})
    {'header': 'true', 'kafka.bootstrap.servers': 'h:9092'}
    """
    if not isinstance(value, dict):
        raise expected("a table", value)
    flat: dict[str, str] = {}
    for name, inner in value.items():
        if isinstance(inner, dict):
            flat |= {f"{name}.{rest}": setting for rest, setting in options(inner).items()}
        elif isinstance(inner, bool | str | int | float):
            flat[name] = str(inner).lower() if isinstance(inner, bool) else str(inner)
        else:
            raise expected(f"a text, a number, true or false as {name}", inner)
    return flat


def spark_settings(value: Any) -> dict[str, str]:
    """Settings of the Spark session, which all begin with ``spark.``."""
    flat = options(value)
    for name in flat:
        if not name.startswith("spark."):
            raise InputError(f"{name!r} is not a setting of Spark: those begin with 'spark.'")
    return flat


def expressions(value: Any) -> dict[str, str]:
    """SQL expressions by the name of the column they make."""
    if not isinstance(value, dict):
        raise expected("a table of SQL expressions", value)
    for name, expression in value.items():
        if not isinstance(expression, str) or not expression.strip():
            raise expected(f"a SQL expression as {name}", expression)
    return dict(value)


def duration(value: Any) -> Duration:
    """A span of time above 0."""
    span = parse_duration(text(value))
    if span is None or span.nanoseconds < 1_000_000:
        raise InputError(f"{value!r} is not a duration such as '10 seconds' or '1h 30min'")
    return span


def trigger(value: Any) -> Duration | None:
    """When a micro-batch begins: every so often, or (None) at once until all is read."""
    return None if value == "available-now" else duration(value)


def keys(value: Any) -> str | list[str]:
    """The key columns of a join."""
    names = value if isinstance(value, str) else list(texts(value))
    key_columns(names)
    return names


def time(value: Any) -> str:
    """The time columns of a join."""
    if not all(pair_of(text(value))):
        raise InputError(f"{value!r}: a side of the = is missing")
    return str(value)


def window(value: Any) -> Any:
    """One window for both sides, or a pair of them."""
    if isinstance(value, list):
        if len(value) != 2:
            raise InputError(f"expected one window or two (left and right), not {len(value)}")
        value = tuple(value)
    for part in pair_of(value):
        if _window(part).kind == COUNT:
            raise WindowError(
                f"window {part!r} counts rows, whose order Spark does not keep; give a duration"
            )
    return value


def span(value: Any) -> Any:
    """A span of time: so many units of the time column, or a duration."""
    if _window(value).kind != TIME:
        raise WindowError(f"{value!r} is not a number of time units or a duration")
    return value


def _window(value: Any) -> Window:
    return parse_window(_number_or_text(value, "time units", "'10 minutes'"))


def _number_or_text(value: Any, of: str, example: str) -> int | str:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise expected(f"a number of {of} or a text such as {example}", value)
    return value


def budget(value: Any) -> Any:
    """How much a join may remember."""
    capacity_of(parse_budget(_number_or_text(value, "tuples", "'64MB'"), elsewhere=True), None)
    return value


def policy(value: Any) -> str:
    """Which tuple to forget."""
    parse_policy(text(value))
    return str(value)


def policies(value: Any) -> tuple[str, ...]:
    """Policies to be compared."""
    return tuple(policy(name) for name in texts(value))


def budgets(value: Any) -> tuple[int | str, ...]:
    """Budgets to be compared, in tuples or as shares of what the exact join holds."""
    asked = value if isinstance(value, list) else [value]
    if not asked:
        raise InputError("expected a list of budgets, not an empty one")
    for budget in asked:
        parsed = parse_budget(_number_or_text(budget, "tuples", "'10%'"), elsewhere=True)
        if parsed.bytes is not None:
            raise InputError(
                f"budget {budget!r} is in bytes; give a number of tuples or a share such as '10%'"
            )
    return tuple(asked)
