"""The reference trainers in the fifth live campaign: tasks, and the faults planted in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

import fifth_worlds
import torch
from fifth_doses import Dose, between, doses, earlier
from fifth_weights import truncated, warming
from worlds import Truth

from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.world import World
from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.trainers.sac import SAC, SACConfig

DQN_FAST = DQNConfig(learning_rate=1e-3, epsilon_frac=0.2, learning_starts=500, gamma=0.9)
SAC_FAST = SACConfig(
    hidden_sizes=(64, 64), batch_size=64, alpha_initial=0.1, actor_lr=2e-3, critic_lr=2e-3, learning_starts=300,
    gamma=0.9, alpha_lr=4e-3, log_every_steps=50, tau=0.01,
)  # fmt: skip
SUBJECTS: dict[str, tuple[Any, Any, str, str, int, int]] = {
    "ppo_follow": (PPO, PPOConfig(learning_rate=1e-3, gamma=0.9, anneal_lr=False), "PPO", "Follow", 40_000, 20),
    "dqn_follow": (DQN, DQN_FAST, "DQN", "Follow", 10_000, 20),
    "mmrkhs_follow": (MMRKHS, MMRKHSConfig(gamma=0.9), "MM-RKHS", "Follow", 40_000, 20),
    "sac_escort": (SAC, SAC_FAST, "SAC", "Escort", 4_000, 10),
}
"""Class, settings, algorithm, environment, environment steps, episodes that a return is averaged over."""
ENTROPY = 3.0
"""What a nat of entropy is worth in the end, in PPO's loss of normalised advantages."""
GAMMA = 1.4
"""The discount in the end."""
GROWTH = 300.0
"""What a learning rate is multiplied by in the end."""
RISE = 4.0
"""Nats by which the target of SAC's entropy is higher in the end: above what two bounded actions can have, 1.39."""
FEW = 8
"""Rows, the oldest, that replay still draws from in the end."""
LOUD = 2.0
"""Spread of the noise on the weights of who plays in the end, in spreads of each layer's weights."""
ANEW = 30
"""Steps after which that noise is drawn anew."""


def settings_of(subject: str) -> tuple[str, dict[str, Any]]:
    """Return the algorithm and its settings, as a user would hand them to the monitor."""
    _, config, algorithm, *_ = SUBJECTS[subject]
    return algorithm, {key: value for key, value in vars(config).items() if isinstance(value, (int, float, str))}


def built(subject: str, seed: int, world: World | None, truth: Truth) -> Any:
    """Return the trainer of `subject`."""
    make, config, _, name, total, _ = SUBJECTS[subject]
    return make(fifth_worlds.maker(name, truth, total, seed, world), seed=seed, config=config)


def train(
    subject: str, fault: str, seed: int, share: float, monitor: Monitor, world: World, truth: Truth
) -> None:  # fmt: skip
    """Train once; the fault begins after `share` of the run; `truth` hears what really happened."""
    trainer, total = built(subject, seed, world, truth), SUBJECTS[subject][4]
    log = log_to(monitor, trainer)

    def on_row(metrics: Mapping[str, Any], step: int) -> None:
        log(metrics, step)
        if math.isnan(truth.began) and step >= earlier(share) * total:
            truth.began = float(step)
            if fault in fifth_worlds.FAULTS:
                truth.fault = fault
            elif fault:
                PLANTS[fault](trainer, doses(truth, total))

    trainer.learn(total, on_row)


def with_settings(name: str, changed: Callable[[Any, float], dict[str, Any]]) -> Callable[[Any, Dose], None]:
    """Return what sets a trainer's settings anew before its method `name` is called, by the dose there is."""

    def plant(trainer: Any, dose: Dose) -> None:
        usual, first = getattr(trainer, name), trainer.config

        def called(*given: Any) -> Any:
            trainer.config = replace(trainer.config, **changed(first, dose()))
            return usual(*given)

        setattr(trainer, name, called)

    return plant


