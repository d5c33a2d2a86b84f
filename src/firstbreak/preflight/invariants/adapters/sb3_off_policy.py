"""`Pieces` of DQN, SAC, TD3 and DDPG of Stable-Baselines3, and of classes derived from them.

`train()` runs on a replay buffer whose rows are set and which returns them in order; everything else is the algorithm's
own code.
"""

from __future__ import annotations

from typing import Any

from ....finding import Component
from ..pieces import Batch, Pieces, Schedule
from ..torch_types import Tensor, load_torch
from ..witness import Ledger, make_witness, witnessed
from .attributes import kept_attributes, kept_numbers

BUFFER_SIZE, FIRST_STEPS = 100, 60
"""Rows of the replay buffer, small enough to be filled twice over; steps collected at the start."""


def build(algorithm: type, kind: str, seed: int) -> Pieces:
    """Build `algorithm` on a witness environment with actions of this `kind`."""
    from stable_baselines3.common.vec_env import DummyVecEnv

    ledgers: list[Ledger] = []
    env = DummyVecEnv([lambda: make_witness(kind, ledgers, seed)])
    model = algorithm(
        "MlpPolicy",
        env,
        buffer_size=BUFFER_SIZE,
        batch_size=32,
        learning_starts=16,
        seed=seed,
        device="cpu",
        policy_kwargs={"net_arch": [32, 32]},
    )
    return OffPolicy(model, kind, ledgers).pieces()


