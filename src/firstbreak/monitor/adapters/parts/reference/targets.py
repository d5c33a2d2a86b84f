"""Whether the target networks of a reference trainer compute what the networks that they follow compute."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..weights.target_answers import ROWS, unlike
from ..weights.untouched import untouched


def targets_unlike(trainer: Any) -> dict[str, float]:
    """Ask both about the oldest rows of the replay buffer; nothing where there is no buffer, or no target network."""
    buffer = getattr(trainer, "buffer", None)
    if buffer is None or len(buffer) < ROWS:
        return {}
    rows = buffer[np.arange(ROWS)]  # draws no random number, as a sample would
    if hasattr(trainer, "target_network"):
        with untouched(trainer.q_network, trainer.target_network):
            return unlike([(trainer.q_network, trainer.target_network, (rows["next_obs"],))])
    critics, targets = list(getattr(trainer, "critics", ())), list(getattr(trainer, "target_critics", ()))
    if not targets or len(critics) != len(targets):
        return {}
    given = rows["next_obs"], rows["action"]
    with untouched(*critics, *targets):
        return unlike([(critic, target, given) for critic, target in zip(critics, targets, strict=True)])
