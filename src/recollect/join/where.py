"""The residual filter of a join: a condition on both tuples of a pair, beyond equal keys.

Python parses the expression; here its parts are checked against both schemas and handed to
:mod:`recollect.join.residual` as a program, and the columns it reads become 64-bit words.
"""

import ast
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pyarrow as pa
from pyarrow import types

from recollect.errors import FilterError
from recollect.hashing import hash_strings
from recollect.join import residual
from recollect.join.filter_columns import Column, Kind, encode, kind_of
from recollect.join.residual import ABS, ADD, AND, DIV, EQ, FLOAT, LE, LT, MUL, NE, OR, SUB
from recollect.join.window import NANOSECONDS

SIDES = ("left", "right")
MOST_PLACES = 63
LEAST, MOST = -(2**63), 2**63 - 1
SIGNS = {ast.Eq: EQ, ast.NotEq: NE, ast.Lt: LT, ast.LtE: LE, ast.Gt: LT, ast.GtE: LE}
ARITHMETIC = {ast.Add: ADD, ast.Sub: SUB, ast.Mult: MUL, ast.Div: DIV}
# Strings and words are tokens of their own, so that nothing inside them is translated. A comment
# would hide the rest of the expression: "?" turns it into the syntax error that it is in SQL.
TOKEN = re.compile(r"""'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*"|[\w.]+|[<>=!]+|.""", re.DOTALL)
SQL = {"=": "==", "<>": "!=", "AND": "and", "OR": "or", "NOT": "not", "\n": " ", "#": "?"}


LITERALS = {bool: Kind.BOOLEAN, int: Kind.INTEGER, float: Kind.FLOAT, str: Kind.STRING}
NUMBERS = {Kind.BOOLEAN, Kind.INTEGER, Kind.FLOAT}
STEPS = {Kind.BOOLEAN, Kind.INTEGER, Kind.DURATION}
TIMES = {
    Kind.TIMESTAMP: "'2013-10-07' or '2013-10-07 09:30:00.125'",
    Kind.TIME: "'09:30' or '09:30:00.125'",
    Kind.DURATION: "'200ms', '10s', '5min', '2h' or '1d'",
}


@dataclass(frozen=True, eq=False)
class Where:
    """A filter that fits two schemas, made by :func:`compile_where`.

    Attributes
    ----------
    text
        The expression as given.
    columns
        The names of the columns it reads, of the left and of the right stream.
    code
        The program for :func:`recollect.join.residual.holds`.
    layout
        The same columns with their places.
    width
        How many words a tuple takes.
    """

    text: str
    columns: tuple[tuple[str, ...], tuple[str, ...]]
    code: residual.Residual
    layout: tuple[tuple[Column, ...], tuple[Column, ...]]
    width: int

    def encode(self, side: int, batch: pa.RecordBatch) -> np.ndarray:
        """Turn a batch into the words that the program reads.

        Parameters
        ----------
        side
            0 for the left, 1 for the right stream.
        batch
            Tuples of that stream.

        Returns
        -------
        numpy.ndarray
            int64, C-contiguous, shape (rows, width): the bits of each column in its place (a
            string takes two) and last a mask whose bit *p* tells that place *p* is NULL.
        """
        return encode(self.layout[side], self.width, batch, SIDES[side])


