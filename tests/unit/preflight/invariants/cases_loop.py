"""Cases of the checks on the loop around the losses: what is gone through, who plays, who is asked, when it begins."""

from __future__ import annotations

from typing import Any

import torch

from firstbreak.trainers.dqn import DQN
from firstbreak.trainers.mmrkhs import MMRKHS
from firstbreak.trainers.ppo import PPO
from firstbreak.trainers.sac import SAC
from tests.probes import unseen_harmless as odd
from tests.probes import unseen_on_policy as on_policy
from tests.probes import unseen_replay as replay
from tests.probes.planting import built_otherwise, edited

from .case import Case, made
from .cases_replay import SummedKL


class DropsPartialMinibatch(PPO):
    """Minibatches of 20 out of 48 rows; the last eight of each epoch are left out."""

    def minibatches(self, rollout: Any) -> Any:
        flat = rollout.reshape(-1)
        for rows in torch.randperm(len(flat)).split(20):
            if len(rows) == 20:
                yield flat[rows]


class SometimesRandom(SAC):
    """One action in ten is random, as a safeguard."""

    def collect(self) -> Any:
        now = self.env_steps
        self.env_steps = -1 if float(torch.rand(())) < 0.1 else max(now, self.random_steps)
        rows = super().collect()
        self.env_steps = now + len(rows)
        return rows


class BothAtOnce(SAC):
    """One call of the actor for observations and next observations."""

    @torch.no_grad()
    def td_target(self, sample: Any) -> Any:
        both = torch.cat([sample["obs"], sample["next_obs"]])
        action, log_prob = (part[len(sample["obs"]) :] for part in self.actor.sample(both))
        first, second = (critic(sample["next_obs"], action) for critic in self.target_critics)
        soft = torch.minimum(first, second) - self.alpha * log_prob
        return sample["reward"] + self.gamma * (~sample["terminated"]) * soft


class MeanOfDraws(SAC):
    """The deterministic action is the mean of many draws, always the same ones: not the squashed mean."""

    def act(self, obs: Any, deterministic: bool = False) -> Any:
        if not deterministic:
            return super().act(obs)
        with torch.random.fork_rng(), torch.no_grad():
            torch.manual_seed(0)
            rows = torch.as_tensor(obs, dtype=torch.float32).reshape(1, -1).expand(256, -1)
            return self.actor.sample(rows)[0].mean(0).reshape(self.action_low.shape).numpy()


class AmongTheOthers(DQN):
    """A random action is never the greedy one."""

    def explored(self, greedy: Any) -> Any:
        other = (greedy + torch.randint(1, self.actions, greedy.shape)) % self.actions
        return torch.where(torch.rand(greedy.shape) < self.epsilon, other, greedy)


def _freeze_actor(trainer: Any) -> None:
    next(w for w in trainer.actor.parameters() if w.dim() > 1).requires_grad_(False)


def _freeze_both(trainer: Any) -> None:
    _freeze_actor(trainer)
    next(w for w in trainer.critic.parameters() if w.dim() > 1).requires_grad_(False)


TWINS = "torch.minimum(first, second)"
LargerTwin = edited(SAC, actor_loss=(TWINS, "torch.maximum(first, second)"))
MeanTwin = edited(SAC, actor_loss=(TWINS, "(first + second) / 2"))
NeverStarts = edited(DQN, learn=("if self.env_steps <= self.random_steps:", "if self.gradient_steps == 0:"))
OWN = made(SAC, "continuous")

CASES: dict[str, Case] = {
    "epoch-misses-rows": Case(
        made(on_policy.ppo_rows_drawn_with_replacement), made(PPO), made(DropsPartialMinibatch), "a partial minibatch"
    ),
    "actions-ignore-policy": Case(
        made(replay.sac_always_random, "continuous"), OWN, made(SometimesRandom, "continuous"), "a tenth is random"
    ),
    "td-target-acts-at-this-observation": Case(
        made(replay.sac_next_action_at_this_observation, "continuous"),
        OWN,
        made(BothAtOnce, "continuous"),
        "one call for both observations",
    ),
    "actor-climbs-larger-twin": Case(
        made(LargerTwin, "continuous"), OWN, made(MeanTwin, "continuous"), "the mean of the twins"
    ),
    "deterministic-action-not-the-mode": Case(
        made(replay.sac_mode_not_squashed, "continuous"),
        OWN,
        made(MeanOfDraws, "continuous"),
        "a mean of draws",
    ),
    "kl-term-other-direction": Case(
        made(on_policy.mmrkhs_kl_other_way_round), made(MMRKHS), made(SummedKL), "summed by hand"
    ),
    "exploration-not-as-planned": Case(
        made(replay.dqn_exploration_inverted), made(DQN), made(AmongTheOthers), "random among the other actions"
    ),
    "no-update-before-end": Case(made(NeverStarts), made(DQN), made(odd.dqn_in_bursts), "sixteen updates at a time"),
    "policy-layers-frozen": Case(
        made(built_otherwise(PPO, _freeze_actor)),
        made(PPO),
        made(built_otherwise(PPO, _freeze_both)),
        "in both",
    ),
}
