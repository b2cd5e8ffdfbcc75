"""Sums that come out the same in whatever order values come and go, and are zero when all are gone.

A sum of floating point numbers depends on the order of its additions, and what is left after the
last subtraction is seldom zero. Here a value is cut into digits of 32 bits, and each digit is added
to a 64-bit integer of its own, its lane. Nothing is ever rounded, a value that leaves takes out
what it brought in, and the lanes depend only on which values are in. Only the answer is rounded,
once, so it is the float nearest to the true sum, as :func:`math.fsum` gives it. Whole numbers are
summed by the same lanes and read as 128-bit integers.

After Kulisch's long accumulator; a lane has room for the digits of 2^30 values.

>>> lanes = np.zeros(FLOAT_LANES, np.int64)
>>> for value in (1e100, 1.0, -1e100):
...     add_float(lanes, np.float64(value).view(np.int64), 1)
>>> float(rounded(lanes, 0, DIGITS, LOWEST, np.zeros(FLOAT_LANES, np.int64)))
1.0
"""

from math import ldexp

import numpy as np

from recollect.compiled import inlined

BITS = 32
MASK = 2**BITS - 1
INTEGER_LANES = 2
"""A low half without a sign, and a high half with one."""
LOWEST = -1074
"""The exponent of the least float: lane 0 counts multiples of 2^-1074."""
DIGITS = 66
"""Lanes that the largest float reaches into."""
NANS, INFINITIES, NEGATIVE_INFINITIES = DIGITS + 1, DIGITS + 2, DIGITS + 3
"""Lanes that count what has no digits. The lane before them is room for a carry."""
FLOAT_LANES = DIGITS + 4
LARGE = 900
"""A power of two that a float can have by far, also times 2^64."""
ENDLESS = 0x7FF
"""The exponent bits of infinities and NaN."""


@inlined
def add_integer(lanes, word, sign):
    """Put a whole number in (sign 1) or take it out (sign -1)."""
    lanes[0] += sign * (word & MASK)
    lanes[1] += sign * (word >> BITS)


@inlined
def add_float(lanes, bits, sign):
    """Put a float, given as its bits, in (sign 1) or take it out (sign -1)."""
    exponent = (bits >> 52) & ENDLESS
    fraction = bits & (2**52 - 1)
    if exponent == ENDLESS:
        if fraction:
            lanes[NANS] += sign
        elif bits > 0:
            lanes[INFINITIES] += sign
        else:
            lanes[NEGATIVE_INFINITIES] += sign
        return
    if exponent:
        fraction |= 2**52
        exponent -= 1  # subnormal numbers share the least exponent, so that it is given twice
    if bits < 0:
        sign = -sign
    lane, shift = exponent // BITS, exponent % BITS
    low, high = (fraction & MASK) << shift, (fraction >> BITS) << shift
    lanes[lane] += sign * (low & MASK)
    lanes[lane + 1] += sign * ((low >> BITS) + (high & MASK))
    lanes[lane + 2] += sign * (high >> BITS)


@inlined
def lane_of(bits):
    """The lowest lane that a float reaches into; it reaches into two more."""
    return max(((bits >> 52) & ENDLESS) - 1, 0) // BITS


@inlined
def rounded(lanes, low, high, exponent, digits):
    """The float nearest to the sum of the lanes from ``low`` to ``high``; all others are zero.

    Lane 0 counts multiples of two to the power ``exponent``. ``digits`` is room to work in.
    """
    carry = 0
    for lane in range(low, high + 1):
        carry += lanes[lane]
        digits[lane] = carry & MASK
        carry >>= BITS
    negative = carry < 0
    if negative:
        carry = ~carry
        more = 1
        for lane in range(low, high + 1):
            more += ~digits[lane] & MASK
            digits[lane] = more & MASK
            more >>= BITS
        carry += more
    digits[high + 1] = carry
    top = high + 1
    while top >= low and digits[top] == 0:
        top -= 1
    if top < low:
        return 0.0
    # The 64 leading bits, of which the last also tells whether anything follows: rounding these
    # to the 53 bits of a float is rounding all of them.
    leading = np.uint64(digits[top]) << np.uint64(BITS)
    if top > low:
        leading |= np.uint64(digits[top - 1])
    shift = 0
    while leading < np.uint64(2**63):
        leading <<= np.uint64(1)
        shift += 1
    lane = top - 2
    if lane >= low:
        next_bits = digits[lane] << shift
        leading |= np.uint64(next_bits >> BITS)
        rest = next_bits & MASK
        while rest == 0 and lane > low:
            lane -= 1
            rest = digits[lane]
        if rest:
            leading |= np.uint64(1)
    power = BITS * (top - 1) - shift + exponent
    # In two steps where the sum may be too large for a float and become infinite.
    total = ldexp(np.float64(leading), int(min(power, LARGE))) * 2.0 ** max(power - LARGE, 0)
    return -total if negative else total


@inlined
def rounded_float(lanes, low, high, digits):
    """The float nearest to a sum of floats, infinities and NaN among them."""
    infinite, negative = lanes[INFINITIES] > 0, lanes[NEGATIVE_INFINITIES] > 0
    if lanes[NANS] > 0 or (infinite and negative):
        return np.nan
    if infinite:
        return np.inf
    if negative:
        return -np.inf
    return rounded(lanes, low, high, LOWEST, digits)


@inlined
def rounded_integer(lanes, digits):
    """The float nearest to a sum of whole numbers."""
    high = lanes[1] + (lanes[0] >> BITS)
    if -(2 ** (BITS - 1)) <= high < 2 ** (BITS - 1):
        return np.float64((high << BITS) | (lanes[0] & MASK))
    return rounded(lanes, 0, INTEGER_LANES - 1, 0, digits)
