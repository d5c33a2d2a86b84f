"""The check `action-not-rescaled`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..layers import Layer, layers_of
from ..recorded import NOTHING
from ..trying import tried
from ..world import Array, World

NORMALISED = ((-1.0, 1.0), (0.0, 1.0))
"""The ranges that wrappers rescale to; any other that is narrower than the inner one is taken for meant."""
LEAST_STEPS = 10


@check(
    "PEN079",
    "action-not-rescaled",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Scale the action from the declared range to the inner one (gymnasium.wrappers.RescaleAction).",
)
def look(world: World) -> Answer:
    """A wrapper declares normalised actions and hands them on unscaled to an environment with another range.

    What is measured:
        The bounds that the outermost layer and the innermost environment declare, and the actions that arrive there
        in recorded play.

    Why it hurts:
        Part of the actuators' range cannot be reached, or the environment clips what lies beyond it: the task is
        another one than the one described, often one that cannot be solved.

    Usual causes:
        A wrapper that replaces action_space and forgets the factor; a rescaling that was lost in a refactoring.

    What to try:
        Print the action that the innermost step gets for the two ends of the declared range.

    When it is harmless:
        When the range was narrowed on purpose, and to exactly -1 to 1 or 0 to 1.

    References:
        muPRL, missing normalisation of actions; cleanrl pull request 211; Gymnasium, wrappers.RescaleAction.
    """
    if not world.episodes:
        return NOTHING
    if world.kind != "gymnasium":
        return Skip("not made of wrappers that can be looked into")
    layers = tried(lambda: layers_of(world))
    if isinstance(layers, Skip):
        return layers
    if len(layers) < 2:
        return Skip("no wrapper lies around it")
    outer, inner = _bounds(world.action_space), _bounds(getattr(layers[-1].env, "action_space", None))
    if outer is None or inner is None or outer[0].shape != inner[0].shape:
        return Skip("no bounded actions pass through a wrapper")
    odd = [d for d in range(len(outer[0])) if _range(outer, d) in NORMALISED and _range(outer, d) != _range(inner, d)]
    if not odd or not _unchanged(layers):
        return None
    (low, high), (inner_low, inner_high) = _range(outer, odd[0]), _range(inner, odd[0])
    return Symptom(
        f"actions declared {low:g} to {high:g} arrive unscaled at {layers[-1].name}, which takes "
        f"{inner_low:g} to {inner_high:g}"[:120],
        f"action[{odd[0]}]",
        {"low": low, "high": high, "inner_low": inner_low, "inner_high": inner_high, "dimensions": len(odd)},
    )


def _bounds(space: Any) -> tuple[Array, Array] | None:
    """The finite bounds of a Box as vectors; None for any other space."""
    if not (hasattr(space, "low") and hasattr(space, "high")):
        return None
    low, high = np.ravel(np.asarray(space.low, float)), np.ravel(np.asarray(space.high, float))
    return (low, high) if low.size and bool(np.isfinite(low).all() and np.isfinite(high).all()) else None


def _range(bounds: tuple[Array, Array], dimension: int) -> tuple[float, float]:
    return float(bounds[0][dimension]), float(bounds[1][dimension])


def _unchanged(layers: tuple[Layer, ...]) -> bool:
    """Whether every action arrived at the innermost environment as it was given to the outermost layer."""
    pairs = [(a[0].action, b[0].action) for a, b in zip(layers[0].steps, layers[-1].steps, strict=True) if a and b]
    given = [(np.ravel(np.asarray(a, float)), np.ravel(np.asarray(b, float))) for a, b in pairs]
    return len(given) >= LEAST_STEPS and all(a.shape == b.shape and bool(np.allclose(a, b)) for a, b in given)
