"""Finds the rules: the folder is the registry, so nothing is listed by hand and nothing vanishes unseen."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from .errors import UnknownNameError, unknown_name
from .rule import Rule


@cache
def all_rules() -> tuple[Rule, ...]:
    """Return every rule below `firstbreak.rules`, sorted by code.

    Raises:
        RuntimeError: two rules share a code or a name, or a module of the folder holds no rule or several.
    """
    package = importlib.import_module("firstbreak.rules")
    rules: list[Rule] = []
    for info in pkgutil.walk_packages(package.__path__, "firstbreak.rules."):
        if info.ispkg:
            continue
        module = importlib.import_module(info.name)
        found = [value for value in vars(module).values() if isinstance(value, Rule) and value.module == info.name]
        if len(found) != 1:
            raise RuntimeError(f"{info.name} must hold exactly one rule, found {len(found)}")
        rules.extend(found)
    for attribute in ("code", "name"):
        values = [getattr(r, attribute) for r in rules]
        twice = sorted({v for v in values if values.count(v) > 1})
        if twice:
            raise RuntimeError(f"rules share the {attribute} {', '.join(twice)}")
    return tuple(sorted(rules, key=lambda r: r.code))


def find_rule(name: str) -> Rule:
    """Return the rule with this name or code.

    Raises:
        UnknownNameError: there is none; the hint offers the nearest.
    """
    wanted = name.strip()
    for candidate in all_rules():
        if wanted.lower() in (candidate.name, candidate.code.lower()):
            return candidate
    error = unknown_name("rule", name, [r.name for r in all_rules()] + [r.code for r in all_rules()])
    raise UnknownNameError(error.message, error.hint or "List them: firstbreak rules")
