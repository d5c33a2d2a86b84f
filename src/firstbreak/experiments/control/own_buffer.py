"""Updates and whole rounds of SB3's on-policy trainers through the model's own rollout buffer.

`Pieces.update` puts a batch into a fresh buffer of the buffer's class. A trainer of the user's own may have changed the
buffer that it has (what `get` hands out, say), and that change is part of the update that an experiment is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ...preflight.invariants.adapters.attributes import kept_attributes
from ...preflight.invariants.pieces import Batch, Pieces

HELD = ("observations", "actions", "log_probs", "values", "advantages", "returns", "rewards", "episode_starts")
STATE = ("buffer_size", "n_envs", "pos", "full", "generator_ready")
COLUMNS = {"log_prob": "log_probs", "value": "values", "advantage": "advantages", "value_target": "returns"}


def through_own_buffer(pieces: Pieces, model: Any) -> None:
    """Let `pieces.update` and `pieces.logged` train on what the model's own buffer hands out."""

    def update(batch: Batch) -> None:
        import numpy as np

        buffer, rows = model.rollout_buffer, len(batch["obs"])
        with kept_attributes(buffer, *HELD, *STATE), kept_attributes(model, "n_epochs", "batch_size"):
            buffer.buffer_size, buffer.n_envs, buffer.pos, buffer.full = rows, 1, rows, True
            buffer.generator_ready = False
            buffer.observations = batch["obs"].numpy()[:, None].copy()
            buffer.actions = batch["action"].reshape(rows, 1, -1).numpy().astype(np.float32)
            for key, name in COLUMNS.items():
                setattr(buffer, name, batch[key].reshape(rows, 1).numpy().astype(np.float32))
            buffer.rewards = np.zeros((rows, 1), np.float32)
            buffer.episode_starts = np.zeros((rows, 1), np.float32)
            model.n_epochs, model.batch_size = 1, rows
            model.train()

    def logged() -> tuple[Batch, Mapping[str, float]]:
        rollout = cast("Any", pieces.rollout)()  # leaves its rows in the model's own buffer
        model.train()
        told = {str(k): float(v) for k, v in model.logger.name_to_value.items() if isinstance(v, int | float)}
        return rollout, told

    pieces.update, pieces.logged = update, logged
