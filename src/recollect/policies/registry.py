"""Policies by name: ``gdj``, ``clock:w0=2``, ``my_module:MyPolicy:strength=3``."""

import importlib
import inspect
from dataclasses import MISSING, fields
from difflib import get_close_matches
from typing import Any, get_type_hints

from recollect.errors import PolicyError
from recollect.policies.base import Policy, cache_registry, registry


def policy_names() -> list[str]:
    """The short names of all policies.

    >>> "gdj" in policy_names()
    True
    """
    return sorted(registry)


def quick_policy_names() -> list[str]:
    """The short names of the policies whose cost does not grow with the buffer.

    >>> "prob" in quick_policy_names(), "elba" in quick_policy_names()
    (True, False)
    """
    return [name for name in policy_names() if not registry[name].thorough]


def cache_policy_names() -> list[str]:
    """The short names of the policies of a cache.

    >>> cache_policy_names()
    ['clock', 'fifo', 'heeb', 'lba', 'lfd', 'lfu', 'lru', 'rand', 's3-fifo', 'sieve']
    """
    return sorted(cache_registry)


def parse_policy(spec: "str | Policy | type[Policy]") -> Policy:
    """Make a policy from the text a user types; a policy or its class is taken as it is.

    >>> parse_policy("gdj:percentile=0.95,method=3")
    Gdj(percentile=0.95, method=3, full=1, partial=0)

    A policy of one's own is named by module and class, as in ``forgetful.rules:Youngest``.
    """
    return _parsed(spec, registry)


def parse_cache_policy(spec: "str | Policy | type[Policy]") -> Policy:
    """Make a cache's policy from the text a user types; one that is made is taken as it is.

    >>> parse_cache_policy("clock:w0=2")
    Clock(w0=2.0, partial=0.0)
    >>> parse_cache_policy("lruu")
    Traceback (most recent call last):
    recollect.errors.PolicyError: unknown policy 'lruu': did you mean lru?
    """
    return _parsed(spec, cache_registry)


def _parsed(spec: "str | Policy | type[Policy]", known: dict[str, type[Policy]]) -> Policy:
    if isinstance(spec, Policy):
        return spec
    if isinstance(spec, type) and issubclass(spec, Policy):
        return spec()
    if not isinstance(spec, str):
        raise PolicyError(f"{spec!r} is not a policy; give a name, or an object made from Policy")
    name, _, rest = spec.strip().partition(":")
    if name in known:
        policy = _build(known[name], rest)
    elif rest:
        class_name, _, parameters = rest.partition(":")
        policy = _build(_load(name, class_name), parameters)
    else:
        close = get_close_matches(name, known, 1)
        hint = f"did you mean {close[0]}?" if close else "known are " + ", ".join(sorted(known))
        raise PolicyError(f"unknown policy {name!r}: {hint}")
    object.__setattr__(policy, "_typed", spec.strip())
    return policy


def _load(module_name: str, class_name: str) -> type[Policy]:
    try:
        module = importlib.import_module(module_name)
    except (ImportError, TypeError, ValueError) as error:
        raise PolicyError(
            f"policy {module_name}:{class_name}: there is neither a policy nor a module"
            f" named {module_name!r} ({error})"
        ) from None
    cls = getattr(module, class_name, None)
    if not (inspect.isclass(cls) and issubclass(cls, Policy)):
        raise PolicyError(
            f"policy {module_name}:{class_name}: the module has no class {class_name!r} made from"
            " recollect.policies.Policy"
        )
    return cls


def _build(cls: type[Policy], text: str) -> Policy:
    title = cls.name or cls.__qualname__
    kinds = get_type_hints(cls)
    known = [field.name for field in fields(cls)]
    given: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals or key not in known:
            takes = "takes " + ", ".join(known) if known else "takes no parameters"
            raise PolicyError(f"{title}: unknown parameter {part!r}; it {takes}")
        given[key] = _convert(title, key, value, kinds[key])
    missing = [
        field.name
        for field in fields(cls)
        if field.name not in given and field.default is field.default_factory is MISSING
    ]
    if missing:
        raise PolicyError(f"{title}: give a value for {', '.join(missing)}")
    return cls(**given)


def _convert(title: str, key: str, text: str, kind: Any) -> Any:
    if kind not in (int, float, bool):
        return text
    try:
        if kind is bool:
            return {"true": True, "false": False}[text.lower()]
        return kind(text) if kind is float or "e" not in text.lower() else _whole(text)
    except (KeyError, ValueError):
        raise PolicyError(f"{title}: {key}={text} is not a {kind.__name__}") from None


def _whole(text: str) -> int:
    """A whole number in scientific notation."""
    number = float(text)
    if not number.is_integer():
        raise ValueError(text)
    return int(number)
