"""The reference trainers in the third live campaign: tasks, and the faults planted in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

import third_worlds
import torch
from third_weights import coarse, reborn
from worlds import Truth

from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.world import World
from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.trainers.sac import SAC, SACConfig

DQN_FAST = DQNConfig(learning_rate=1e-3, epsilon_frac=0.3, learning_starts=500, gamma=0.95)
SAC_FAST = SACConfig(
    hidden_sizes=(64, 64), batch_size=64, alpha_initial=0.2, actor_lr=2e-3, critic_lr=2e-3, learning_starts=300,
    gamma=0.95, log_every_steps=50,
)  # fmt: skip
SUBJECTS: dict[str, tuple[Any, Any, str, str, int, int]] = {
    "ppo_forage": (PPO, PPOConfig(learning_rate=1e-3, gamma=0.95), "PPO", "Forage", 40_000, 100),
    "dqn_forage": (DQN, DQN_FAST, "DQN", "Forage", 15_000, 100),
    "mmrkhs_forage": (MMRKHS, MMRKHSConfig(gamma=0.95), "MM-RKHS", "Forage", 40_000, 100),
    "sac_tank": (SAC, SAC_FAST, "SAC", "Tank", 4_000, 10),
}
"""Class, settings, algorithm, environment, environment steps, episodes that a return is averaged over."""
EARLY, GROWTH = 0.1, 100.0
"""Share of a run after which weights are kept for `checkpoint-old`; what a learning rate ends at."""
SCALE = 2.0**100
"""Of a loss: its square is more than a float32 holds."""


@dataclass
class Planting:
    """What a plant needs to know beside the trainer."""

    trainer: Any
    began: float
    total: int
    kept: dict[str, Any] = field(default_factory=dict)
    """Weights of the actor and the critic a tenth of the run after its start."""


def settings_of(subject: str) -> tuple[str, dict[str, Any]]:
    """Return the algorithm and its settings, as a user would hand them to the monitor."""
    _, config, algorithm, *_ = SUBJECTS[subject]
    return algorithm, {key: value for key, value in vars(config).items() if isinstance(value, (int, float, str))}


def train(
    subject: str, fault: str, seed: int, share: float, monitor: Monitor, world: World, truth: Truth
) -> None:  # fmt: skip
    """Train once; the fault comes after `share` of the run; `truth` hears what really happened."""
    make, config, _, name, total, _ = SUBJECTS[subject]
    trainer = make(third_worlds.maker(name, truth, total, world), seed=seed, config=config)
    log = log_to(monitor, trainer)
    planting = Planting(trainer, math.nan, total)

    def on_row(metrics: Mapping[str, Any], step: int) -> None:
        log(metrics, step)
        if not planting.kept and step >= EARLY * total:
            planting.kept = {k: deepcopy(v.state_dict()) for k, v in networks(trainer).items()}
        if math.isnan(truth.began) and step >= share * total:
            truth.began = planting.began = float(step)
            if fault in third_worlds.FAULTS:
                truth.fault = fault
            elif fault:
                PLANTS[fault](planting)

    trainer.learn(total, on_row)


def networks(trainer: Any) -> dict[str, Any]:
    """Return what a trainer's attributes hold of networks."""
    return {name: value for name, value in vars(trainer).items() if isinstance(value, torch.nn.Module)}


def entropy_sign(planting: Planting) -> None:
    """The bonus becomes a fine: a tenth of a nat, as others have it, with the wrong sign."""
    planting.trainer.config = replace(planting.trainer.config, entropy_coef=-0.1)


def rate_rises(planting: Planting) -> None:
    trainer, left = planting.trainer, planting.total - planting.began
    usual, rate = trainer.step, trainer.optimiser.param_groups[0]["lr"]

    def step(sample: Any) -> Any:
        for group in trainer.optimiser.param_groups:
            group["lr"] = rate * GROWTH ** ((trainer.env_steps - planting.began) / left)
        return usual(sample)

    trainer.step = step


def checkpoint_old(planting: Planting) -> None:
    for name, network in networks(planting.trainer).items():
        network.load_state_dict(planting.kept[name])


def moments_lost(planting: Planting) -> None:
    """Second moments are zero again, first moments and the count of steps are not: nothing corrects their bias."""
    for state in planting.trainer.optimiser.state.values():
        state["exp_avg_sq"].zero_()


def advantages_shuffled(planting: Planting) -> None:
    trainer = planting.trainer
    usual, generator = trainer.advantages, torch.Generator().manual_seed(0)

    def advantages(rollout: Any) -> Any:
        found = usual(rollout)
        flat = found["advantage"].reshape(-1)
        order = torch.randperm(len(flat), generator=generator)
        found["advantage"] = flat[order].reshape(found["advantage"].shape)
        return found

    trainer.advantages = advantages


def ends_bootstrapped(planting: Planting) -> None:
    """What is drawn says of no step that an episode ended there."""
    trainer = planting.trainer
    usual = trainer.sample

    def sample() -> Any:
        found = usual()
        found["terminated"] = torch.zeros_like(found["terminated"])
        return found

    trainer.sample = sample


def critic_reborn(planting: Planting) -> None:
    for critic in (*planting.trainer.critics, *planting.trainer.target_critics):
        reborn(critic)


def actor_lifts_critic(planting: Planting) -> None:
    """The actor's optimiser holds the critics' weights, too: its loss is lowered by critics that promise more."""
    trainer = planting.trainer
    trainer.actor_optimiser.add_param_group({"params": trainer.weights_of_twins, "lr": SAC_FAST.critic_lr})

    def actor_loss(sample: Any, draw: Any = None) -> Any:
        action, log_prob = trainer.actor.sample(sample["obs"]) if draw is None else draw
        first, second = (critic(sample["obs"], action) for critic in trainer.critics)
        return (trainer.alpha.detach() * log_prob - torch.minimum(first, second)).mean()

    trainer.actor_loss = actor_loss


def target_wrong_way(planting: Planting) -> None:
    trainer = planting.trainer
    trainer.sync_target = lambda: trainer.q_network.load_state_dict(trainer.target_network.state_dict())


def log_probs_old(planting: Planting) -> None:
    """The log-probabilities that are kept with a rollout are those of the rollout before."""
    trainer = planting.trainer
    usual = trainer.collect
    before: list[Any] = []

    def collect() -> Any:
        rollout = usual()
        before.append(rollout["log_prob"].clone())
        if len(before) > 1:
            rollout["log_prob"] = before.pop(0)
        return rollout

    trainer.collect = collect


def loss_scale_kept(planting: Planting) -> None:
    """Losses are scaled up, as for half precision, and nothing scales the gradients down again."""
    trainer = planting.trainer
    usual = trainer.loss
    trainer.loss = lambda minibatch: {name: SCALE * term for name, term in usual(minibatch).items()}


PLANTS: dict[str, Callable[[Planting], None]] = {
    "entropy-sign": entropy_sign,
    "rate-rises": rate_rises,
    "checkpoint-old": checkpoint_old,
    "moments-lost": moments_lost,
    "advantages-shuffled": advantages_shuffled,
    "ends-bootstrapped": ends_bootstrapped,
    "critic-reborn": critic_reborn,
    "actor-lifts-critic": actor_lifts_critic,
    "target-wrong-way": target_wrong_way,
    "log-probs-old": log_probs_old,
    "weights-coarse": lambda planting: coarse(planting.trainer.optimiser),
    "loss-scale-kept": loss_scale_kept,
}
