"""Numbers short enough for a table or an axis, with their unit."""

NBSP = "\u00a0"
NUMBERS = ("", "k", "M", "G", "T")
BYTES = ("B", "kB", "MB", "GB", "TB")


def amount(value: float) -> str:
    """Shorten a number.

    >>> [amount(value).replace(NBSP, " ") for value in (1_234_567, 45_678, 999_999, 312.2)]
    ['1.23 M', '45.7 k', '1.00 M', '312']
    """
    return _scaled(value, NUMBERS)


def size(value: float) -> str:
    """Shorten a number of bytes.

    >>> [size(value).replace(NBSP, " ") for value in (64_000_000, 45_678, 312, 0)]
    ['64.0 MB', '45.7 kB', '312 B', '0 B']
    """
    return _scaled(value, BYTES)


def round_size(value: float) -> str:
    """Write a number of bytes as a person would who chose it.

    >>> [round_size(value).replace(NBSP, " ") for value in (64_000_000, 1_500_000_000)]
    ['64 MB', '1.5 GB']
    """
    digits, unit = size(value).split(NBSP)
    return f"{float(digits):g}{NBSP}{unit}"


def _scaled(value: float, units: tuple[str, ...]) -> str:
    power = 0
    while value >= 999.5 and power < len(units) - 1:
        value, power = value / 1000, power + 1
    digits = f"{value:#.3g}".rstrip(".") if power else f"{value:.0f}"
    return (digits + NBSP + units[power]).rstrip(NBSP)
