"""The mutants of the reference SAC, by id with underscores; what each changes is in mutants.toml.

`train_<id>` is the same mutant as a `train` function.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from firstbreak.trainers.sac import SAC, SACConfig
from firstbreak.trainers.squashed_gaussian import SquashedGaussian

from .planting import built_otherwise, edited, train_function

NOT_PLANTED: dict[str, str] = {}
"""Ids of the list that this trainer has no place for, and why."""


def __getattr__(name: str) -> Any:
    return train_function(name, globals(), SACConfig)


# ---- critics and their target ---------------------------------------------------------------------------------------

ENTROPY = " - self.alpha * log_prob"
MASKED = "* soft_value"


def _same_twins(trainer: Any) -> None:
    for first, second in (trainer.critics, trainer.target_critics):
        second.load_state_dict(first.state_dict())


sac_twins_max = edited(SAC, td_target=("torch.minimum(", "torch.maximum("))
sac_twins_identical = built_otherwise(SAC, _same_twins)
sac_target_never_updated = edited(SAC, step=("self.sync_target()", "pass"))
sac_tau_swapped = edited(SAC, sync_target=("self.config.tau", "1.0 - self.config.tau"))
sac_entropy_missing_from_target = edited(SAC, td_target=(ENTROPY, ""))
sac_entropy_not_masked = edited(
    SAC, td_target=[(ENTROPY, ""), (MASKED, f"{MASKED} - self.gamma * self.alpha * log_prob")]
)
sac_truncated_cuts_bootstrap = edited(
    SAC, td_target=('(~sample["terminated"])', '(~(sample["terminated"] | sample["truncated"]))')
)
sac_discount_missing = edited(SAC, td_target=("self.gamma * ", ""))
sac_critic_scores_new_action = edited(
    SAC,
    critic_loss=[
        ("    first, second =", '    fresh = self.actor.sample(sample["obs"])[0].detach()\n    first, second ='),
        ('sample["action"]', "fresh"),
    ],
)

# ---- the losses of actor and temperature ----------------------------------------------------------------------------

sac_actor_not_reparameterised = edited(
    SAC,
    actor_loss=(
        "    with frozen(",
        '    action = action.detach()\n    log_prob = self.actor.log_prob(sample["obs"], action)\n    with frozen(',
    ),
)
sac_actor_sign_flipped = edited(SAC, actor_loss=("log_prob - torch.minimum(", "log_prob + torch.minimum("))
sac_alpha_sign = edited(SAC, alpha_loss=("return -self.alpha", "return self.alpha"))
sac_alpha_detached = edited(SAC, alpha_loss=("return -self.alpha", "return 0.0 * self.log_alpha - self.alpha.detach()"))


class _NoCorrection(SquashedGaussian):
    """The density of the Gaussian before tanh."""

    def _log_density(self, before_tanh: Any, noise: Any, log_std: Any) -> Any:
        return (-0.5 * noise**2 - log_std - 0.5 * math.log(2.0 * math.pi)).sum(-1)


def _without_correction(trainer: Any) -> None:
    trainer.actor.__class__ = _NoCorrection


sac_log_det_missing = built_otherwise(SAC, _without_correction)

# ---- data and optimisers --------------------------------------------------------------------------------------------


def _ignores_bounds(trainer: Any) -> None:
    """The actor works in [-1, 1], consistently, whatever the environment's bounds are."""
    actor = trainer.actor
    with torch.no_grad():
        actor.log_density_offset.add_(actor.half_range.log().sum())
        actor.centre.zero_()
        actor.half_range.fill_(1.0)
    trainer.target_entropy = trainer._target_entropy()


sac_action_not_rescaled = built_otherwise(SAC, _ignores_bounds)
sac_next_obs_after_autoreset = edited(
    SAC, collect=('"next_obs": after["observation"]', '"next_obs": self._now["observation"]')
)
STRETCH = "(action - self.actor.centre) / self.actor.half_range"
sac_unsquashed_action_stored = edited(
    SAC,
    collect=[
        ("    stepped, self._now", "    kept = action\n    stepped, self._now"),
        ('"action": action,', '"action": kept,'),
        (
            "    kept = action\n",
            "    drawn = self.env_steps >= self.random_steps\n"
            f"    kept = torch.atanh(({STRETCH}).clamp(-1 + 1e-6, 1 - 1e-6)) if drawn else action\n",
        ),
    ],
)
sac_actor_optimiser_holds_critic = edited(
    SAC,
    _build_optimisers=("Adam(self.actor.parameters(),", "Adam([*self.actor.parameters(), *twins],"),
    actor_loss=("with frozen(self.weights_of_twins):", "with frozen([]):"),
)
