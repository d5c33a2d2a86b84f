"""A sample of a replay buffer of Stable-Baselines3, and the places that it is of."""

from __future__ import annotations

from typing import Any, cast

from stable_baselines3.common.buffers import DictReplayBuffer, ReplayBuffer

from ....exchange.uniform_draws import UniformDraws

ALIKE = (ReplayBuffer, DictReplayBuffer)
"""Buffers that draw all their rows alike; one derived from them may draw otherwise on purpose."""


def drawn_from(model: Any, count: int, draws: UniformDraws) -> Any:
    """Return a sample of a model's buffer as training draws it; `draws` hears of its places. Draws random numbers."""
    buffer = model.replay_buffer
    if type(buffer) not in ALIKE:
        return buffer.sample(count, env=model._vec_normalize_env)
    # The places are handed to this method alone; on the instance it hides the class's until the draw is over.
    usual, own = buffer._get_samples, cast("dict[str, Any]", vars(buffer)).get("_get_samples")

    def heard(places: Any, *args: Any, **kwargs: Any) -> Any:
        draws.add(places, int(buffer.pos), int(buffer.size()))
        return usual(places, *args, **kwargs)

    buffer._get_samples = heard
    try:
        return buffer.sample(count, env=model._vec_normalize_env)
    finally:
        if own is None:
            del buffer._get_samples
        else:
            buffer._get_samples = own
