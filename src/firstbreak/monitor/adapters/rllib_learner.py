"""What RLlib's learner knows and does not log: advantages and importance ratios of the minibatches."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch

from ...errors import missing_extra
from ..tensors import advantages, importance_ratios
from .rllib import OWN

try:
    PPOTorchLearner: Any = import_module("ray.rllib.algorithms.ppo.torch.ppo_torch_learner").PPOTorchLearner
except ImportError as error:
    raise missing_extra("ray", "rllib", "The RLlib learner") from error

KEPT = (
    "advantage/mean", "advantage/std", "advantage/min", "advantage/max", "advantage/abs_mean", "policy/ratio_mean",
    "policy/ratio_max", "policy/ratio_min", "policy/ess", "policy/clip_fraction",
)  # fmt: skip
"""Logged under their canonical names."""
ACTIONS, LOGITS, LOG_PROB, MASK, ADVANTAGES = (
    "actions", "action_dist_inputs", "action_logp", "loss_mask", "advantages",
)  # fmt: skip
"""RLlib's names of what a batch holds (`Columns`, `Postprocessing`)."""
EXTREMES = {"policy/ratio_max": "max", "policy/ratio_min": "min", "advantage/max": "max", "advantage/min": "min"}


class MonitorLearner:
    """Mix this into a PyTorch learner of RLlib, before it: `class Mine(MonitorLearner, PPOTorchLearner): ...`.

    Numbers stay on the device until RLlib reduces its own. Means are over the minibatches of an iteration, extremes
    over all of them. Batches without advantages (DQN, SAC) add nothing.
    """

    metrics: Any
    module: Any

    def compute_loss_for_module(self, *, module_id: Any, config: Any, batch: Any, fwd_out: Any) -> Any:
        """Return the loss as it is, having looked at what it was made of."""
        below: Any = super()
        loss = below.compute_loss_for_module(module_id=module_id, config=config, batch=batch, fwd_out=fwd_out)
        if ADVANTAGES in batch and LOG_PROB in batch:
            self._note(module_id, config, batch, fwd_out)
        return loss

    @torch.no_grad()
    def _note(self, module_id: Any, config: Any, batch: Any, fwd_out: Any) -> None:
        distribution = self.module[module_id].unwrapped().get_train_action_dist_cls()
        now = distribution.from_logits(fwd_out[LOGITS]).logp(batch[ACTIONS])
        weights, mask = batch[ADVANTAGES], batch.get(MASK)
        clip = getattr(config, "clip_param", None)
        found = importance_ratios(now, batch[LOG_PROB], clip_range=clip, mask=mask)
        found |= advantages(weights, mask=mask)
        for name in KEPT:
            if name in found:
                self.metrics.log_value((module_id, OWN, name), found[name], reduce=EXTREMES.get(name, "mean"))


class PPOLearner(MonitorLearner, PPOTorchLearner):
    """RLlib's PPO learner, which also reports advantages and importance ratios."""
