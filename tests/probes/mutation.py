"""Plants one bug in a class: a method's source with a few words replaced, in a subclass. The original is untouched."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

Edit = tuple[str, str]


def mutated(original: type, name: str, edits: Mapping[str, Sequence[Edit]], **attributes: Any) -> type:
    """Return a subclass of `original` in which each method named has been rewritten.

    Each edit (old, new) must match exactly once: a mutant that changes nothing would be a lie.
    """
    body: dict[str, Any] = dict(attributes)
    for method, changes in edits.items():
        body[method] = rewritten(original, method, changes)
    return type(name, (original,), body)


def rewritten(original: type, method: str, changes: Sequence[Edit]) -> Any:
    """Return the method of `original` with its source changed, compiled in the module that defines it."""
    owner = next(c for c in original.__mro__ if method in vars(c))
    function = inspect.unwrap(vars(owner)[method])
    source = textwrap.dedent(inspect.getsource(function))
    for old, new in changes:
        assert source.count(old) == 1, f"{original.__name__}.{method}: {old!r} occurs {source.count(old)} times"
        source = source.replace(old, new)
    source = source.replace("super()", "super(_owner_, self)")
    space = {**vars(sys.modules[function.__module__]), "_owner_": owner}
    exec(compile(source, f"<mutant of {owner.__name__}.{method}>", "exec"), space)  # our own text
    return space[method]


def with_defaults(original: type, name: str, **defaults: Any) -> type:
    """Return a subclass whose constructor has other defaults, unless they are given."""

    def __init__(self: Any, *args: Any, **settings: Any) -> None:  # noqa: N807
        original.__init__(self, *args, **{**defaults, **settings})

    return type(name, (original,), {"__init__": __init__})
