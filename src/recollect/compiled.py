"""Loops that run a policy's own functions at full speed, and start fast in a fresh process.

Kernels and policies are plain Python over numpy arrays. They run in one of two ways with the same
result: *compiled* by numba, or *interpreted*, which needs no compiler and suits small inputs, tests
and debuggers. numba is imported when something is compiled for the first time, not before.

numba reuses machine code from disk only for module-level functions called with the same types.
So what differs between two policies has to be a *type*: the state of a policy is a
:class:`~typing.NamedTuple` of arrays, and a :func:`hook` is a function that turns into the method
of the same name on that tuple's class. A class without the method gets the hook's own body,
usually nothing.

>>> from typing import NamedTuple
>>> import numpy as np
>>> @hook
... def touch(state, slot):
...     pass
>>> class Counting(NamedTuple):
...     seen: np.ndarray
...     def touch(self, slot):
...         self.seen[slot] += 1
>>> def loop(state):
...     for slot in range(3):
...         touch(state, slot)
>>> counting = Counting(np.zeros(3, np.int64))
>>> specialise(loop, counting)(counting)  # compiled
>>> loop(counting)  # interpreted
>>> counting.seen
array([2, 2, 2])

Machine code is kept on disk under a digest of everything that the function reaches: the functions
it calls, the methods of the states it is given, and their constants, the user's own among them. So
it is never stale, and a change elsewhere compiles nothing again.
"""

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

Function = Callable[..., Any]

# Kernels allocate nothing, so they need no reference counts, which would cost more than the rest.
_OPTIONS: Any = {"nogil": True, "_nrt": False}
_INLINED: Any = _OPTIONS | {"forceinline": True}
_WORD = 2**64 - 1

_interpreting = bool(os.environ.get("RECOLLECT_INTERPRETED"))
_registrations: list[Callable[[], Any]] = []
"""What numba must be told before it compiles anything."""


@contextmanager
def interpreted() -> Iterator[None]:
    """Run kernels and policies as plain Python in this block.

    The environment variable ``RECOLLECT_INTERPRETED=1`` does it for a whole process.
    """
    global _interpreting
    before, _interpreting = _interpreting, True
    try:
        with np.errstate(over="ignore"):
            yield
    finally:
        _interpreting = before


def is_interpreted() -> bool:
    """Whether kernels and policies run as plain Python now."""
    return _interpreting


def _numba() -> Any:
    """Import numba and tell it of all functions that may be called from compiled ones."""
    import numba

    while _registrations:
        _registrations.pop()()
    return numba


def inlined(function: Function) -> Function:
    """Decorator for the small functions that kernels and policies are made of.

    A function that is called with dozens of arrays must be inlined, or passing them costs more than
    it does.
    """

    def register() -> None:
        from numba.extending import register_jitable

        register_jitable(**_INLINED)(function)

    _registrations.append(register)
    return function


def mix(word: Any) -> Any:
    """Spread every bit of a 64-bit word over all others (the finaliser of SplitMix64).

    >>> int(mix(1))
    6238072747940578789
    """
    bits = int(word) & _WORD
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & _WORD
    bits ^= bits >> 31
    return np.int64(bits - 2**64 if bits >> 63 else bits)


def _mix_compiled(word):  # type: ignore[no-untyped-def]
    bits = np.uint64(word)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64(bits ^ (bits >> np.uint64(31)))


def prefetch(array: Any, index: Any) -> None:
    """Tell the processor that ``array[index]`` (the first axis) will be needed soon.

    A large buffer does not fit the processor's caches; a look-up announced a few arrivals ahead
    costs nothing when it comes. Interpreted it does nothing.
    """


def _register_own() -> None:
    """Tell numba how :func:`mix` and :func:`prefetch` are compiled."""
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic, overload

    @intrinsic
    def fetch(typing: Any, array: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kind = signature.args[0]
            struct = context.make_array(kind)(context, builder, arguments[0])
            stride = builder.extract_value(struct.strides, 0)
            position = context.cast(builder, arguments[1], signature.args[1], types.intp)
            bytes_ = builder.bitcast(struct.data, cgutils.voidptr_t)
            address = builder.gep(bytes_, [builder.mul(position, stride)])
            flag = ir.IntType(32)
            function = cgutils.get_or_insert_function(
                builder.module,
                ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, flag, flag, flag]),
                "llvm.prefetch.p0",
            )
            builder.call(function, [address, flag(1), flag(3), flag(1)])
            return context.get_dummy_value()

        return types.void(array, index), generate

    def fetch_soon(array, index):  # type: ignore[no-untyped-def]
        fetch(array, index)

    overload(mix, jit_options=_INLINED)(lambda word: _mix_compiled)
    overload(prefetch, jit_options=_INLINED)(lambda array, index: fetch_soon)


_registrations.append(_register_own)


