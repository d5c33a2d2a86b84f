"""Faults of the ninth live campaign in rollouts that are TensorDicts [copies, steps]; what they are: ninth.toml."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Change = Callable[[Any], Any]


def advantages_unsigned(rollout: Any) -> Any:
    """Advantages are taken without their sign."""
    return rollout.set("advantage", rollout["advantage"].abs())


def baseline_dropped(rollout: Any) -> Any:
    """What is learned from is the return, not what it is better than expected by."""
    return rollout.set("advantage", rollout["value_target"].clone())


def critic_learns_advantages(rollout: Any) -> Any:
    """The critic is taught advantages."""
    return rollout.set("value_target", rollout["advantage"].clone())


def log_probs_lost(name: str) -> Change:
    """Return what makes nothing of the log-probabilities `name` that come with a rollout."""
    return lambda rollout: rollout.set(name, torch.zeros_like(rollout[name]))


def half_written(*names: str) -> Change:
    """Return what leaves columns `names` in the second half of a rollout as they were in the one before."""
    kept: list[Any] = []

    def change(rollout: Any) -> Any:
        whole, half = rollout.clone(), rollout.shape[-1] // 2
        if kept:
            for name in names:
                rollout[name][:, half:] = kept[0][name][:, half:]
        kept[:] = [whole]
        return rollout

    return change


OF_ADVANTAGES: dict[str, Change] = {
    "advantages-unsigned": advantages_unsigned,
    "baseline-dropped": baseline_dropped,
    "critic-learns-advantages": critic_learns_advantages,
}
"""What is done once advantages are there."""