def compile_where(text: str, left: pa.Schema, right: pa.Schema) -> Where:
    """Check a filter against the schemas of both streams and compile it.

    A filter compares (``== != < <= > >=``, also ``=`` and ``<>``, also chained) values made of
    ``left.column``, ``right["odd name"]``, literals, ``+ - * /`` and ``abs``, and joins the
    comparisons by ``and``, ``or`` and ``not``. NULLs follow SQL: what depends on one is unknown,
    and a pair of which the filter is unknown does not pass.

    Integers, booleans and times are exact 64-bit integers, and ``+ - *`` wrap around like NumPy's.
    Floats and decimals are float64, and so is an integer beside them and every quotient; dividing
    by zero gives NULL, and NaN compares as in IEEE 754. Times are counted in the finest unit among
    the time columns that the filter names, which is also the unit of a bare number beside them; a
    string beside them is an ISO time (UTC if it has no offset) or a duration such as ``'200ms'``.
    Strings and binaries know only ``==`` and ``!=``, by a 128-bit hash.

    Parameters
    ----------
    text
        The expression.
    left, right
        The schemas of the streams.

    Raises
    ------
    FilterError
        If the expression is malformed or does not fit the columns.

    Examples
    --------
    >>> schema = pa.schema({"sensor": pa.string(), "ts": pa.timestamp("ms")})
    >>> text = "left.sensor != right.sensor and abs(left.ts - right.ts) <= '200ms'"
    >>> where = compile_where(text, schema, schema)
    >>> batch = pa.record_batch([["a", "b", None, "c"], [0, 150, 160, 300]], schema=schema)
    >>> rows = where.encode(0, batch), where.encode(1, batch)
    >>> [j for j in range(4) if residual.holds(where.code, rows[0], 1, rows[1], j)]
    [0, 3]
    """
    try:
        tree = _parse(text)
        scope = _Scope(tree, (left, right))
        parts = [tree]
        if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
            parts = tree.values
        code = residual.assemble([scope.condition(part).code for part in parts])
    except RecursionError:
        raise FilterError(f"{text[:40]!r}…: nested too deeply; use fewer brackets") from None
    first, second = (tuple(columns.values()) for columns in scope.columns)
    names = tuple(column.name for column in first), tuple(column.name for column in second)
    return Where(text, names, code, (first, second), scope.width)


def _parse(text: str) -> ast.expr:
    """Read SQL's spelling as well as Python's, and report positions in the given text."""
    source, origins = "", [0]
    for token in TOKEN.finditer(text):
        word = SQL.get(token[0], token[0])
        if len(word) > 1 and word[0] == "'":
            word = "'" + word[1:-1].replace("''", r"\'") + "'"
        source += word
        origins += [token.start() + 1] * len(word)
    code = source.lstrip()
    try:
        return ast.parse(code, mode="eval").body
    except (SyntaxError, ValueError) as error:
        offset = (getattr(error, "offset", None) or len(code)) + len(source) - len(code)
        raise FilterError(
            f"{text!r}: {getattr(error, 'msg', error)} at character "
            f"{origins[min(offset, len(source))]}; a filter looks like left.speed > 10 and "
            "left.sensor != right.sensor, and an odd name like left['odd name']"
        ) from None


@dataclass(frozen=True)
class _Term:
    """A checked part of the expression; its code is set unless it is a literal."""

    text: str
    kind: Kind
    operation: residual.Expression = ()
    literal: int | float | str | Fraction | None = None

    @property
    def code(self) -> residual.Expression:
        if isinstance(self.literal, str):
            word = pa.array([self.literal.encode()], pa.large_binary())
            return [int(hash_strings(word, seed)[0]) for seed in (1, 2)]
        if isinstance(self.literal, float):
            return [int(np.float64(self.literal).view(np.int64))]
        return self.operation if self.literal is None else [int(self.literal)]


_ZERO = _Term("0", Kind.INTEGER, literal=0)


