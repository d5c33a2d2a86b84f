"""Wrappers that normalise by running statistics, warmed up once and held still, so that two plays can be compared.

`NormalizeObservation` and `NormalizeReward` of Gymnasium learn over all episodes. That is what they are for; taken as
they are, the same seed and actions never look the same twice, and each looks like a fault of the environment.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable
from typing import Any

from .layers import chain
from .recording import close_quietly

WARM_STEPS = 1000
"""Random steps from which the statistics are taken. Engineering default: the mean is then good to a few hundredths of a
standard deviation."""
STATISTICS = ("obs_rms", "return_rms")
"""Attributes in which Gymnasium's wrappers, single and vector, keep what they learn."""


def normalisers(env: Any) -> list[Any]:
    """Return the layers of `env` that keep running statistics and can be told to hold them, from the outside in."""
    return [one for one in chain(env) if _holds(one) and any(hasattr(one, name) for name in STATISTICS)]


def held_still(make: Callable[[], Any]) -> tuple[Callable[[], Any], tuple[str, ...]]:
    """Return a factory whose environments normalise by the same fixed statistics, and the names of the layers held.

    Without such a layer `make` itself comes back.

    Raises:
        Exception: whatever making the environment raised.
    """
    env = make()
    try:
        found = normalisers(env)
        if not found:
            return make, ()
        _warm(env)
        kept = [copy.deepcopy(_statistics(one)) for one in found]
        names = tuple(type(one).__name__ for one in found)
    finally:
        close_quietly(env)

    def still() -> Any:
        fresh = make()
        for layer, statistics in zip(normalisers(fresh), kept, strict=False):
            for name, value in statistics.items():
                setattr(layer, name, copy.deepcopy(value))
            layer.update_running_mean = False
        return fresh

    return still, names


def _holds(layer: Any) -> bool:
    """Whether its class has the switch; an instance would answer for the wrappers inside it as well."""
    kind: Any = layer.__class__
    return isinstance(getattr(kind, "update_running_mean", None), property)


def _statistics(layer: Any) -> dict[str, Any]:
    return {name: getattr(layer, name) for name in STATISTICS if hasattr(layer, name)}


def _warm(env: Any) -> None:
    """Play at random; what goes wrong here goes wrong again while recording, and is told there."""
    with contextlib.suppress(Exception):
        space = copy.deepcopy(env.action_space)
        space.seed(0)
        env.reset(seed=0)
        for _ in range(WARM_STEPS):
            told = env.step(space.sample())
            if told[2] or told[3]:
                env.reset()
