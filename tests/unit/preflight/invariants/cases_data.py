"""Cases of the checks on what is stored and what the environments saw, on the reference trainers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import torch

from firstbreak.preflight.invariants.gae import slow_gae
from firstbreak.trainers.dqn import DQN
from firstbreak.trainers.ppo import PPO
from firstbreak.trainers.sac import SAC
from tests.probes import mutants_dqn, mutants_mmrkhs, mutants_ppo, mutants_sac, unseen_on_policy
from tests.probes.planting import built_otherwise, edited

from .case import Case, made
from .recurrent_ppo import remembering


class GreedyAtFirst(mutants_dqn.dqn_epsilon_zero):
    """A last layer of zeros, but one action in four is random."""

    @property
    def epsilon(self) -> float:
        return 0.25


class CosineEpsilon(DQN):
    """Falls along a cosine, over the whole run, to where the settings say."""

    @property
    def epsilon(self) -> float:
        start, end = self.config.epsilon_start, self.config.epsilon_end
        return end + (start - end) * (1 + math.cos(math.pi * self.env_steps / max(1, self.total_steps))) / 2


class UnbiasedSpread(PPO):
    """The spread of the advantages is logged with n - 1 in its denominator."""

    def update(self, rollout: Any) -> dict[str, float]:
        n, metrics = rollout.numel(), super().update(rollout)
        return {**metrics, "advantage/std": metrics["advantage/std"] * math.sqrt(n / (n - 1))}


class WithoutReplacement(DQN):
    """A sample holds no row twice."""

    def sample(self) -> Any:
        held: Any = self.buffer
        return held[torch.randperm(len(held))[: self.config.batch_size]]


class ScoredLater(PPO):
    """Log-probs are computed for the whole rollout at once, from what was stored."""

    def collect(self) -> Any:
        rollout: Any = super().collect()
        with torch.no_grad():
            flat = rollout.reshape(-1)
            rollout["log_prob"] = self.log_prob(flat).reshape(rollout.shape)
        return rollout


class SlowGAE(PPO):
    """Advantages by a loop over single numbers in float64."""

    def advantages(self, rollout: Any) -> Any:
        names = ("reward", "value", "next_value", "terminated", "truncated")
        columns = {k: rollout[k].transpose(0, 1) for k in names}
        found = slow_gae(columns, self.config.gamma, self.config.gae_lambda).float().transpose(0, 1)
        rollout["advantage"], rollout["value_target"] = found, found + rollout["value"]
        return rollout


FLAG = '"terminated": after["terminated"].squeeze(-1),'
ENDED = '(after["terminated"] | after["truncated"]).squeeze(-1),'
truncation_as_termination = edited(DQN, collect=(FLAG, f'"terminated": {ENDED}'))
with_done_column = edited(DQN, collect=(FLAG, f'{FLAG} "done": {ENDED}'))
with_reset_column = edited(
    SAC,
    collect=('"next_obs": after["observation"]', '"next_obs": after["observation"], "new": self._now["observation"]'),
)
wide_reward_clip = edited(
    DQN, collect=('after["reward"].squeeze(-1)', 'after["reward"].squeeze(-1).clamp(-99.0, 99.0)')
)


def _wide_epsilon(trainer: Any) -> None:
    trainer.optimiser.param_groups[0]["eps"] = 1e-3


WideEpsilon = built_otherwise(PPO, _wide_epsilon)
"""An epsilon of 1e-3, about the size of the gradients."""
NoBonus = built_otherwise(PPO, lambda trainer: setattr(trainer, "config", replace(trainer.config, entropy_coef=0.0)))
"""A coefficient of 0: no bonus, and so none that lacks a gradient."""

CASES: dict[str, Case] = {
    "optimiser-epsilon-dominates": Case(
        made(unseen_on_policy.ppo_adam_epsilon_large), made(PPO), made(WideEpsilon), "an epsilon like the gradients"
    ),
    "entropy-bonus-without-gradient": Case(
        made(unseen_on_policy.ppo_entropy_without_gradient), made(PPO), made(NoBonus), "a coefficient of 0"
    ),
    "action-range-not-covered": Case(
        made(mutants_sac.sac_action_not_rescaled, "continuous"),
        made(SAC, "continuous"),
        made(PPO, "continuous"),
        "a Gaussian, clipped to the bounds",
    ),
    "schedule-not-followed": Case(
        made(mutants_dqn.dqn_epsilon_not_decayed), made(DQN), made(CosineEpsilon), "another way to the same end"
    ),
    "logged-value-differs": Case(
        made(mutants_mmrkhs.mmrkhs_metrics_divided_by_updates), made(PPO), made(UnbiasedSpread), "n - 1 in place of n"
    ),
    "one-action-only": Case(
        made(mutants_dqn.dqn_epsilon_zero), made(DQN), made(GreedyAtFirst), "mostly the same action"
    ),
    "stored-action-not-executed": Case(
        made(mutants_dqn.dqn_greedy_action_stored), made(DQN), made(PPO, "continuous"), "stored before it is clipped"
    ),
    "stored-reward-differs": Case(
        made(mutants_dqn.dqn_reward_clipped), made(DQN), made(wide_reward_clip), "a clip that no reward reaches"
    ),
    "next-observation-after-reset": Case(
        made(mutants_sac.sac_next_obs_after_autoreset, "continuous"),
        made(SAC, "continuous"),
        made(with_reset_column, "continuous"),
        "the observation after the reset is stored as well",
    ),
    "truncation-stored-as-termination": Case(
        made(truncation_as_termination), made(DQN), made(with_done_column), "done is stored as well"
    ),
    "replay-keeps-oldest": Case(
        made(mutants_dqn.dqn_buffer_never_overwritten), made(DQN), made(WithoutReplacement), "drawn without replacement"
    ),
    "replay-sampling-not-uniform": Case(
        made(mutants_dqn.dqn_samples_oldest_only), made(DQN), made(WithoutReplacement), "drawn without replacement"
    ),
    "ratio-not-one-on-fresh-data": Case(
        made(mutants_ppo.ppo_stale_half_batch), made(PPO), made(ScoredLater), "scored after the rollout"
    ),
    "rollout-advantage-wrong": Case(
        made(mutants_ppo.ppo_truncated_cuts_bootstrap), made(PPO), made(SlowGAE), "another way to compute them"
    ),
    "memory-crosses-episodes": Case(
        remembering("never"), remembering("masked"), remembering("late_burn_in"), "memory of the two steps before alone"
    ),
}
