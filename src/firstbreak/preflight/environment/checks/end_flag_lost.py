"""The check `end-flag-lost`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..layers import Layer, layers_of
from ..recorded import NOTHING
from ..trying import tried
from ..world import World


@check(
    "PEN038",
    "end-flag-lost",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Hand both flags on unchanged, and stop at the first.",
)
def look(world: World) -> Answer:
    """A wrapper loses or changes an end flag of the environment inside.

    What is measured:
        The flags that each layer of wrappers returns in the same step, and whether a layer is stepped again after it
        had ended.

    Why it hurts:
        A lost end lets the episode run on in a state that is over; truncated turned into terminated teaches that the
        future is worth nothing.

    Usual causes:
        A repeat loop that does not stop; one done flag for both ends; flags overwritten by the last of several
        frames.

    What to try:
        Stop the loop at the first end; hand both flags on unchanged.

    When it is harmless:
        A wrapper that is meant to ignore ends.

    References:
        Fault list E05; Pardo et al. 2018, arXiv 1712.00378.
    """
    if not world.episodes:
        return NOTHING
    if world.kind != "gymnasium":
        return Skip("not made of wrappers that can be looked into")
    layers = tried(lambda: layers_of(world))
    if isinstance(layers, Skip):
        return layers
    found = lost_flags(layers)
    if not found:
        return None
    name, what = next(iter(found))
    return Symptom(
        f"{name}: {what} in {found[name, what]} of {len(layers[0].steps)} steps"[:120],
        "terminated",
        {"layer": name, "times": found[name, what], "steps": len(layers[0].steps)},
    )


def lost_flags(layers: Sequence[Layer]) -> Counter[tuple[str, str]]:
    """Return how often which wrapper did what to the flags of the layer inside it."""
    found: Counter[tuple[str, str]] = Counter()
    for outer, inner in pairwise(layers):
        for above, below in zip(outer.steps, inner.steps, strict=True):
            ends = [i for i, c in enumerate(below) if c.flags is not None and any(c.flags)]
            flags = above[-1].flags if above else None
            if not ends or flags is None:
                continue
            terminated, truncated = (any(c.flags[k] for c in below if c.flags is not None) for k in (0, 1))
            if ends[0] < len(below) - 1:
                found[outer.name, "steps on after the end inside"] += 1
            elif not any(flags):
                found[outer.name, "drops the end inside"] += 1
            elif truncated and not terminated and flags == (True, False):
                found[outer.name, "reports truncated as terminated"] += 1
            elif terminated and not truncated and flags == (False, True):
                found[outer.name, "reports terminated as truncated"] += 1
    return found
