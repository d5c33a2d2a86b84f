"""`Pieces` of PPO and A2C of Stable-Baselines3, and of classes derived from them.

`train()` runs on a rollout buffer of one minibatch whose columns are set; everything else is the algorithm's own code.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

from ..pieces import Batch, Pieces
from ..torch_types import Tensor, load_torch
from ..witness import Ledger, make_witness, witnessed
from .attributes import kept_attributes

STEPS, ENVS, ROUNDS, PLANNED_ROUNDS = 24, 2, 3, 30
"""Size of a rollout; rounds of training in `iterate`, out of so many planned."""


def build(algorithm: type, kind: str, seed: int) -> Pieces:
    """Build `algorithm` on the witness environments with actions of this `kind`."""
    from stable_baselines3.common.vec_env import DummyVecEnv

    ledgers: list[Ledger] = []
    env = DummyVecEnv([lambda: make_witness(kind, ledgers, seed) for _ in range(ENVS)])
    settings: dict[str, Any] = {
        "n_steps": STEPS,
        "seed": seed,
        "device": "cpu",
        "policy_kwargs": {"net_arch": [32, 32]},
    }
    if _is_ppo(algorithm):
        settings |= {"batch_size": 16, "n_epochs": 2}
    return OnPolicy(algorithm("MlpPolicy", env, **settings), kind, ledgers).pieces()


def _is_ppo(algorithm: type) -> bool:
    from stable_baselines3 import PPO

    return issubclass(algorithm, PPO)


class OnPolicy:
    """One PPO or A2C model and how to take hold of it; `ledgers` is empty where the environments are the user's."""

    def __init__(self, model: Any, kind: str, ledgers: list[Ledger]) -> None:
        self.model, self.kind, self.ledgers = model, kind, ledgers
        self.discrete = hasattr(model.action_space, "n")
        self.start()

    def start(self) -> None:
        """Make ready to collect: logger, first observation, callback."""
        _, self.callback = self.model._setup_learn(1_000_000, None)

    def pieces(self) -> Pieces:
        """Return what can be taken hold of."""
        from torch import nn

        policy = self.model.policy
        own = [policy.mlp_extractor.policy_net, policy.action_net]
        actor = nn.ModuleList(own)
        if hasattr(policy, "log_std"):
            actor.register_parameter("log_std", policy.log_std) if isinstance(policy.log_std, nn.Parameter) else None
        return Pieces(
            algorithm="PPO" if hasattr(self.model, "clip_range") else "A2C",
            actor=actor,
            critics=[nn.ModuleList([policy.mlp_extractor.value_net, policy.value_net])],
            optimisers=[policy.optimizer],
            rollout=self.rollout,
            minibatch=self.minibatch,
            update=self.update,
            log_prob=self.log_prob,
            act=self.act,
            value=lambda obs: policy.predict_values(obs).flatten(),
            advantages=self.advantages,
            iterate=self.iterate,
            witnessed=(lambda: witnessed(self.ledgers, self.model.n_steps)) if self.ledgers else None,
            executed=None if self.discrete else self.executed,
            predict=self.predict,
            epochs=self.epochs,
            configure=self.configure,
            name=self.kind,
            settings=self.settings(),
        )

    def settings(self) -> dict[str, Any]:
        """The canonical settings."""
        model, space = self.model, self.model.action_space
        found: dict[str, Any] = {
            "gamma": model.gamma,
            "gae_lambda": model.gae_lambda,
            "entropy_coef": model.ent_coef,
            "value_coef": model.vf_coef,
            "max_grad_norm": model.max_grad_norm,
            "normalises_advantage": model.normalize_advantage,
        }
        if hasattr(model, "clip_range"):
            found["clip_range"] = model.clip_range(1.0)
        if self.discrete:
            return {**found, "n_actions": int(space.n)}
        return {**found, "action_low": space.low.tolist(), "action_high": space.high.tolist()}

    def configure(self, settings: Mapping[str, Any]) -> None:
        """Set the coefficients that a check wants to be otherwise."""
        if "entropy_coef" in settings:
            self.model.ent_coef = settings["entropy_coef"]
        if "normalises_advantage" in settings:
            self.model.normalize_advantage = settings["normalises_advantage"]

    def rollout(self) -> Batch:
        """Collect with `collect_rollouts`; rewards of truncated steps hold the bootstrap, as this library has it."""
        torch = load_torch()

        buffer = self.model.rollout_buffer
        self.model.collect_rollouts(self.model.env, self.callback, buffer, n_rollout_steps=self.model.n_steps)
        names = {
            "obs": "observations",
            "action": "actions",
            "reward": "rewards",
            "log_prob": "log_probs",
            "value": "values",
            "advantage": "advantages",
            "value_target": "returns",
        }
        found = {key: torch.from_numpy(getattr(buffer, name).copy()).float() for key, name in names.items()}
        if self.discrete:
            found["action"] = found["action"].long().squeeze(-1)
        return found

    def epochs(self) -> tuple[Batch, list[Batch]]:
        """`train()` on a fresh rollout, and what it takes from the buffer."""
        model, shown = self.model, list[Batch]()
        rows = {"obs": self.rollout()["obs"].flatten(0, 1)}
        taken = model.rollout_buffer.get

        def get(batch_size: int | None = None) -> Generator[Any, None, None]:
            for one in taken(batch_size):
                shown.append({"obs": one.observations.detach().clone().float()})
                yield one

        with kept_attributes(model, "target_kl"):
            if hasattr(model, "target_kl"):
                model.target_kl = None
            model.rollout_buffer.get = get
            try:
                model.train()
            finally:
                del model.rollout_buffer.get
        return rows, shown

    def minibatch(self) -> Batch:
        """The rows of a fresh rollout."""
        return {key: column.flatten(0, 1) for key, column in self.rollout().items()}

    def update(self, batch: Batch) -> None:
        """One call of `train()` on these rows: one epoch of one minibatch."""
        model, rows = self.model, len(batch["obs"])
        kept = kept_attributes(model, "rollout_buffer", "n_epochs", "batch_size", "target_kl")
        with kept:
            buffer = self._buffer(rows, 1)
            buffer.observations[:, 0] = batch["obs"].numpy()
            buffer.actions[:, 0] = batch["action"].reshape(rows, -1).numpy()
            names = {"log_prob": "log_probs", "value": "values", "advantage": "advantages", "value_target": "returns"}
            for key, name in names.items():
                getattr(buffer, name)[:, 0] = batch[key].numpy()
            buffer.full, buffer.pos = True, rows
            model.rollout_buffer, model.n_epochs, model.batch_size = buffer, 1, rows
            if hasattr(model, "target_kl"):
                model.target_kl = None  # made-up ratios lie beyond any limit, and no step would be taken
            model.train()

    def _buffer(self, steps: int, envs: int) -> Any:
        model = self.model
        buffer = type(model.rollout_buffer)(
            steps,
            model.observation_space,
            model.action_space,
            device=model.device,
            gamma=model.gamma,
            gae_lambda=model.gae_lambda,
            n_envs=envs,
        )
        buffer.reset()
        return buffer

    def log_prob(self, obs: Tensor, action: Tensor) -> Tensor:
        """What `train()` compares with the stored log-prob."""
        return self.model.policy.evaluate_actions(obs, action)[1]

    def act(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        """What `collect_rollouts` draws."""
        if getattr(self.model, "use_sde", False):  # noise is kept until it is reset; each row gets its own
            self.model.policy.reset_noise(len(obs))
        action, _, log_prob = self.model.policy(obs)
        return action, log_prob

    def executed(self, action: Tensor) -> Tensor:
        """Gaussian actions are clipped to the bounds."""
        torch = load_torch()

        low, high = (torch.from_numpy(b) for b in (self.model.action_space.low, self.model.action_space.high))
        return torch.minimum(torch.maximum(action, low), high)

    def predict(self, obs: Tensor, deterministic: bool) -> Tensor:
        """What evaluation gets."""
        torch = load_torch()

        return torch.from_numpy(self.model.predict(obs.numpy(), deterministic=deterministic)[0])

    def advantages(
        self, reward: Tensor, value: Tensor, next_value: Tensor, terminated: Tensor, truncated: Tensor
    ) -> tuple[Tensor, Tensor]:
        """`compute_returns_and_advantage` on these columns; truncation is put into the reward."""
        torch = load_torch()

        steps, envs = reward.shape
        buffer = self._buffer(steps, envs)
        done: Any = terminated.logical_or(truncated).numpy()
        buffer.rewards[:] = (reward + self.model.gamma * next_value * truncated).numpy()
        buffer.values[:] = value.numpy()
        buffer.episode_starts[0] = 0.0
        buffer.episode_starts[1:] = done[:-1]
        buffer.full, buffer.pos = True, steps
        buffer.compute_returns_and_advantage(last_values=next_value[-1], dones=done[-1])
        return torch.from_numpy(buffer.advantages.copy()), torch.from_numpy(buffer.returns.copy())

    def iterate(self) -> None:
        """The first rounds of a run of `PLANNED_ROUNDS`."""
        from stable_baselines3.common.callbacks import BaseCallback

        class Rounds(BaseCallback):
            """Stops a run when the next round begins."""

            begun = 0

            def _on_rollout_start(self) -> None:
                self.begun += 1

            def _on_step(self) -> bool:
                return self.begun <= ROUNDS

        planned = PLANNED_ROUNDS * self.model.n_steps * self.model.n_envs
        self.model.learn(planned, callback=Rounds())
        self.start()
