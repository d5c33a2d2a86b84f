"""Faults of DQN and SAC as SB3 has them: targets, replay buffer, exploration, temperature."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from benchmarks.faults.faults_sb3 import before_training
from benchmarks.faults.planting import in_settings, in_trainer

EVERY = 500


def critics_of(model: Any) -> list[Any]:
    """The Q networks that are trained."""
    if model.__class__.__name__ == "DQN":
        return [model.q_net.q_net]
    return list(model.critic.q_networks)


def samples(model: Any, change: Any) -> None:
    """Give every sample of the replay buffer through `change`."""
    usual = model.replay_buffer.sample
    model.replay_buffer.sample = lambda *args, **kwargs: change(usual(*args, **kwargs))


def additions(model: Any, change: Any) -> None:
    """Give what is added to the replay buffer through `change(obs, next_obs, done)`; None keeps it out."""
    usual = model.replay_buffer.add

    def add(obs: Any, next_obs: Any, action: Any, reward: Any, done: Any, infos: Any) -> None:
        pair = change(obs, next_obs, done)
        if pair is not None:
            usual(pair[0], pair[1], action, reward, done, infos)

    model.replay_buffer.add = add


@in_trainer("timeout-bootstrap-from-reset", "sb3_sac")
def timeout_from_reset(model: Any) -> None:
    # SB3 puts the last observation of the episode in place of the first of the next, which `_last_obs` will be.
    def first_of_next(obs: Any, next_obs: Any, done: Any) -> Any:
        return (obs, model.fresh_obs if np.any(done) else next_obs)

    usual = model._store_transition

    def store(buffer: Any, action: Any, new_obs: Any, *rest: Any) -> None:
        model.fresh_obs = new_obs
        usual(buffer, action, new_obs, *rest)

    model._store_transition = store
    additions(model, first_of_next)


@in_trainer("observations-aliased", "sb3_sac")
def observations_aliased(model: Any) -> None:
    additions(model, lambda obs, next_obs, done: (next_obs, next_obs))


@in_trainer("replay-full", "sb3_dqn")
def replay_full(model: Any) -> None:
    def only_first(obs: Any, next_obs: Any, done: Any) -> Any:
        # Batches need rows: from the start it is the first thousand that stay.
        return (obs, next_obs) if model.replay_buffer.size() < 1000 else None

    additions(model, only_first)


@in_trainer("done-ignored", "sb3_dqn")
def done_ignored(model: Any) -> None:
    samples(model, lambda data: data._replace(dones=torch.zeros_like(data.dones)))


@in_trainer("target-every-step", "sb3_dqn")
def target_every_step(model: Any) -> None:
    usual = model.policy.optimizer.step

    def step(*args: Any, **kwargs: Any) -> None:
        usual(*args, **kwargs)
        model.q_net_target.load_state_dict(model.q_net.state_dict())

    model.policy.optimizer.step = step


@in_trainer("target-never", "sb3_dqn", "sb3_sac")
def target_never(model: Any) -> None:
    model.tau = 0.0


@in_trainer("target-fast", "sb3_sac")
def target_fast(model: Any) -> None:
    model.tau = 1.0


@in_trainer("twins-maximum", "sb3_sac")
def twins_maximum(model: Any) -> None:
    usual = model.critic_target.forward

    def largest(obs: Any, actions: Any) -> Any:
        # SAC takes the smallest of what it gets: each is given as the largest.
        values = usual(obs, actions)
        top = torch.cat(values, dim=1).max(dim=1, keepdim=True)[0]
        return tuple(top for _ in values)

    model.critic_target.forward = largest


@in_trainer("critic-dead", "sb3_sac", "sb3_dqn")
@torch.no_grad()
def critic_dead(model: Any) -> None:
    for critic in critics_of(model):
        critic[0].bias.fill_(-10.0)


@in_trainer("critic-learning-rate-x1000", "sb3_sac")
def critic_learning_rate(model: Any) -> None:
    usual = model._update_learning_rate

    def update(optimisers: Any) -> None:
        usual(optimisers)
        for group in model.critic.optimizer.param_groups:
            group["lr"] *= 1000

    model._update_learning_rate = update


@in_trainer("critic-noise", "sb3_sac")
def critic_noise(model: Any) -> None:
    chance, count = torch.Generator().manual_seed(0), [0]

    @torch.no_grad()
    def disturb() -> None:
        count[0] += 1
        for weight in model.critic.parameters() if count[0] % EVERY == 0 else ():
            spread = float(weight.std()) if weight.numel() > 1 else 0.1
            weight.add_(5 * spread * torch.randn(weight.shape, generator=chance))

    before_training(model, disturb)


@in_trainer("actor-detached", "sb3_sac")
def actor_detached(model: Any) -> None:
    usual = model.actor.action_log_prob

    def detached(obs: Any) -> Any:
        action, log_prob = usual(obs)
        return action.detach(), log_prob

    model.actor.action_log_prob = detached


# ---- exploration --------------------------------------------------------------------------------------------------


@in_settings("epsilon-zero", "sb3_dqn")
def epsilon_zero(change: dict[str, Any]) -> None:
    change["settings"] |= {"exploration_initial_eps": 0.0, "exploration_final_eps": 0.0}


@in_settings("epsilon-fast", "sb3_dqn")
def epsilon_fast(change: dict[str, Any]) -> None:
    # Before learning starts SB3 acts at random in any case; so learning starts at once, too.
    change["settings"] |= {"exploration_fraction": 0.001, "exploration_final_eps": 0.0, "learning_starts": 20}


@in_trainer("epsilon-grows", "sb3_dqn")
def epsilon_grows(model: Any) -> None:
    began, now = model._current_progress_remaining, model.exploration_rate

    def growing(left: float) -> float:
        return now + (1 - now) * min(1.0, 2 * (began - left) / max(began, 1e-9))

    model.exploration_schedule = growing


@in_trainer("epsilon-high", "sb3_dqn")
def epsilon_high(model: Any) -> None:
    usual = model.exploration_schedule
    model.exploration_schedule = lambda left: max(0.6, usual(left))


@in_trainer("entropy-bonus", "sb3_sac")
def temperature_held(model: Any) -> None:
    held_temperature(model, 20.0)


@in_trainer("alpha-zero", "sb3_sac")
@torch.no_grad()
def alpha_zero(model: Any) -> None:
    held_temperature(model, 0.0)
    model.actor.log_std.bias.fill_(-4.0)


def held_temperature(model: Any, value: float) -> None:
    """Hold the temperature of SAC."""
    model.ent_coef_optimizer = None
    model.ent_coef_tensor = torch.tensor(value)
    model.log_ent_coef = None


@in_trainer("target-entropy-flipped", "sb3_sac")
def target_entropy_flipped(model: Any) -> None:
    model.target_entropy = -5 * model.target_entropy


# ---- settings -----------------------------------------------------------------------------------------------------


@in_settings("replay-small", "sb3_dqn", "sb3_sac")
def replay_small(change: dict[str, Any]) -> None:
    change["settings"]["buffer_size"] = 64


@in_settings("learning-late", "sb3_dqn", "sb3_sac")
def learning_late(change: dict[str, Any]) -> None:
    change["settings"]["learning_starts"] = math.floor(0.9 * change["total"])
