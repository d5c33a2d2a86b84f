"""`Pieces` of the trainers of `firstbreak.trainers` and of classes derived from them, through their own methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, cast

from ..pieces import Batch, Pieces
from ..torch_types import Tensor, load_torch
from ..witness import Ledger, make_witness, witnessed
from . import reference_plans as plans
from .attributes import kept_numbers, moves_its_own_way

ROUNDS, PLANNED_ROUNDS = 3, 30
"""Rounds of training in `iterate`, out of so many planned."""
BUFFER_SIZE, FIRST_STEPS, PLANNED_STEPS = 100, 60, 600
"""Rows of the replay buffer, small enough to be filled twice over; steps collected at the start, out of so many."""

SMALL: dict[str, dict[str, Any]] = {
    "PPO": {"num_envs": 2, "num_steps": 24, "num_minibatches": 3, "update_epochs": 2, "hidden_sizes": (32, 32)},
    "MM-RKHS": {"num_envs": 2, "rollout_steps": 24, "minibatch_size": 16, "epochs": 2, "hidden_sizes": (32, 32)},
    "DQN": {"buffer_size": BUFFER_SIZE, "batch_size": 32, "hidden_sizes": (32, 32)},
    "SAC": {"buffer_size": BUFFER_SIZE, "batch_size": 32, "hidden_sizes": (32, 32)},
}
"""Settings that only make things small; all others stay as the class has them."""


class _EnoughError(Exception):
    """Ends a run from its own log callback."""


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


class _Trainer:
    """What the adapters share."""

    def __init__(self, trainer: Any, algorithm: str, kind: str, ledgers: list[Ledger]) -> None:
        self.trainer, self.algorithm, self.kind, self.ledgers = trainer, algorithm, kind, ledgers
        self.discrete = hasattr(trainer.env.action_spec.space, "n")
        self.last_steps: int | None = None

    def settings(self) -> dict[str, Any]:
        """The canonical settings: those of the config that have their names, and the bounds."""
        config, space = self.trainer.config, self.trainer.env.action_spec.space
        names = ("gamma", "gae_lambda", "clip_range", "exponent_clip", "entropy_coef", "value_coef", "max_grad_norm")
        more = ("tau", "target_interval", "double", "buffer_size", "normalises_advantage", "form")
        found = {name: getattr(config, name) for name in (*names, *more) if hasattr(config, name)}
        if self.algorithm in {"SAC", "DQN"}:
            if not moves_its_own_way(self.trainer):
                found.setdefault("tau", 1.0)
            found.setdefault("target_interval", 1)
        if self.discrete:
            return {**found, "n_actions": int(space.n)}
        return {**found, "action_low": space.low[0].tolist(), "action_high": space.high[0].tolist()}

    def rows(self, batch: Batch) -> Any:
        """`batch` as the trainer's own kind of container."""
        from tensordict import TensorDict

        return TensorDict(dict(batch), batch_size=[len(batch["obs"])])

    def predict(self, obs: Tensor, deterministic: bool) -> Tensor:
        """What evaluation gets, row by row."""
        import numpy as np

        torch = load_torch()

        return torch.as_tensor(np.array([self.trainer.act(row.numpy(), deterministic) for row in obs]))

    def witnessed(self) -> Callable[[], Batch] | None:
        """What the environments saw."""
        return (lambda: witnessed(self.ledgers, self.last_steps)) if self.ledgers else None

    def configure(self, settings: Mapping[str, Any]) -> None:
        """Set what a check wants to be otherwise, where the config has it."""
        from dataclasses import replace

        config = self.trainer.config
        known = {k: v for k, v in settings.items() if k in {"entropy_coef"} and hasattr(config, k)}
        self.trainer.config = replace(config, **known)

    def run(self, steps_per_round: int) -> None:
        """The first rounds of `learn`, with a planned length of `PLANNED_ROUNDS`."""
        rounds = 0

        def log(metrics: Any, steps: int) -> None:
            nonlocal rounds
            del metrics, steps
            rounds += 1
            if rounds >= ROUNDS:
                raise _EnoughError

        with kept_numbers(self.trainer):
            self.trainer.env_steps = 0
            with suppress(_EnoughError):
                self.trainer.learn(PLANNED_ROUNDS * steps_per_round, log)


