"""The check `wrapper-order`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity, Skip
from ..layers import layers_of
from ..orders import clipped, limit_outside_statistics, statistics_outside_stack, two_limits
from ..recorded import NOTHING
from ..trying import tried
from ..world import World


@check(
    "PEN039",
    "wrapper-order",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Order them: limit, clip, rescale, statistics, stack.",
)
def look(world: World) -> Answer:
    """Wrappers are in an order that undoes one of them.

    What is measured:
        The chain of wrappers: two time limits, a time limit outside the layer that records episodes, statistics
        outside a stack of frames, and a clip that cuts actions which another wrapper has already scaled.

    Why it hurts:
        The outer limit never acts, cut episodes have no return in the log, the statistics mix frames, or half of the
        action range does nothing while log-probabilities count it.

    Usual causes:
        Wrappers added in the order in which they came to mind.

    What to try:
        From the inside out: TimeLimit, clip, rescale, observation statistics, frame stack.

    When it is harmless:
        A second, equal time limit.

    References:
        Gymnasium, wrappers; failure modes R20.
    """
    if not world.episodes:
        return NOTHING
    if world.kind != "gymnasium":
        return Skip("not made of wrappers that can be looked into")
    layers = tried(lambda: layers_of(world))
    if isinstance(layers, Skip):
        return layers
    found_in_turn = (
        clipped(layers, world.action_space),
        limit_outside_statistics(layers),
        two_limits(layers),
        statistics_outside_stack(layers),
    )
    for found in found_in_turn:
        if found is not None:
            return found
    return None
