"""Whether the policy that a TorchRL collector plays with is the one that is trained, asked of some rows of a batch."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from ..player import EVERY
from ..weights.untouched import untouched
from .hooks import AFTER_UPDATES, owners
from .policy import holding_weights, inside, squashed

ROWS = 64
"""Rows of a batch that are asked about: one forward pass. Engineering choice."""
IN_PROCESS = ("Collector", "SyncDataCollector")
"""Collectors that play between two updates, in this process; others play while weights move."""


class PlayerOfTrainer:
    """Asks the policy in a trainer's loss about some of the steps that were collected; draws no random number.

    Only where both are meant to be the same: the collector's policy has the weights themselves, or it is a copy that
    `UpdateWeights` brings up to date, whose batches after that are looked at. A copy that lags by design is no mistake.
    """

    def __init__(self, trainer: Any) -> None:
        self.trainer = trainer
        self._shared: bool | None = None
        """Whether the collector's policy had the trained weights themselves when the first batch came."""
        self._steps = 0
        self._known = type(trainer.collector).__name__ in IN_PROCESS

    def look(self, batch: Any) -> Tensor | None:
        """Return the gap [] in nats on a batch as its collector made it; None where it is not asked."""
        before, self._steps = self._steps, self._steps + int(batch.numel())
        drawn = self.trainer.collected_frames < getattr(self.trainer.collector, "init_random_frames", 0)
        if not self._known or drawn or (before and before // EVERY == self._steps // EVERY) or not self.alike():
            return None
        self._known = False  # a look that fails is the last one
        rows = batch.reshape(-1)
        found = gap_of(self.trainer.loss_module, rows[:: max(1, len(rows) // ROWS)][:ROWS])
        self._known = True
        return found

    def alike(self) -> bool:
        """Whether who played this batch is meant to have the weights as the last update left them."""
        if self._shared is None:
            self._shared = _shared(self.trainer.collector, self.trainer.loss_module)
        if self._shared:
            return True
        for hook in owners(self.trainer, AFTER_UPDATES):
            every, counter = (getattr(hook, name, None) for name in ("update_weights_interval", "counter"))
            if isinstance(every, int) and isinstance(counter, int):
                batches = getattr(hook, "interval_unit", "batches") == "batches" and not getattr(hook, "sender", None)
                return batches and counter % every == 0
        return False


def gap_of(loss: Any, rows: Any) -> Tensor | None:
    """Return the mean distance [] of log-probabilities of actions, as they were drawn and under the trained policy.

    Of squashed actions by the parameters that were drawn from, where a batch keeps them: from the action alone the
    number before squashing is not known well. None where neither is kept.

    Args:
        loss: A loss module with a policy that is a distribution.
        rows: Of a batch [N].
    """
    actor = cast(Any, getattr(loss, "actor_network", None))
    keys = getattr(loss, "tensor_keys", None)
    action = rows.get(getattr(keys, "action", "action"), None)
    if not hasattr(actor, "get_dist") or not isinstance(action, Tensor):
        return None
    with untouched(loss), holding_weights(loss, "actor_network"):
        trained = actor.get_dist(rows.select(*actor.in_keys, strict=False))
        played: Any = None
        if not squashed(trained):
            played = rows.get(getattr(keys, "sample_log_prob", getattr(keys, "log_prob", "action_log_prob")), None)
        if played is None and all(rows.get(key, None) is not None for key in getattr(actor, "dist_params_keys", ())):
            played = actor.build_dist_from_params(rows).log_prob(action)
        now = trained.log_prob(action)
        if not isinstance(played, Tensor) or not isinstance(now, Tensor) or played.numel() != now.numel():
            return None
        apart = (played.reshape(-1) - now.reshape(-1)).abs()
        kept = apart.isfinite() & inside(trained, action)
        return torch.where(kept, apart, 0.0).sum() / kept.sum()  # NaN where none is kept


def _shared(collector: Any, loss: Any) -> bool:
    """Whether a collector's policy has weights of the loss, in the very same memory."""
    policy: Any = getattr(collector, "_wrapped_policy", None) or getattr(collector, "policy", None)
    theirs = {weight.data_ptr() for weight in policy.parameters()} if hasattr(policy, "parameters") else set[int]()
    return any(weight.data_ptr() in theirs for weight in loss.parameters())
