"""Kernels that run a policy's own functions at full speed and start fast in a fresh process.

numba reuses machine code from disk only for module-level functions called with the same types.
So what differs between two policies has to be a *type*: the state of a policy is a
:class:`~typing.NamedTuple` of arrays, and a :func:`hook` is a function that, when compiled, turns
into the method of the same name on that tuple's class. A class without the method gets the hook's
own body, usually nothing.

>>> from typing import NamedTuple
>>> import numpy as np
>>> from numba import njit
>>> @hook
... def touch(state, slot):
...     pass
>>> class Counting(NamedTuple):
...     seen: np.ndarray
...     def touch(self, slot):
...         self.seen[slot] += 1
>>> @njit
... def loop(state):
...     for slot in range(3):
...         touch(state, slot)
>>> counting = Counting(np.zeros(3, np.int64))
>>> loop(counting)
>>> counting.seen
array([1, 1, 1])

numba looks only at the file of the compiled function to see whether its cached code is stale. A
kernel depends on more modules than that, the user's own among them, so :func:`specialise` and
:func:`cached` put a digest of the code of all these into the name under which the machine code is
kept.
"""

import hashlib
import sys
from collections.abc import Callable, Iterator
from functools import cache, wraps
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from filelock import FileLock
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload, register_jitable

Function = Callable[..., Any]

# Kernels allocate nothing, so they need no reference counts, which would cost more than the rest.
_OPTIONS: Any = {"nogil": True, "_nrt": False}

inlined = register_jitable(forceinline=True, **_OPTIONS)
"""Decorator for the small functions that kernels and policies are made of.

A function that is called with dozens of arrays must be inlined, or passing them costs more than it
does. Called from Python it is an ordinary Python function.
"""


@njit(forceinline=True, **_OPTIONS)
def mix(word):
    """Spread every bit of a 64-bit word over all others (the finaliser of SplitMix64)."""
    bits = np.uint64(word)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64(bits ^ (bits >> np.uint64(31)))


@intrinsic
def _prefetch(typing: Any, array: Any, index: Any) -> Any:
    """Tell the processor that ``array[index]`` (the first axis) will be needed soon.

    A large buffer does not fit the processor's caches; a look-up announced a few arrivals ahead
    costs nothing when it comes.
    """

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


prefetch: Function = _prefetch


def hook(default: Function) -> Function:
    """Let a function, when compiled, become the method of its name on its first argument.

    Parameters
    ----------
    default
        What to do for a state that has no such method.
    """
    name = default.__name__

    @wraps(default)
    def call(state: Any, *arguments: Any) -> Any:
        return getattr(type(state), name, default)(state, *arguments)

    @overload(call, strict=False, jit_options=_OPTIONS | {"forceinline": True})
    def choose(state: Any, *_: Any) -> Function:
        return getattr(getattr(state, "instance_class", None), name, default)

    return call


def _meaning(value: Any) -> Iterator[str]:
    """What machine code depends on in a function, a class or a constant."""
    code = getattr(getattr(value, "py_func", value), "__code__", value)
    if isinstance(code, CodeType):
        yield from (code.co_code.hex(), str(code.co_names), str(code.co_varnames))
        for constant in code.co_consts:
            yield from _meaning(constant)
    elif isinstance(value, type):
        for name, part in sorted(vars(value).items()):
            if callable(part):
                yield name
                yield from _meaning(part)
    elif isinstance(value, int | float | str | tuple | np.dtype | None):
        yield repr(value)


def _modules_behind(names: tuple[str, ...]) -> list[ModuleType]:
    """Modules of our own and of the user's whose functions and classes these modules use."""
    packages = {name.partition(".")[0] for name in (__name__, *names)}
    found: dict[str, ModuleType] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found or name not in sys.modules or name.partition(".")[0] not in packages:
            continue
        found[name] = sys.modules[name]
        for value in vars(found[name]).values():
            home = value.__name__ if isinstance(value, ModuleType) else _home(value)
            if home is not None:
                waiting.append(home)
    return [found[name] for name in sorted(found)]


def _home(value: Any) -> str | None:
    home = getattr(value, "__module__", None)
    return home if isinstance(home, str) else None


@cache
def _digest(names: tuple[str, ...]) -> str:
    # Of what is in memory, not of the files: these may have been edited since they were imported.
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for module in _modules_behind(names):
        for name, value in sorted(vars(module).items()):
            if not name.startswith("__"):
                digest.update(f"{module.__name__}.{name}".encode())
                digest.update("".join(_meaning(value)).encode())
    return digest.hexdigest()[:16]


@cache
def _on_disk(function: Function, *others: str) -> Function:
    """Compile a function that depends on its own module and perhaps on others."""
    clone = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    clone.__module__ = function.__module__
    clone.__qualname__ = f"{function.__qualname__}_{_digest((function.__module__, *others))}"
    kernel = njit(cache=True, **_OPTIONS)(clone)
    compile_or_load = kernel.compile

    def compile_once(signature: Any) -> Any:
        # Of many processes that start at the same time, such as Spark's, one does the work.
        with FileLock(Path(kernel.stats.cache_path, f"{clone.__qualname__}.lock")):
            return compile_or_load(signature)

    kernel.compile = compile_once
    return kernel


def cached(function: Function) -> Function:
    """Decorator for loops that are called from Python: compiled when first needed, kept on disk."""

    @wraps(function)
    def call(*arguments: Any) -> Any:
        return _on_disk(function)(*arguments)

    return call


@cache
def specialise(kernel: Function, state: type) -> Function:
    """Compile ``kernel`` for states of the class ``state``, kept on disk where that is possible.

    Parameters
    ----------
    kernel
        A plain module-level function that calls hooks.
    state
        The class of the state it will be called with. Machine code for a class that cannot be
        imported again (one defined in a function, or typed at a prompt) is not kept.
    """
    home = sys.modules.get(state.__module__)
    importable = (
        getattr(home, "__file__", None) is not None
        and state.__module__ != "__main__"
        and getattr(home, state.__qualname__, None) is state
    )
    if home is None or not importable:
        return njit(**_OPTIONS)(kernel)
    return _on_disk(kernel, state.__module__)
