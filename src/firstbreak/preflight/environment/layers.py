"""What passes between the wrappers of one environment: actions on the way in, end flags on the way out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .recorder import copy_of
from .recording import close_quietly
from .remembered import remembered
from .shapes import attributes_of, is_tuple
from .world import World

STEPS = 600
DEEPEST = 30


@dataclass
class Call:
    """One call of `step` on a layer: the action it got and the flags it returned, None when it raised."""

    action: Any
    flags: tuple[bool, bool] | None = None


@dataclass
class Layer:
    """One wrapper, or the environment itself (the last layer)."""

    name: str
    env: Any
    steps: list[list[Call]] = field(default_factory=list[list[Call]])
    """For each outer step, the calls that reached this layer."""
    open: bool = False
    """Whether an outer step is under way."""


def layers_of(world: World) -> tuple[Layer, ...]:
    """Return the layers of `world` from the outside in, with what passed between them in some random episodes."""
    return remembered(world, "layers", lambda: _layers(world))


def chain(env: Any) -> list[Any]:
    """Return the wrappers of `env` from the outside in, the environment itself last."""
    found = [env]
    for _ in range(DEEPEST):
        inner: Any = attributes_of(found[-1]).get("env")
        if inner is None or not hasattr(inner, "step"):
            break
        found.append(inner)
    return found


def _layers(world: World) -> tuple[Layer, ...]:
    env = world.make()
    layers = [Layer(type(one).__name__, one) for one in chain(env)[1:]]  # the outermost is our own
    try:
        for layer in layers:
            _tap(layer)
        _play(world, env, layers)
    finally:
        close_quietly(env)
    return tuple(layers)


def _tap(layer: Layer) -> None:
    """Replace `step` of one layer, on this instance only, by one that notes what passes."""
    inner = layer.env.step

    def step(action: Any) -> Any:
        call = Call(copy_of(action))
        if layer.open:  # some environments call their own step in reset
            layer.steps[-1].append(call)
        told = inner(action)
        if is_tuple(told, 5):
            call.flags = (bool(np.any(told[2])), bool(np.any(told[3])))
        return told

    layer.env.step = step


def _play(world: World, env: Any, layers: list[Layer]) -> None:
    cost = float(world.facts.get("seconds_per_step", 1e-4))
    left = min(STEPS, max(60, int(1.0 / cost)))
    for episode in sorted(world.all_episodes, key=lambda e: not e.ended)[:40]:
        env.reset(seed=episode.seed)
        for action in episode.actions:
            for layer in layers:
                layer.steps.append([])
                layer.open = True
            told = env.step(copy_of(action))
            left -= 1
            for layer in layers:
                layer.open = False
            if told[2] or told[3]:
                break
        if left <= 0:
            return
