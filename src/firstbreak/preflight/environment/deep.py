"""Episodes that last: random play often ends early, and what happens later would go unseen.

Simple policies (held actions, random linear ones) are tried; the longest of their episodes are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .budget import Budget, Purse
from .recorder import Choose, Player
from .world import Array, Episode, World

ENOUGH_STEPS = 500
"""Episodes at least this long, or as long as the declared limit, need no search."""
KEPT = 6
MOST_COLUMNS = 256
TRIALS = 60


def deep_episodes(world: World, player: Player, budget: Budget, most_depth: int | None = None) -> tuple[Episode, ...]:
    """Return up to `KEPT` episodes longer than any random one; none when random play gets deep by itself."""
    wanted = min(ENOUGH_STEPS, world.time_limit or ENOUGH_STEPS)
    longest = max(e.length for e in world.episodes)
    cut = any(e.truncated[-1] for e in world.episodes if e.ended and e.length == longest)
    if longest >= wanted or cut:  # random play gets as deep as there is
        return ()
    draw = np.random.default_rng(world.seed + 1)
    purse = Purse(budget)
    env = world.make()
    kept: list[Episode] = []
    best: tuple[int, Array] | None = None
    most = wanted + 20 if most_depth is None else min(wanted + 20, most_depth)
    for trial in range(TRIALS):
        if purse.empty or not purse.left_steps(player.row_bytes) or sum(e.length >= wanted for e in kept) >= 3:
            break
        weights = _weights(world, draw, best)
        choose = _linear(world.action_space, weights) if weights is not None else None
        if choose is None or trial % 6 == 5:
            choose = _held(world.action_space, draw, 10_000 + trial)
            weights = None
        try:
            episode = player.episode(env, world.seed + 5000 + trial, choose, most, purse)
        except Exception:
            break  # noted as a trouble
        purse.steps += episode.length
        purse.episodes += 1
        if weights is not None and (best is None or episode.length > best[0]):
            best = (episode.length, weights)
        if episode.length > longest:
            kept = sorted([*kept, episode], key=lambda e: -e.length)[:KEPT]
    return tuple(kept)


def _weights(world: World, draw: np.random.Generator, best: tuple[int, Array] | None) -> Array | None:
    """Weights [A, D + 1] on observations in units of their spread: new ones, or the best so far a little changed."""
    rows = np.concatenate([e.observations for e in world.episodes[:30]])
    if rows.shape[1] > MOST_COLUMNS:
        return None
    outputs = _outputs(world.action_space)
    if outputs == 0:
        return None
    spread = np.nan_to_num(rows, posinf=0, neginf=0).std(axis=0)
    fresh = draw.normal(size=(outputs, rows.shape[1])) / np.where(spread > 1e-9, spread, 1.0)
    if best is None or draw.random() < 0.5:
        return fresh
    return best[1] + 0.3 * fresh


def _outputs(space: Any) -> int:
    if hasattr(space, "low") and hasattr(space, "high"):
        return int(np.size(space.low))
    return int(space.n) if hasattr(space, "n") and not getattr(space, "shape", ()) and space.n <= 64 else 0


def _linear(space: Any, weights: Array) -> Choose:
    def box(row: Array, info: Any) -> Any:
        del info
        low, high = _ends(space)
        squashed = np.tanh(weights @ np.nan_to_num(row)).reshape(space.shape)
        return (low + (squashed + 1) / 2 * (high - low)).astype(space.dtype)

    def choice(row: Array, info: Any) -> Any:
        del info
        return space.dtype.type(int(np.argmax(weights @ np.nan_to_num(row))) + int(getattr(space, "start", 0)))

    return box if hasattr(space, "low") else choice


def _ends(space: Any) -> tuple[Array, Array]:
    low, high = np.asarray(space.low, float), np.asarray(space.high, float)
    return np.where(np.isfinite(low), low, -1.0), np.where(np.isfinite(high), high, 1.0)


def _held(space: Any, draw: np.random.Generator, seed: int) -> Choose:
    """Random actions, each held for a random number of steps."""
    import copy

    own = copy.deepcopy(space)
    own.seed(seed)
    state: dict[str, Any] = {"left": 0, "action": None}

    def choose(row: Array, info: Any) -> Any:
        del row, info
        if state["left"] <= 0:
            state["left"], state["action"] = int(draw.integers(1, 12)), own.sample()
        state["left"] -= 1
        return state["action"]

    return choose
