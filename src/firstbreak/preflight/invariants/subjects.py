"""From what the user names to `Pieces`: one for each face (discrete, continuous) that the trainer can show."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, cast

from ...errors import InputError, missing_extra, unknown_name
from ...target import load_target
from .pieces import Pieces

SB3 = {
    "PPO": ("discrete", "continuous"),
    "A2C": ("discrete", "continuous"),
    "DQN": ("discrete",),
    "SAC": ("continuous",),
    "TD3": ("continuous",),
    "DDPG": ("continuous",),
}
"""Algorithms of Stable-Baselines3 that are known, and the action spaces they take."""
TORCHRL = "torchrl:"
REFERENCE = {
    "PPO": ("discrete", "continuous"),
    "MM-RKHS": ("discrete", "continuous"),
    "DQN": ("discrete",),
    "SAC": ("continuous",),
}


def subjects(target: Any, seed: int = 0) -> list[Pieces]:
    """Return the pieces of `target`: a text, a class, an instance, a function or `Pieces`.

    Texts are `sb3:PPO`, `torchrl:module:make` and `module:name`.

    Raises:
        InputError: it is none of these.
    """
    if isinstance(target, str):
        if target.lower().startswith("sb3:"):
            return subjects(_sb3_class(target[4:]), seed)
        if target.startswith(TORCHRL):
            from .adapters.torchrl import build_all

            return build_all(target.removeprefix(TORCHRL), seed)
        return subjects(load_target(target), seed)
    if isinstance(target, Pieces):
        return [target]
    if isinstance(target, type):
        return _of_class(cast(Any, target), seed)
    parts: list[Any] = [*target] if isinstance(target, (list, tuple)) else []
    if parts and all(isinstance(part, Pieces) for part in parts):
        return parts
    trainer = cast(Any, target)
    known = _of_instance(trainer)
    if known is not None:
        return [known]
    if callable(trainer):
        return subjects(_called(trainer, seed), seed)
    raise InputError(f"{type(trainer).__name__} is not a trainer that is known.", HINT)


HINT = (
    "Give sb3:PPO|A2C|DQN|SAC|TD3|DDPG, torchrl:module:make, a class derived from an algorithm of SB3 or from a "
    "trainer of firstbreak.trainers, or a function that returns firstbreak.preflight.invariants.pieces.Pieces."
)


def _called(function: Any, seed: int) -> Any:
    """Call the user's function, or the one that it carries as `pieces`, with the seed where it takes one."""
    function = getattr(function, "pieces", function)
    parameters = inspect.signature(function).parameters
    given = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    asked = [n for n, p in parameters.items() if p.default is p.empty and p.kind not in given and n != "seed"]
    if asked:
        name = getattr(function, "__name__", str(function))
        raise InputError(
            f"{name} wants {', '.join(asked)}: it trains, and does not show the parts of its trainer.",
            f"Write a function that returns them and tie it on: {name}.pieces = that function. {HINT}",
        )
    found = function(seed=seed) if "seed" in parameters else function()
    if found is None or found is function:
        raise InputError(f"{getattr(function, '__name__', function)} returned nothing to look at.", HINT)
    return found


def _sb3_class(name: str) -> type:
    try:
        import stable_baselines3
    except ImportError as error:
        raise missing_extra("stable_baselines3", "sb3", "Looking at a Stable-Baselines3 trainer") from error
    for known in SB3:
        if known == name.upper():
            return getattr(stable_baselines3, known)
    raise unknown_name("algorithm of Stable-Baselines3 that is known here", name, SB3)


def _of_class(target: type, seed: int) -> list[Pieces]:
    from .adapters import reference

    found = reference.algorithm_of(target)
    if found is not None:
        return _kinds(reference.build, target, REFERENCE[found[0]], seed)
    family = _sb3_family(target)
    if family is not None:
        return _kinds(_sb3_adapter(family).build, target, SB3[family], seed)
    if callable(getattr(target, "reset", None)) and callable(getattr(target, "step", None)):
        name = f"{target.__module__}:{target.__name__}"
        raise InputError(
            f"{target.__name__} is an environment, not a trainer.", f"Try: firstbreak preflight env {name}"
        )
    raise InputError(f"{target.__name__} is not a class of trainers that is known.", HINT)


def _kinds(build: Any, target: type, kinds: Sequence[str], seed: int) -> list[Pieces]:
    """The faces that the class can show: one that it refuses (gSDE with discrete actions) is left out, not all."""
    found: list[Pieces] = []
    refused: list[Exception] = []
    for kind in kinds:
        try:
            found.append(build(target, kind, seed))
        except (ValueError, AssertionError, NotImplementedError, InputError) as error:
            refused.append(error)
    if not found:
        raise refused[0]
    return found


def _of_instance(target: Any) -> Pieces | None:
    from .adapters import reference

    kind = cast(Any, type(target))
    found = reference.algorithm_of(kind)
    if found is not None:
        return reference.pieces_of(target, found[0], "", [])
    family = _sb3_family(kind)
    if family is None:
        return None
    adapter = _sb3_adapter(family)
    return (adapter.OnPolicy if family in {"PPO", "A2C"} else adapter.OffPolicy)(target, "", []).pieces()


def _sb3_family(kind: type) -> str | None:
    """The algorithm of Stable-Baselines3 that `kind` derives from; it need not be imported for other classes."""
    for ancestor in kind.__mro__:
        if ancestor.__module__.startswith("stable_baselines3.") and ancestor.__name__ in SB3:
            return ancestor.__name__
    return None


def _sb3_adapter(family: str) -> Any:
    from .adapters import sb3_off_policy, sb3_on_policy

    return sb3_on_policy if family in {"PPO", "A2C"} else sb3_off_policy