def hook(default: Function) -> Function:
    """Let a function become the method of its name on the class of its first argument.

    Parameters
    ----------
    default
        What to do for a class that has no such method.
    """
    name = default.__name__

    @wraps(default)
    def call(state: Any, *arguments: Any) -> Any:
        return getattr(type(state), name, default)(state, *arguments)

    def register() -> None:
        from numba.extending import overload

        @overload(call, strict=False, jit_options=_INLINED)
        def choose(state: Any, *_: Any) -> Function:
            return getattr(getattr(state, "instance_class", None), name, default)

    _registrations.append(register)
    return call


# -- machine code on disk ------------------------------------------------------------------------


def _is_ours(value: Any) -> bool:
    """Whether a function or class belongs to this library or to its user."""
    home = (getattr(value, "__module__", None) or "").partition(".")[0]
    return home not in ("", "numpy", "numba", "llvmlite") and home not in sys.stdlib_module_names


def _names_of(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_of(constant)


def _text_of(code: CodeType) -> Iterator[str]:
    yield from (code.co_code.hex(), str(code.co_names), str(code.co_varnames))
    for constant in code.co_consts:
        yield from _text_of(constant) if isinstance(constant, CodeType) else [repr(constant)]


def _reached(value: Any, found: dict[int, tuple[str, Any]]) -> None:
    """Collect what machine code depends on, from a function, a class or a constant on."""
    function = getattr(value, "py_func", getattr(value, "__wrapped__", value))
    if id(function) in found:
        return
    if isinstance(function, FunctionType):
        if not _is_ours(function):
            return
        code = function.__code__
        found[id(function)] = ("".join(_text_of(code)), function)
        for cell in function.__closure__ or ():
            _reached(cell.cell_contents, found)
        names = set(_names_of(code))
        for name in sorted(names & function.__globals__.keys()):
            part = function.__globals__[name]
            if isinstance(part, ModuleType):
                for attribute in sorted(names & vars(part).keys()):
                    _reached(vars(part)[attribute], found)
            else:
                _reached(part, found)
    elif isinstance(value, type):
        if _is_ours(value):
            found[id(value)] = (f"{value.__qualname__} {getattr(value, '_fields', '')}", value)
            for name, part in sorted(vars(value).items()):
                if isinstance(part, FunctionType) and not name.startswith("__"):
                    _reached(part, found)
    elif isinstance(value, int | float | str | tuple | np.generic | np.dtype | None):
        found[id(value)] = (repr(value), value)


def _classes_in(values: Any) -> Iterator[type]:
    """The classes of all named tuples inside some values."""
    for value in values:
        if isinstance(value, tuple):
            if hasattr(value, "_fields"):
                yield type(value)
            yield from _classes_in(value)


@cache
def _on_disk(function: Function, classes: tuple[type, ...]) -> Function:
    """Compile a function for arguments of some classes, or take its machine code from disk."""
    numba = _numba()
    if not all(map(_is_importable, classes)):
        return numba.njit(**_OPTIONS)(function)
    from filelock import FileLock

    found: dict[int, tuple[str, Any]] = {}
    for value in (function, *classes):
        _reached(value, found)
    text = "\n".join([numba.__version__, sys.version, *sorted(text for text, _ in found.values())])
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    clone = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    clone.__module__ = function.__module__
    clone.__qualname__ = f"{function.__qualname__}_{digest}"
    kernel = numba.njit(cache=True, **_OPTIONS)(clone)
    compile_or_load = kernel.compile

    def compile_once(signature: Any) -> Any:
        # Of many processes that start at the same time, such as Spark's, one does the work.
        with FileLock(Path(kernel.stats.cache_path, f"{clone.__qualname__}.lock")):
            return compile_or_load(signature)

    kernel.compile = compile_once
    return kernel


def _is_importable(kind: type) -> bool:
    """Whether another process finds this class, so that it may be named in what is on disk."""
    home = sys.modules.get(kind.__module__)
    if getattr(home, "__file__", None) is None or kind.__module__ == "__main__":
        return False
    value: Any = home
    for name in kind.__qualname__.split("."):
        value = getattr(value, name, None)
    return value is kind


def cached(function: Function) -> Function:
    """Decorator for loops that are called from Python: compiled when first needed, kept on disk."""

    @wraps(function)
    def call(*arguments: Any) -> Any:
        if _interpreting:
            return function(*arguments)
        return _on_disk(function, ())(*arguments)

    return call


def specialise(kernel: Function, *arguments: Any) -> Function:
    """Compile a kernel for arguments like these, kept on disk where that is possible.

    Parameters
    ----------
    kernel
        A plain module-level function that calls hooks.
    arguments
        What it will be called with: states and other named tuples. Machine code for a class that
        cannot be imported again (one defined in a function, or typed at a prompt) is not kept.
    """
    if _interpreting:
        return kernel
    return _on_disk(kernel, tuple(dict.fromkeys(_classes_in(arguments))))
