"""Off-policy algorithms of Stable-Baselines3 (SAC, TD3, DDPG, DQN): losses on the way, Q and actions at each row."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import functional

from ....exchange.uniform_draws import UniformDraws
from ....tensors.critic import own_targets, td_error, twin_q
from ....tensors.quantities import Quantities
from .. import drawn
from ..in_force import DISCOUNT
from ..replay_chain import of_sb3
from ..settings_in_force import CAPACITY, of_model
from ..weights.actor_gradient import ActorGradient
from ..weights.gradients import WeightChange
from ..weights.target_answers import unlike
from ..weights.target_moves import TargetMoves
from ..weights.untouched import untouched
from .acted import Acted
from .places import drawn_from

ROWS = 256
"""Replayed rows on which Q and actions are looked at. Engineering choice."""
SIZE, EXPECTED = "replay/size", "critic/loss_expected"
BROADCAST = "critic/target_broadcast_frac"
LOGGED = {
    "train/actor_loss": "policy/loss",
    "train/critic_loss": "critic/loss",
    "train/loss": "critic/loss",
    "train/ent_coef": "sac/alpha",
    "train/ent_coef_loss": "sac/alpha_loss",
    "train/n_updates": "optim/n_updates",
    "rollout/exploration_rate": "dqn/epsilon",
}
"""What the algorithms record, under the canonical names."""
AVERAGED = frozenset({"policy/loss", "critic/loss", "sac/alpha_loss"})


class OffPolicy:
    """Measures one model; every method leaves weights, modes and random generators as they were."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self._seen: dict[str, list[float]] = {}
        self._change: list[tuple[str, WeightChange]] = []
        self._targets = TargetMoves(_target_weights(model))
        self._led = _led(model)
        self.acted = Acted(model)
        self._draws = UniformDraws()
        self._held = 0
        """Rows that the replay buffer held at the last step."""
        self._begun = (int(model._n_updates), int(model.num_timesteps))

    def look(self, chosen: Mapping[str, Any]) -> dict[str, float]:
        """Look at one step of the environment; return what is told at once: odd actions, and a buffer that shrank.

        Args:
            chosen: The local variables of the library's loop.
        """
        before, self._held = self._held, self.model.replay_buffer.size()
        found = self.acted.look(chosen)
        if self._held >= before:
            return found
        return found | {name: value for name, value in self._buffer().items() if name == SIZE} | self._capacity()

    def note(self, logged: dict[str, Any]) -> None:
        """Take what one call of `train` recorded, before the next call replaces it."""
        for key, name in LOGGED.items():
            if key in logged:
                seen = self._seen.setdefault(name, [])
                if name not in AVERAGED:
                    seen.clear()
                seen.append(float(logged[key]))

    def before(self) -> dict[str, float]:
        """Remember the weights before the update that the next row describes; nothing is known yet."""
        networks = [("optim", getattr(self.model, "actor", None) or self.model.policy)]
        if hasattr(self.model, "critic"):
            networks.append(("critic", self.model.critic))
        self._change = [(name, WeightChange(_trained(network))) for name, network in networks]
        return {}

    def after(self) -> dict[str, float]:
        """Means of the losses since the last row, Q and actions on replayed rows, and where the buffer stands."""
        row = {name: fmean(values) for name, values in self._seen.items() if values}
        self._seen.clear()
        quantities = Quantities()
        for name, change in self._change:
            moved, norm = change.take()
            if name == "critic":
                quantities.add({"critic/weight_delta": moved})
            else:
                quantities.add({"optim/weight_delta": moved / norm, "net/weight_norm": norm})
        self._change = []
        quantities.add(self._targets.take())
        row |= {} if self._led is None else self._led.take()
        with untouched(self.model.policy):
            row |= self._replayed(quantities)
            row |= drawn.of_sb3(self.model.replay_buffer)
        return row | quantities.numbers() | self._buffer() | of_sb3(self.model.replay_buffer) | self.acted.take()

    def release(self) -> None:
        """Take the hooks away."""
        if self._led is not None:
            self._led.remove()

    def _buffer(self) -> dict[str, float]:
        model = self.model
        size = model.replay_buffer.size() * model.n_envs
        updates, steps = model._n_updates - self._begun[0], model.num_timesteps - self._begun[1]
        learning = max(1, steps - max(0, model.learning_starts - self._begun[1]))
        row = {SIZE: float(size), "replay/ratio": updates / learning, DISCOUNT: float(model.gamma)}
        if isinstance(getattr(model, "target_entropy", None), float):
            row["sac/target_entropy"] = float(model.target_entropy)
        return row

    def _capacity(self) -> dict[str, float]:
        return {name: value for name, value in of_model(self.model).items() if name == CAPACITY}

    def _replayed(self, quantities: Quantities) -> dict[str, float]:
        model = self.model
        rows = drawn_from(model, min(ROWS, model.batch_size), self._draws)
        quantities.add({"reward/step_mean": rows.rewards.mean(), "reward/step_max": rows.rewards.max()})
        discount = model.gamma if getattr(rows, "discounts", None) is None else rows.discounts
        if hasattr(model, "q_net"):
            self._single(quantities, rows, discount)
        else:
            self._twins(quantities, rows, discount)
        return unlike(self._copies(rows)) | self._draws.take()

    def _copies(self, rows: Any) -> list[tuple[Any, Any, tuple[Any, ...]]]:
        """Networks, those that follow them, and what both are asked."""
        model, after = self.model, rows.next_observations
        if hasattr(model, "q_net"):
            return [(model.q_net, model.q_net_target, (after,))]
        critics = [(model.critic, model.critic_target, (after, rows.actions))]
        led = getattr(model, "actor_target", None)
        return critics if led is None else [*critics, (model.actor, led, (after,))]

    def _single(self, quantities: Quantities, rows: Any, discount: Any) -> None:
        """DQN: the value of the action taken against its target."""
        q: Tensor = self.model.q_net(rows.observations).gather(1, rows.actions.long())
        after = self.model.q_net_target(rows.next_observations).max(dim=1, keepdim=True).values
        target = rows.rewards + (1 - rows.dones) * discount * after
        quantities.add({"critic/q_mean": q.mean(), "critic/q_max": q.max(), "critic/q_min": q.min()})
        self._errors(quantities, q, target)
        apart = q - target  # a table where the shapes differ, as in training
        quantities.add({EXPECTED: functional.smooth_l1_loss(apart, torch.zeros_like(apart))})

    def _errors(self, quantities: Quantities, q: Tensor, target: Tensor) -> None:
        """Each value against the target of its own row, and whether training sets it beside those of others."""
        own, others = own_targets(q, target)
        quantities.add(td_error(q, own))
        quantities.add({BROADCAST: others})

    def _twins(self, quantities: Quantities, rows: Any, discount: Any) -> None:
        """SAC, TD3 and DDPG: two critics on one sample, their target, and the actor's actions."""
        model = self.model
        values: tuple[Tensor, ...] = model.critic(rows.observations, rows.actions)
        soft = hasattr(model.actor, "action_log_prob")
        if soft:
            actions, log_prob = model.actor.action_log_prob(rows.observations)
            quantities.add({"policy/entropy": -log_prob.mean(), "policy/logprob_mean": log_prob.mean()})
            following, next_log_prob = model.actor.action_log_prob(rows.next_observations)
            bonus = self._alpha() * next_log_prob.reshape(-1, 1)
            self._spread(quantities, rows.observations)
        else:
            actions, following, bonus = model.actor(rows.observations), model.actor_target(rows.next_observations), 0.0
        least = torch.cat(model.critic_target(rows.next_observations, following), dim=1).min(dim=1, keepdim=True).values
        target = rows.rewards + (1 - rows.dones) * discount * (least - bonus)
        first = values[0]
        if len(values) > 1:
            quantities.add(twin_q(first, values[1]))
        else:
            quantities.add({"critic/q_mean": first.mean(), "critic/q_max": first.max(), "critic/q_min": first.min()})
        self._errors(quantities, first, target)
        errors = torch.stack([(value - target).square().mean() for value in values]).sum()
        quantities.add({EXPECTED: 0.5 * errors if soft else errors})
        # The actor's actions lie in [-1, 1] whatever the environment's bounds.
        quantities.add({"policy/saturation_frac": (actions.abs() >= 0.98).float().mean()})

    def _alpha(self) -> Any:
        if getattr(self.model, "log_ent_coef", None) is not None:
            return self.model.log_ent_coef.exp()
        return self.model.ent_coef_tensor

    def _spread(self, quantities: Quantities, obs: Any) -> None:
        """Standard deviation of SAC's Gaussian before the tanh."""
        if self.model.use_sde:
            return
        _, log_std, _ = self.model.actor.get_action_dist_params(obs)
        per_dimension = cast(Tensor, log_std).exp().mean(0)
        quantities.add({"policy/action_std": per_dimension.mean()})
        quantities.add({"policy/action_std_min": per_dimension.min(), "policy/action_std_max": per_dimension.max()})


def _led(model: Any) -> ActorGradient | None:
    """What sees whether the actor learns through the critic; DQN has no actor."""
    if getattr(model, "actor", None) is None or not hasattr(model, "critic"):
        return None
    return ActorGradient([model.critic], model.actor.optimizer, getattr(model.critic, "q_networks", ()))


def _target_weights(model: Any) -> list[Tensor]:
    network = getattr(model, "critic_target", getattr(model, "q_net_target", None))
    return [] if network is None else list(network.parameters())


def _trained(network: Any) -> list[Tensor]:
    return [weight for weight in network.parameters() if weight.requires_grad]