class OnPolicy(_Trainer):
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
            optimisers=_optimisers(trainer),
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


class OffPolicy(_Trainer):
    """DQN and SAC."""

    def pieces(self) -> Pieces:
        """Return what can be taken hold of."""
        trainer, sac = self.trainer, self.algorithm == "SAC"
        if self.ledgers:
            self.collect(FIRST_STEPS)
        settings = self.settings()
        if sac:
            settings |= {"policy_low": settings["action_low"], "policy_high": settings["action_high"]}
            settings["target_entropy"] = float(trainer.target_entropy)
        return Pieces(
            algorithm=self.algorithm,
            actor=trainer.actor if sac else None,
            critics=list(trainer.critics) if sac else [trainer.q_network],
            target_critics=list(trainer.target_critics) if sac else [trainer.target_network],
            optimisers=_optimisers(trainer),
            minibatch=trainer.sample,
            losses=lambda batch: trainer.loss(self.rows(batch)),
            update=self.update,
            log_prob=trainer.actor.log_prob if sac else None,
            act=trainer.actor.sample if sac else None,
            q=self.q,
            td_target=lambda batch: trainer.td_target(self.rows(batch)),
            sync_target=self.sync_target,
            iterate=self.iterate,
            collect=self.collect,
            witnessed=self.witnessed(),
            executed=(lambda action: action) if sac else None,
            predict=self.predict,
            log_temperature=trainer.log_alpha if sac and trainer.config.alpha_learnt else None,
            fixed_log_temperature=trainer.log_alpha if sac and not trainer.config.alpha_learnt else None,
            schedules={} if sac else {"exploration": plans.exploration(trainer)},
            name=self.kind,
            settings=settings,
        )

    def collect(self, steps: int) -> None:
        """`collect` so often: with the policy's own actions, of DQN at the start of a run, when most are random."""
        with kept_numbers(self.trainer):
            if "random_steps" in vars(self.trainer):
                self.trainer.random_steps = 0
            if self.algorithm == "DQN":  # without a planned length its exploration is over after one step
                self.trainer.total_steps = PLANNED_STEPS
            for _ in range(steps):
                self.trainer.collect()

    def update(self, batch: Batch) -> None:
        """One `step` that is not the one that moves a periodic target."""
        with kept_numbers(self.trainer):
            self.trainer.gradient_steps = 0
            self.trainer.step(self.rows(batch))

    def sync_target(self) -> None:
        """The `step` after which the target moves."""
        with kept_numbers(self.trainer):
            self.trainer.gradient_steps = int(self.settings()["target_interval"]) - 1
            self.trainer.step(self.trainer.sample())

    def iterate(self) -> None:
        """A few gradient steps."""
        with kept_numbers(self.trainer):
            for _ in range(ROUNDS):
                self.trainer.step(self.trainer.sample())

    def q(self, obs: Tensor, action: Tensor) -> list[Tensor]:
        """One [B] of each critic."""
        if self.algorithm == "SAC":
            return [critic(obs, action) for critic in self.trainer.critics]
        return [self.trainer.q_network(obs).gather(-1, action.unsqueeze(-1)).squeeze(-1)]


def _optimisers(trainer: Any) -> list[Any]:
    """Every optimiser the trainer holds, in attributes or in lists of them."""
    from torch.optim import Optimizer

    found: list[Any] = []
    held = cast(dict[str, Any], vars(trainer))
    for value in held.values():
        items: list[Any] = [*value] if isinstance(value, (list, tuple)) else [value]
        found += [item for item in items if isinstance(item, Optimizer)]
    return found