class OffPolicy:
    """One off-policy model and how to take hold of it; `ledgers` is empty where the environments are the user's."""

    def __init__(self, model: Any, kind: str, ledgers: list[Ledger]) -> None:
        self.model, self.kind, self.ledgers = model, kind, ledgers
        self.discrete = hasattr(model.action_space, "n")
        _, self.callback = model._setup_learn(100_000, None)
        if ledgers:
            self.collect(FIRST_STEPS)

    def pieces(self) -> Pieces:
        """Return what can be taken hold of."""
        model = self.model
        if self.discrete:
            critics, targets = [model.q_net], [model.q_net_target]
            optimisers, actor = [model.policy.optimizer], None
        else:
            critics, targets = list(model.critic.q_networks), list(model.critic_target.q_networks)
            optimisers, actor = [model.actor.optimizer, model.critic.optimizer], model.actor
            temperature = getattr(model, "ent_coef_optimizer", None)
            optimisers += [temperature] if temperature is not None else []
        draws = not self.discrete and hasattr(model.actor, "action_log_prob")
        return Pieces(
            algorithm="DQN" if self.discrete else "SAC" if draws else self.deterministic_name(),
            actor=actor,
            critics=critics,
            target_critics=targets,
            optimisers=optimisers,
            minibatch=self.minibatch,
            update=self.update,
            act=self.act if draws else None,
            log_prob=self.log_prob if draws else None,
            deterministic_action=None if self.discrete or draws else model.actor,
            q=self.q,
            sync_target=self.sync_target,
            iterate=self.iterate,
            collect=self.collect,
            witnessed=(lambda: witnessed(self.ledgers)) if self.ledgers else None,
            executed=None if self.discrete else self.executed,
            predict=self.predict,
            behaviour=self.behaviour if self.discrete else None,
            schedules={"exploration": self.exploration()} if self.discrete else {},
            learn=self.learn,
            log_temperature=getattr(model, "log_ent_coef", None),
            fixed_temperature=getattr(model, "ent_coef_tensor", None),
            name=self.kind,
            settings=self.settings(),
        )

    def act(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        """A draw; with state-dependent noise one of its own for each row, as after each reset of the noise."""
        if getattr(self.model, "use_sde", False):
            self.model.actor.reset_noise(len(obs))
        return self.model.actor.action_log_prob(obs)

    def settings(self) -> dict[str, Any]:
        """The canonical settings."""
        model, space = self.model, self.model.action_space
        found: dict[str, Any] = {
            "gamma": model.gamma,
            "tau": model.tau,
            # Of SAC the library counts it within a call of train(): the first update of each call moves the targets.
            "target_interval": getattr(model, "target_update_interval", 1) if self.discrete else 1,
            "buffer_size": model.replay_buffer.buffer_size,
            "learning_starts": int(model.learning_starts),
            "n_steps": int(getattr(model.replay_buffer, "n_steps", 1)),
            "shared_noise": bool(getattr(model, "use_sde", False)),
        }
        if self.discrete:
            return {**found, "n_actions": int(space.n), "max_grad_norm": model.max_grad_norm, "double": False}
        bounds = {"action_low": space.low.tolist(), "action_high": space.high.tolist()}
        width = len(bounds["action_low"])
        found |= {**bounds, "policy_low": [-1.0] * width, "policy_high": [1.0] * width}
        return (
            {**found, "target_entropy": float(model.target_entropy)}
            if getattr(model, "log_ent_coef", None) is not None
            else found
        )

    def deterministic_name(self) -> str:
        """DDPG is TD3 with one critic here."""
        return "DDPG" if len(self.model.critic.q_networks) == 1 else "TD3"

    def _delayed(self) -> None:
        """Let the next gradient step be one that moves actor and targets too, as each of TD3's `policy_delay` is."""
        if hasattr(self.model, "policy_delay"):
            self.model._n_updates = self.model.policy_delay - 1

    def collect(self, steps: int) -> None:
        """`collect_rollouts` for so many steps, with the policy's own actions."""
        from stable_baselines3.common.type_aliases import TrainFreq, TrainFrequencyUnit

        frequency = TrainFreq(steps, TrainFrequencyUnit.STEP)
        with kept_attributes(self.model, "learning_starts"):
            self.model.learning_starts = 0
            self.model.collect_rollouts(self.model.env, self.callback, frequency, self.model.replay_buffer)

    def exploration(self) -> Schedule:
        """The exploration rate of DQN over a run; no promise beside its own schedule."""
        return Schedule(lambda done: float(self.model.exploration_schedule(1.0 - done)), {}, Component.SAMPLER)

    def behaviour(self, obs: Tensor, done_frac: float) -> Tensor:
        """What `collect_rollouts` would play there, row by row: one number decides for a whole call."""
        torch, model = load_torch(), self.model
        with kept_attributes(model, "exploration_rate"):
            model.exploration_rate = model.exploration_schedule(1.0 - done_frac)
            return torch.tensor([int(model.predict(row.numpy(), deterministic=False)[0]) for row in obs])

    def learn(self, steps: int) -> None:
        """`learn`; afterwards it is made ready to collect again."""
        with kept_numbers(self.model):
            self.model.learn(steps)
        _, self.callback = self.model._setup_learn(100_000, None)

    def minibatch(self) -> Batch:
        """A sample of the replay buffer; actions as stored, which for SAC is in [-1, 1]."""
        model = self.model
        found = model.replay_buffer.sample(model.batch_size)
        return {
            "obs": found.observations,
            "action": found.actions.long().squeeze(-1) if self.discrete else found.actions,
            "reward": found.rewards.squeeze(-1),
            "next_obs": found.next_observations,
            "terminated": found.dones.squeeze(-1).bool(),
        }

    def update(self, batch: Batch) -> None:
        """One gradient step of `train()` on these rows, in this order."""
        import numpy as np

        torch = load_torch()

        model, rows = self.model, len(batch["obs"])
        with kept_attributes(model, "replay_buffer"), kept_numbers(model):
            one_step = {"n_steps": 1, "gamma": model.gamma} if hasattr(model.replay_buffer, "n_steps") else {}
            buffer: Any = type(model.replay_buffer)(
                rows, model.observation_space, model.action_space, device=model.device, **one_step
            )
            cut = batch.get("truncated", torch.zeros(rows, dtype=torch.bool)) & ~batch["terminated"]
            buffer.observations[:, 0] = batch["obs"].numpy()
            buffer.next_observations[:, 0] = batch["next_obs"].numpy()
            buffer.actions[:, 0] = batch["action"].reshape(rows, -1).numpy()
            buffer.rewards[:, 0] = batch["reward"].numpy()
            buffer.dones[:, 0] = (batch["terminated"] | cut).numpy()
            buffer.timeouts[:, 0] = cut.numpy()
            buffer.full = True

            def in_order(batch_size: int, env: Any = None) -> Any:
                del batch_size
                return buffer._get_samples(np.arange(rows), env=env)

            buffer.sample = in_order
            model.replay_buffer = buffer
            self._delayed()
            model.train(gradient_steps=1, batch_size=rows)

    def q(self, obs: Tensor, action: Tensor) -> list[Tensor]:
        """One [B] of each critic."""
        if self.discrete:
            return [self.model.q_net(obs).gather(1, action.reshape(-1, 1)).squeeze(-1)]
        return [column.squeeze(-1) for column in self.model.critic(obs, action)]

    def log_prob(self, obs: Tensor, action: Tensor) -> Tensor:
        """Density of a stored action, by the actor's own distribution."""
        actor = self.model.actor
        mean, log_std, more = actor.get_action_dist_params(obs)
        return actor.action_dist.proba_distribution(mean, log_std, **more).log_prob(action)

    def executed(self, action: Tensor) -> Tensor:
        """Stored actions in [-1, 1] are meant to be stretched to the bounds."""
        torch = load_torch()

        low, high = (torch.from_numpy(b) for b in (self.model.action_space.low, self.model.action_space.high))
        return low + 0.5 * (action + 1.0) * (high - low)

    def predict(self, obs: Tensor, deterministic: bool) -> Tensor:
        """What evaluation gets."""
        torch = load_torch()

        return torch.from_numpy(self.model.predict(obs.numpy(), deterministic=deterministic)[0])

    def sync_target(self) -> None:
        """The step after which the target moves: DQN's is counted in environment steps, SAC's in gradient steps."""
        model = self.model
        with kept_numbers(model):
            if self.discrete:
                model._n_calls = max(model.target_update_interval // model.n_envs, 1) - 1
                model._on_step()
            else:
                self._delayed()
                model.train(gradient_steps=1, batch_size=model.batch_size)

    def iterate(self) -> None:
        """A few gradient steps on the replay buffer."""
        with kept_numbers(self.model):
            self.model.train(gradient_steps=3, batch_size=self.model.batch_size)