class _Scope:
    """The columns that an expression names, and the rules by which its parts become terms."""

    def __init__(self, tree: ast.expr, schemas: tuple[pa.Schema, pa.Schema]) -> None:
        found: dict[tuple[int, str], pa.DataType] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute | ast.Subscript):
                side, name = _reference(node)
                at = schemas[side].get_all_field_indices(name)
                if len(at) != 1:
                    raise FilterError(
                        f"{ast.unparse(node)}: {'ambiguous' if at else 'no such'} column; "
                        f"the {SIDES[side]} stream has {', '.join(schemas[side].names)}"
                    )
                dtype = schemas[side].field(at[0]).type
                found[side, name] = dtype.value_type if types.is_dictionary(dtype) else dtype
        if not found:
            raise FilterError(f"{ast.unparse(tree)}: names no column, such as left.x or right.x")
        self.unit = min(filter(None, map(_unit, found.values())), default=1)
        self.columns: tuple[dict[str, Column], dict[str, Column]] = ({}, {})
        places = [0, 0]
        for (side, name), dtype in found.items():
            kind = kind_of(dtype)
            if kind is None:
                raise FilterError(
                    f"{SIDES[side]}.{name} is of type {dtype}; a filter takes numbers, booleans, "
                    "times, strings and binaries"
                )
            factor = (_unit(dtype) or self.unit) // self.unit
            self.columns[side][name] = Column(name, kind, places[side], factor)
            places[side] += 2 if kind is Kind.STRING else 1
        if max(places) > MOST_PLACES:
            raise FilterError(
                f"the filter reads {max(places)} words of one tuple (two for a string, one for any "
                f"other column) and can read {MOST_PLACES}; name fewer columns"
            )
        self.width = max(places) + 1

    def condition(self, node: ast.expr) -> _Term:
        term = self.term(node)
        if term.kind is Kind.BOOLEAN:
            return self.compare(ast.NotEq, term, _ZERO)
        if term.kind is not Kind.CONDITION:
            raise FilterError(f"{term.text} is a value ({term.kind}), not a condition; compare it")
        return term

    def value(self, node: ast.expr) -> _Term:
        term = self.term(node)
        if term.kind is Kind.CONDITION:
            raise FilterError(f"{term.text} is a condition, not a value; join it by and, or, not")
        return term

    def term(self, node: ast.expr) -> _Term:
        text = ast.unparse(node)
        match node:
            case ast.Attribute() | ast.Subscript():
                side, name = _reference(node)
                column = self.columns[side][name]
                address = (residual.LEFT, residual.RIGHT)[side] + residual.NEXT * column.place
                return _Term(text, column.kind, address)
            case ast.Constant(value=str() | int() | float() as value):
                return _literal(value, text)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return _literal(-value, text)
            case ast.UnaryOp(op=ast.USub(), operand=x):
                return self.calculate(SUB, _ZERO, self.value(x), text)
            case ast.BinOp(left=x, op=op, right=y) if type(op) in ARITHMETIC:
                return self.calculate(ARITHMETIC[type(op)], self.value(x), self.value(y), text)
            case ast.Call(func=ast.Name(id="abs"), args=[x], keywords=[]):
                return self.calculate(ABS, self.value(x), _ZERO, text)
            case ast.Compare(left=x, ops=ops, comparators=more) if {*map(type, ops)} <= {*SIGNS}:
                values = [self.value(operand) for operand in (x, *more)]
                chain = map(self.compare, map(type, ops), values, values[1:])
                return _Term(text, Kind.CONDITION, (AND, *(link.code for link in chain)))
            case ast.BoolOp(op=op, values=parts):
                codes = (self.condition(part).code for part in parts)
                return _Term(text, Kind.CONDITION, (AND if isinstance(op, ast.And) else OR, *codes))
            case ast.UnaryOp(op=ast.Not(), operand=x):
                return _Term(text, Kind.CONDITION, (SUB, _ZERO.code, self.condition(x).code))
        raise FilterError(
            f"{text}: not possible here; a filter has == != < <= > >= and or not + - * / abs(x), "
            "numbers, 'strings', True, False, left.column and right.column"
        )

    def compare(self, sign: type[ast.cmpop], x: _Term, y: _Term) -> _Term:
        operator = SIGNS[sign]
        if sign in (ast.Gt, ast.GtE):
            x, y = y, x
        x, y = self._time(x, y.kind), self._time(y, x.kind)
        kinds = {x.kind, y.kind}
        if kinds == {Kind.STRING} and operator in (EQ, NE):
            operator += residual.TEXT_EQ - EQ
        elif Kind.STRING in kinds or (len(kinds) > 1 and not kinds & NUMBERS):
            raise FilterError(
                f"{x.text} ({x.kind}) and {y.text} ({y.kind}) cannot be compared so; strings "
                "compare with strings by == and !=, times with times of their kind and numbers"
            )
        elif Kind.FLOAT in kinds:
            operator, x, y = operator + FLOAT, _float(x), _float(y)
        elif _between_ticks(x, y) and operator in (EQ, NE):
            # Equal to nothing, yet unknown for NULL, as "below the least integer" is.
            other = y if x.literal is not None else x
            least = replace(_ZERO, literal=LEAST)
            operator, x, y = (LT, other, least) if operator == EQ else (LE, least, other)
        else:
            x, y = _whole(x, operator == LE), _whole(y, operator == LT)
        return _Term("", Kind.CONDITION, (operator, x.code, y.code))

    def calculate(self, operator: int, x: _Term, y: _Term, text: str) -> _Term:
        x, y = (
            self._time(term, Kind.DURATION if beside.kind in TIMES else beside.kind)
            for term, beside in ((x, y), (y, x))
        )
        kind = _result(operator, x.kind, y.kind)
        if kind is None or _between_ticks(x, y):
            raise FilterError(
                f"{text}: {x.text} ({x.kind}) and {y.text} ({y.kind}) do not go together here; "
                "+ - * / work on numbers and durations, + and - also move a time by whole units"
            )
        if kind is Kind.FLOAT:
            operator, x, y = operator + FLOAT, _float(x), _float(y)
        return _Term(text, kind, (operator, x.code, y.code))

    def _time(self, term: _Term, kind: Kind) -> _Term:
        """Read a string literal that stands beside a time as one of that kind, in ticks."""
        if kind not in TIMES or not isinstance(term.literal, str):
            return term
        try:
            ticks = _nanoseconds(term.literal, kind) / self.unit
        except ValueError:
            raise FilterError(f"{term.text} is not a {kind}; write {TIMES[kind]}") from None
        if not LEAST <= ticks <= MOST:
            raise FilterError(f"{term.text} is out of the range of the times beside it")
        return replace(term, kind=kind, literal=ticks)


