"""Shares as a user types them."""

from fractions import Fraction
from typing import Any


def parse_share(text: Any) -> Fraction | None:
    """Read ``"1/3"``, ``"25%"`` or 0.25; None if it is not a share.

    >>> parse_share("25%"), parse_share("10min")
    (Fraction(1, 4), None)
    """
    if isinstance(text, float):
        return Fraction(text)
    if isinstance(text, str) and ("/" in text or "%" in text or "." in text):
        try:
            return Fraction(text.rstrip("% ")) / (100 if "%" in text else 1)
        except (ValueError, ZeroDivisionError):
            return None
    return None
