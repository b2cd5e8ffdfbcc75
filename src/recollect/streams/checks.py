"""Checks of parameters; each complaint names the value given and what is allowed instead."""

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recollect.errors import InputError


def require_whole(name: str, value: object, least: int, most: int | None = None) -> None:
    """Raise unless ``value`` is a whole number from ``least`` to ``most``.

    NumPy's integers count as whole numbers, ``True`` does not. Both bounds are allowed; the name is
    for the message.

    Examples
    --------
    >>> require_whole("keys", 10, least=1)
    >>> require_whole("keys", 0, least=1)
    Traceback (most recent call last):
    recollect.errors.InputError: keys must be a whole number of at least 1, not 0
    """
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or int(value) < least or (most is not None and int(value) > most):  # type: ignore[call-overload]
        allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise InputError(f"{name} must be a whole number {allowed}, not {value!r}")


def require_real(name: str, value: object, least: float, most: float = math.inf) -> None:
    """Raise unless ``value`` is a finite number from ``least`` to ``most``.

    Examples
    --------
    >>> require_real("repeat", 0.5, least=0, most=1)
    >>> require_real("repeat", 1.5, least=0, most=1)
    Traceback (most recent call last):
    recollect.errors.InputError: repeat must be a number from 0 to 1, not 1.5
    """
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not least <= value <= most:  # type: ignore[arg-type, operator]
        allowed = f"of at least {least}" if math.isinf(most) else f"from {least} to {most}"
        raise InputError(f"{name} must be a number {allowed}, not {value!r}")


def whole_numbers(values: ArrayLike, name: str = "values", least: int = 0) -> NDArray[np.int64]:
    """Make a flat array of whole numbers, at least so many of them.

    >>> whole_numbers([1, 2.5])
    Traceback (most recent call last):
    recollect.errors.InputError: values must be whole numbers, but 2.5 is among them
    """
    array = np.asarray(values)
    if array.ndim != 1 or len(array) < least:
        raise InputError(
            f"{name} must be a flat array of at least {least} whole numbers, not one of shape"
            f" {array.shape}"
        )
    if array.dtype.kind in "iu" or len(array) == 0:
        return array.astype(np.int64)
    if array.dtype.kind != "f":
        raise InputError(f"{name} must be whole numbers, not of type {array.dtype}")
    broken = (array != np.floor(array)) | ~np.isfinite(array)
    if broken.any():
        raise InputError(f"{name} must be whole numbers, but {array[broken][0]} is among them")
    return array.astype(np.int64)


def frozen(array: ArrayLike, kind: Any = np.float64) -> NDArray[Any]:
    """Make an array that cannot be changed, as befits a frozen dataclass."""
    copy = np.array(array, kind)
    copy.flags.writeable = False
    return copy