def _reference(node: ast.Attribute | ast.Subscript) -> tuple[int, str]:
    match node:
        case ast.Attribute(value=ast.Name(id="left" | "right" as side), attr=name):
            return SIDES.index(side), name
        case ast.Subscript(
            value=ast.Name(id="left" | "right" as side), slice=ast.Constant(value=str(name))
        ):
            return SIDES.index(side), name
    raise FilterError(f"{ast.unparse(node)}: a column is written left.name or left['odd name']")


def _unit(dtype: pa.DataType) -> int:
    """Give the nanoseconds of a time type's unit, 0 for a type without one."""
    if types.is_date(dtype):
        return NANOSECONDS["d" if types.is_date32(dtype) else "ms"]
    return NANOSECONDS.get(getattr(dtype, "unit", ""), 0)


def _nanoseconds(text: str, kind: Kind) -> Fraction:
    if kind is Kind.DURATION:
        match = re.fullmatch(rf"([+-]?\d+(?:\.\d+)?) *({'|'.join(NANOSECONDS)})", text)
        if match is None:
            raise ValueError(text)
        return Fraction(match[1]) * NANOSECONDS[match[2]]
    # Python's clock stops at microseconds, so the fraction of a second is read apart from it.
    fraction = re.search(r"(?<=:\d\d)\.\d+", text)
    clock = text.replace(fraction[0], "") if fraction else text
    moment = datetime.fromisoformat("1970-01-01 " * (kind is Kind.TIME) + clock)
    since = moment.replace(tzinfo=moment.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    part = Fraction(f"0{fraction[0]}" if fraction else 0)
    return since // timedelta(seconds=1) * NANOSECONDS["s"] + part * NANOSECONDS["s"]


def _result(operator: int, x: Kind, y: Kind) -> Kind | None:
    """Give the kind of what an arithmetic operator makes of two kinds, None if it cannot."""
    if {x, y} <= NUMBERS | STEPS:
        if operator == DIV or Kind.FLOAT in (x, y):
            return Kind.FLOAT
        return Kind.DURATION if Kind.DURATION in (x, y) else Kind.INTEGER
    if operator == SUB and x is y and x in TIMES:
        return Kind.DURATION
    if operator in (ADD, SUB) and x in TIMES and y in STEPS:
        return x
    return y if operator == ADD and x in STEPS and y in TIMES else None


def _literal(value: float | str, text: str) -> _Term:
    if isinstance(value, int) and not LEAST <= value <= MOST:
        raise FilterError(f"{text} does not fit in 64 signed bits; write it as a float")
    return _Term(text, LITERALS[type(value)], literal=value)


def _float(term: _Term) -> _Term:
    if term.kind is Kind.FLOAT:
        return term
    if term.literal is not None:
        return replace(term, kind=Kind.FLOAT, literal=float(term.literal))
    return _Term(term.text, Kind.FLOAT, (residual.TO_FLOAT, term.code, _ZERO.code))


def _between_ticks(*terms: _Term) -> bool:
    return any(isinstance(term.literal, Fraction) and term.literal % 1 for term in terms)


def _whole(term: _Term, up: bool) -> _Term:
    """Round a time literal between two ticks such that the comparison with it stays the same."""
    if isinstance(term.literal, Fraction):
        return replace(term, literal=ceil(term.literal) if up else floor(term.literal))
    return term
