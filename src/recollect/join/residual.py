"""The machine that decides, pair by pair, whether a ``where`` filter holds.

A filter is data, not code: a program that one compiled function interprets, so that a new
expression costs no compilation. An instruction names its two operands by address, a column of one
of the two rows, a constant or the top of the stack, and leaves its result on the stack. The
instruction that ends one of the conditions joined by *and* is marked as decisive: unless it finds
TRUE, the pair is rejected without looking further. :mod:`recollect.join.where` writes programs.
"""

from typing import Any, NamedTuple

import numpy as np

from recollect.compiled import inlined

#: Where an operand lies, in the two low bits of its address; the index stands above them.
STACK, LEFT, RIGHT, CONSTANT = range(4)
NEXT = 4

#: Truth values, ordered so that *and* is the minimum, *or* the maximum and *not* the negation.
FALSE, UNKNOWN, TRUE = -1, 0, 1

#: Operators on int64; ``FLOAT`` added gives the same on float64, which is all there is for ``DIV``.
EQ, NE, LT, LE, ADD, SUB, MUL, ABS, DIV, FLOAT = range(10)
TO_FLOAT, TEXT_EQ, TEXT_NE, AND, OR = range(2 * FLOAT, 2 * FLOAT + 5)

Expression = int | list[int] | tuple[Any, ...]


class Residual(NamedTuple):
    """A filter in the form that :func:`holds` runs.

    Attributes
    ----------
    program
        A row per instruction: operator, address of the first and of the second operand (any
        constant if there is none), whether it is decisive.
    constants
        The 64-bit patterns of the literals.
    stack
        Scratch, a row per entry: its 64-bit pattern and whether it is NULL. Two threads must not
        run the same object at the same time.
    """

    program: np.ndarray
    constants: np.ndarray
    stack: np.ndarray


def assemble(conditions: list[Expression]) -> Residual:
    """Write the program that holds for a pair if all these conditions do.

    Parameters
    ----------
    conditions
        Operations, each a tuple of an operator and its operands. An operand is again an operation,
        or an address, or the list of the words of a constant. More than two operands are taken
        from left to right.

    Examples
    --------
    >>> code = assemble([(LT, LEFT, RIGHT), (LT, (SUB, RIGHT, LEFT), [3])])
    >>> rows = np.array([[3, 0], [5, 0], [9, 0]])
    >>> [(i, j) for i in range(3) for j in range(3) if holds(code, rows, i, rows, j)]
    [(0, 1)]
    """
    program: list[tuple[int, int, int, bool]] = []
    constants: list[int] = []

    def emit(expression: Expression) -> int:
        if isinstance(expression, int):
            return expression
        if isinstance(expression, list):
            constants.extend(expression)
            return CONSTANT + NEXT * (len(constants) - len(expression))
        operator, first, *others = expression
        address = emit(first)
        for other in others:
            program.append((operator, address, emit(other), False))
            address = STACK
        return address

    for condition in conditions:
        emit(condition)
        program[-1] = (*program[-1][:3], True)
    return Residual(
        np.array(program, np.int64).reshape(-1, 4),
        np.array(constants, np.int64),
        np.zeros((len(program), 2), np.int64),
    )


#: No filter: holds for every pair.
EMPTY = assemble([])


@inlined
def _fetch(code, address, left, i, right, j, top):
    """Read an operand: its bits, whether it is NULL, and the height of the stack afterwards."""
    index = address >> 2
    place = address & 3
    if place == LEFT:
        return left[i, index], (left[i, left.shape[1] - 1] >> index) & 1, top
    if place == RIGHT:
        return right[j, index], (right[j, right.shape[1] - 1] >> index) & 1, top
    if place == CONSTANT:
        return code.constants[index], 0, top
    return code.stack[top - 1, 0], code.stack[top - 1, 1], top - 1


@inlined
def holds(code, left, i, right, j):
    """Tell whether the filter is true of row ``i`` of ``left`` and row ``j`` of ``right``.

    Parameters
    ----------
    code : Residual
        The filter; one without instructions is true of every pair.
    left, right : numpy.ndarray
        Encoded tuples as :meth:`recollect.join.where.Where.encode` gives them, of any layout.
    i, j : int
        The two rows.

    Returns
    -------
    bool
        False also where NULLs leave the answer unknown.
    """
    top = 0
    for step in range(code.program.shape[0]):
        operator = code.program[step, 0]
        first = code.program[step, 1]
        second = code.program[step, 2]
        # Of two operands on the stack the second lies on top.
        y, y_null, top = _fetch(code, second, left, i, right, j, top)
        x, x_null, top = _fetch(code, first, left, i, right, j, top)
        null = x_null | y_null
        fx: float = np.int64(x).view(np.float64)
        fy: float = np.int64(y).view(np.float64)
        truth = False
        compares = True
        if operator == EQ:
            truth = x == y
        elif operator == NE:
            truth = x != y
        elif operator == LT:
            truth = x < y
        elif operator == LE:
            truth = x <= y
        elif operator == FLOAT + EQ:
            truth = fx == fy
        elif operator == FLOAT + NE:
            truth = fx != fy
        elif operator == FLOAT + LT:
            truth = fx < fy
        elif operator == FLOAT + LE:
            truth = fx <= fy
        elif TEXT_EQ <= operator <= TEXT_NE:
            x2, _, _ = _fetch(code, first + NEXT, left, i, right, j, top)
            y2, _, _ = _fetch(code, second + NEXT, left, i, right, j, top)
            truth = (x == y and x2 == y2) == (operator == TEXT_EQ)
        else:
            compares = False
        if compares:
            value = UNKNOWN if null else (TRUE if truth else FALSE)
            null = 0
        elif operator == AND:
            value = min(x, y)
        elif operator == OR:
            value = max(x, y)
        elif operator == ADD:
            value = x + y
        elif operator == SUB:
            value = x - y
        elif operator == MUL:
            value = x * y
        elif operator == ABS:
            value = abs(x)
        else:
            if operator == TO_FLOAT:
                result = float(x)
            elif operator == FLOAT + ADD:
                result = fx + fy
            elif operator == FLOAT + SUB:
                result = fx - fy
            elif operator == FLOAT + MUL:
                result = fx * fy
            elif operator == FLOAT + ABS:
                result = abs(fx)
            else:
                null |= fy == 0
                result = fx / (fy if fy != 0 else 1.0)
            value = int(np.float64(result).view(np.int64))
        if code.program[step, 3] and value != TRUE:
            return False
        code.stack[top, 0] = value
        code.stack[top, 1] = null
        top += 1
    return True