def advantages_turn(trainer: Any, dose: Dose) -> None:
    """The sign of the advantage is wrong for a share of the steps."""
    usual, generator = trainer.advantages, torch.Generator().manual_seed(0)

    def advantages(rollout: Any) -> Any:
        found = usual(rollout)
        wrong = torch.rand(found["advantage"].shape, generator=generator) < dose()
        found["advantage"] = torch.where(wrong, -found["advantage"], found["advantage"])
        return found

    trainer.advantages = advantages


def observations_behind(trainer: Any, dose: Dose) -> None:
    """The rollout of one copy after the other holds the observations of the rollout before, beside all else of this."""
    usual = trainer.collect
    before: list[Any] = []

    def collect() -> Any:
        fresh = usual()
        before.append(fresh["obs"].clone())
        behind = round(dose() * len(fresh)) if len(before) > 1 else 0
        if behind:
            fresh["obs"][:behind] = before[0][:behind]
        del before[:-1]
        return fresh

    trainer.collect = collect


def targets_mixed(trainer: Any, dose: Dose) -> None:
    """A share of the rows of a batch is given the targets of other rows."""
    usual, generator = trainer.td_target, torch.Generator().manual_seed(0)

    def td_target(sample: Any) -> Any:
        found = usual(sample)
        other = found[torch.randperm(len(found), generator=generator)]
        return torch.where(torch.rand(found.shape, generator=generator) < dose(), other, found)

    trainer.td_target = td_target


def replay_narrows(trainer: Any, dose: Dose) -> None:
    """Replay draws from ever fewer rows, the oldest."""

    def sample() -> Any:
        width = max(1, int(between(len(trainer.buffer), FEW, dose())))
        return trainer.buffer[torch.randint(width, (trainer.config.batch_size,))]

    trainer.sample = sample


def entropy_target_climbs(trainer: Any, dose: Dose) -> None:
    usual, first = trainer.step, trainer.target_entropy

    def step(sample: Any) -> Any:
        trainer.target_entropy = first + RISE * dose()
        return usual(sample)

    trainer.step = step


def parameter_noise_grows(trainer: Any, dose: Dose) -> None:
    """Who plays has weights with noise, ever more of it; who learns has none."""
    usual, generator = trainer.collect, torch.Generator().manual_seed(0)
    player, count = deepcopy(trainer.q_network), [0]

    def collect() -> Any:
        if count[0] % ANEW == 0:
            noisy(player, trainer.q_network, LOUD * dose(), generator)
        count[0] += 1
        learner, trainer.q_network = trainer.q_network, player
        rows = usual()
        trainer.q_network = learner
        return rows

    trainer.collect = collect


@torch.no_grad()
def noisy(player: Any, learner: Any, spread: float, generator: torch.Generator) -> None:
    """Give `player` the weights of `learner` and noise of `spread` times each one's spread."""
    for mine, theirs in zip(player.parameters(), learner.parameters(), strict=True):
        noise = torch.randn(theirs.shape, generator=generator)
        mine.copy_(theirs + spread * float(theirs.std(correction=0)) * noise)


def optimisers(trainer: Any) -> list[Any]:
    """Return the optimisers of actor and critics."""
    return [value for name, value in vars(trainer).items() if name.endswith("optimiser") and "alpha" not in name]


def rate_warms(trainer: Any, dose: Dose) -> None:
    for optimiser in optimisers(trainer):
        warming(optimiser, GROWTH, dose)


def weights_cut(trainer: Any, dose: Dose) -> None:
    for optimiser in optimisers(trainer):
        truncated(optimiser, dose)


PLANTS: dict[str, Callable[[Any, Dose], None]] = {
    "bonus-climbs": with_settings(
        "update", lambda first, dose: {"entropy_coef": between(first.entropy_coef, ENTROPY, dose)}
    ),
    "discount-creeps": with_settings("step", lambda first, dose: {"gamma": first.gamma + (GAMMA - first.gamma) * dose}),
    "advantages-turn": advantages_turn,
    "observations-behind": observations_behind,
    "targets-mixed": targets_mixed,
    "replay-narrows": replay_narrows,
    "entropy-target-climbs": entropy_target_climbs,
    "parameter-noise-grows": parameter_noise_grows,
    "rate-warms": rate_warms,
    "weights-cut": weights_cut,
}
