"""`Pieces` of the trainers of `firstbreak.trainers` and of classes derived from them, through their own methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..pieces import Batch, Pieces
from ..torch_types import Tensor
from ..witness import Ledger, make_witness
from . import reference_plans as plans
from .attributes import kept_numbers, listening, without_kl_limit
from .reference_off_policy import OffPolicy
from .reference_trainer import Trainer, optimisers

BUFFER_SIZE = 100
"""Rows of the replay buffer, small enough to be filled twice over."""

SMALL: dict[str, dict[str, Any]] = {
    "PPO": {"num_envs": 2, "num_steps": 24, "num_minibatches": 3, "update_epochs": 2, "hidden_sizes": (32, 32)},
    "MM-RKHS": {"num_envs": 2, "rollout_steps": 24, "minibatch_size": 16, "epochs": 2, "hidden_sizes": (32, 32)},
    "DQN": {"buffer_size": BUFFER_SIZE, "batch_size": 32, "hidden_sizes": (32, 32)},
    "SAC": {"buffer_size": BUFFER_SIZE, "batch_size": 32, "hidden_sizes": (32, 32)},
}
"""Settings that only make things small; all others stay as the class has them."""


def algorithm_of(kind: type) -> tuple[str, type] | None:
    """The algorithm and the config class of a reference trainer; None for any other class."""
    for ancestor in kind.__mro__:
        if ancestor.__module__.startswith("firstbreak.trainers."):
            import importlib

            module = importlib.import_module(ancestor.__module__)
            name = {"PPO": "PPO", "DQN": "DQN", "SAC": "SAC", "MMRKHS": "MM-RKHS"}.get(ancestor.__name__)
            if name is not None:
                return name, getattr(module, f"{ancestor.__name__}Config")
    return None


def build(trainer: type, kind: str, seed: int) -> Pieces:
    """Build the class `trainer` on witness environments with actions of this `kind`."""
    found = algorithm_of(trainer)
    assert found is not None
    algorithm, config = found
    ledgers: list[Ledger] = []
    made = trainer(lambda: make_witness(kind, ledgers, seed), seed=seed, config=config(**SMALL[algorithm]))
    return pieces_of(made, algorithm, kind, ledgers)


def pieces_of(trainer: Any, algorithm: str, kind: str, ledgers: list[Ledger]) -> Pieces:
    """Return the pieces of an instance; `ledgers` is empty where the environments are the user's."""
    return (OnPolicy if algorithm in {"PPO", "MM-RKHS"} else OffPolicy)(trainer, algorithm, kind, ledgers).pieces()


class OnPolicy(Trainer):
    """PPO and MM-RKHS."""

    def pieces(self) -> Pieces:
        """Return what can be taken hold of."""
        trainer = self.trainer
        self.envs = trainer.config.num_envs
        self.last_steps = getattr(trainer.config, "num_steps", None) or trainer.config.rollout_steps
        return Pieces(
            algorithm=self.algorithm,
            actor=trainer.actor,
            critics=[trainer.critic],
            optimisers=optimisers(trainer),
            rollout=self.rollout,
            minibatch=self.minibatch,
            losses=lambda batch: trainer.loss(self.rows(batch)),
            update=lambda batch: trainer.step(self.rows(batch)),
            log_prob=self.log_prob,
            act=self.act,
            value=trainer.critic,
            advantages=self.advantages,
            iterate=lambda: self.run(self.envs * int(self.last_steps or 1)),
            witnessed=self.witnessed(),
            executed=None if self.discrete else self.executed,
            predict=self.predict,
            epochs=self.epochs,
            configure=self.configure,
            state=self.state if self.algorithm == "MM-RKHS" else None,
            schedules={"eta": plans.eta(trainer)} if self.algorithm == "MM-RKHS" else {},
            logged=self.logged,
            name=self.kind,
            settings=self.settings(),
        )

    def state(self) -> dict[str, Any]:
        """The weights of the terms and the bandwidth, as set for the last rollout."""
        trainer = self.trainer
        found = {"beta": trainer.beta, "eta": trainer.eta}
        return found if trainer.kernel is not None else {**found, "bandwidth": trainer.bandwidth}

    def logged(self) -> tuple[Batch, Mapping[str, float]]:
        """`update` on a fresh rollout and what it returns to the log."""
        with kept_numbers(self.trainer):
            rollout = self.trainer.collect()
            return self.columns(self.trainer.advantages(rollout.clone())), self.trainer.update(rollout)

    def epochs(self) -> tuple[Batch, list[Batch]]:
        """`update` on a fresh rollout, and what it hands to `step`."""
        trainer, shown = self.trainer, list[Batch]()
        rollout = trainer.collect()
        rows = {"obs": rollout["obs"].flatten(0, 1).clone()}
        with kept_numbers(trainer), without_kl_limit(trainer), listening(trainer, "step", shown):
            trainer.update(rollout)
        return rows, shown

    def rollout(self) -> Batch:
        """`collect` and `advantages`, turned to [T, N] with raw advantages."""
        return self.columns(self.trainer.advantages(self.trainer.collect()))

    def columns(self, found: Any) -> Batch:
        """A rollout [N, T] of the trainer, turned to [T, N] with raw advantages."""
        columns = {str(k): found[k].transpose(0, 1).detach().clone() for k in list(found.keys())}
        columns["advantage"] = columns.get("raw_advantage", columns["advantage"])
        return columns

    def minibatch(self) -> Batch:
        """The first minibatch of a fresh rollout, weights of the terms set as for that rollout."""
        trainer = self.trainer
        rollout = trainer.advantages(trainer.collect())
        if hasattr(trainer, "set_weights"):
            trainer.set_weights(rollout)
        return next(iter(trainer.minibatches(rollout)))

    def log_prob(self, obs: Tensor, action: Tensor) -> Tensor:
        """The trainer's own log-prob of stored actions."""
        return self.trainer.log_prob(self.rows({"obs": obs, "action": action}))

    def act(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        """A draw as in `collect`: the distribution's sample and its log-prob."""
        policy = self.trainer.actor.distribution(obs)
        action = policy.sample()
        return action, policy.log_prob(action)

    def executed(self, action: Tensor) -> Tensor:
        """What the trainer means to send: within the bounds, or whatever a derived class has written down."""
        return self.trainer.executed(action)

    def advantages(
        self, reward: Tensor, value: Tensor, next_value: Tensor, terminated: Tensor, truncated: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The trainer's `advantages` on these columns."""
        from tensordict import TensorDict

        columns = {"reward": reward, "value": value, "next_value": next_value}
        columns |= {"terminated": terminated, "truncated": truncated}
        turned = {k: v.transpose(0, 1).contiguous() for k, v in columns.items()}
        found = self.trainer.advantages(TensorDict(turned, batch_size=list(turned["reward"].shape)))
        raw = found["raw_advantage"] if "raw_advantage" in found.keys() else found["advantage"]  # noqa: SIM118
        return raw.transpose(0, 1), found["value_target"].transpose(0, 1)
