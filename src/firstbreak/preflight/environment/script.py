"""The text of a stand-alone script that shows a fault again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .cases import Case
from .shapes import is_mapping, is_tuple

ASSERTIONS: dict[str, tuple[str, str]] = {
    "raises": ("", "the last call raises"),
    "observation": ("not env.observation_space.contains(told[0])", "the observation does not belong to its space"),
    "observation-not-finite": ("not np.isfinite(np.asarray(told[0], float)).all()", "the observation is not finite"),
    "reward-not-finite": ("not np.isfinite(told[1])", "the reward is not finite"),
    "huge": ("max(np.abs(np.asarray(told[0], float)).max(), abs(told[1])) > 1e7", "the numbers explode"),
    "reward": ("not isinstance(told[1], (int, float, np.number))", "the reward is no scalar"),
    "flag": ("not all(isinstance(f, (bool, np.bool_)) for f in told[2:4])", "a flag is not a boolean"),
    "info": ("not isinstance(told[-1], dict)", "info is not a dict"),
    "step-return": ("not (isinstance(told, tuple) and len(told) == 5)", "step does not return five values"),
    "reset-return": ("not (isinstance(told, tuple) and len(told) == 2)", "reset does not return two values"),
    "complaint": ("env.complaints", "an agent's share of the last answer is wrong"),
    "action-changed": ("not np.array_equal(given, kept)", "step writes into the caller's action"),
    "hangs": ("", "the last call does not return"),
    "dies": ("", "the last call ends the process"),
}
"""Fault -> (what holds after the last call, in words)."""

TEMPLATE = '''"""{message}

Written by firstbreak. Ends with "seen again" when the fault is there, with an AssertionError when it is not.
"""

import sys

import numpy as np

sys.path.insert(0, {folder!r})
{imports}

SEED = {seed!r}
ACTIONS = {actions}


def action_of(value, space):
    """Give the action the type that the space asks for."""
    if isinstance(value, dict):
        return {{k: action_of(v, space[k]) for k, v in value.items()}}
    if isinstance(value, tuple):
        return tuple(action_of(v, space[i]) for i, v in enumerate(value))
    return np.asarray(value, dtype=space.dtype) if getattr(space, "shape", ()) else space.dtype.type(value)


env = {make}
told = env.reset({reset})
given = kept = None
for value in ACTIONS[:-1]:
    told = env.step(action_of(value, env.action_space))
{ending}
print("seen again: {words}")
'''

LAST = """if ACTIONS:
    given, kept = (action_of(ACTIONS[-1], env.action_space) for _ in range(2))
    told = env.step(given)
assert {test}, "not seen again: {words}"
"""
RAISING = """try:
    told = env.step(action_of(ACTIONS[-1], env.action_space)) if ACTIONS else env.reset({reset})
except Exception as error:
    print(type(error).__name__, error)
else:
    raise AssertionError("not seen again: no exception")
"""
KILLING = """print("the next call is the one that {words}", flush=True)
told = env.step(action_of(ACTIONS[-1], env.action_space)) if ACTIONS else env.reset({reset})
raise AssertionError("not seen again: the call returned")
"""


def script_text(target: str, kind: str, case: Case, message: str) -> str:
    """Return the script for `case`; other interfaces than Gymnasium's are reached through firstbreak's adapters."""
    test, words = ASSERTIONS[case.fault]
    imports, make = _making(target, kind)
    reset = f"seed={case.seed!r}" if case.seed is not None else ""
    ending = LAST if test else RAISING if case.fault == "raises" else KILLING
    return TEMPLATE.format(
        message=message.replace("\\", "/").replace('"""', "'"),
        folder=str(Path.cwd()),
        imports=imports,
        seed=case.seed,
        actions=repr([plain(a) for a in case.actions]),
        make=make,
        reset=reset,
        words=words,
        ending=ending.format(test=test, words=words, reset=reset),
    )


def _making(target: str, kind: str) -> tuple[str, str]:
    from ...target import is_target

    if kind != "gymnasium":
        return "from firstbreak.preflight.environment.loading import source_of", f"source_of({target!r}).make()"
    if not is_target(target):
        return "import gymnasium", f"gymnasium.make({target!r}, disable_env_checker=True)"
    where, _, name = target.partition(":")
    if where.endswith(".py"):
        path = Path(where).resolve()
        lines = "import importlib.util"
        loading = (
            f"\nspec = importlib.util.spec_from_file_location({path.stem!r}, {str(path)!r})"
            "\nmodule = importlib.util.module_from_spec(spec)"
            f"\nsys.modules[{path.stem!r}] = module"
            f"\nsys.path.insert(0, {str(path.parent)!r})"
            "\nspec.loader.exec_module(module)"
        )
        return lines + "\n" + loading, f"module.{name}()"
    first = name.partition(".")[0]
    return f"from {where} import {first}", f"{name}()"


def plain(action: Any) -> Any:
    """Return an action as Python literals."""
    if is_mapping(action):
        return {k: plain(v) for k, v in action.items()}
    if is_tuple(action):
        return tuple(plain(v) for v in action)
    return np.asarray(action).tolist()
