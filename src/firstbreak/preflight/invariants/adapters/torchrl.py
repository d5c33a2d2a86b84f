"""`Pieces` of an on-policy pair of a TorchRL collector and loss, `torchrl:module:make`: the same builder as for probes.

What `make(make_env, *, total_steps, seed[, gamma])` returns (`firstbreak.probes.adapters.torchrl.Parts`) is taken hold
of through its own modules: the collector collects, the estimator estimates, the loss is called on TensorDicts whose
entries are set. A loop of the user's own (`Parts.update`) cannot be fed single minibatches and is left to the probes.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from ....errors import InputError
from ....probes.adapters.torchrl import Parts, discount_of, learn_from, step_on
from ....probes.environments.torchrl_env import wrapped
from ....target import load_target
from ..pieces import Batch, Pieces
from ..torch_types import Tensor, load_torch
from ..witness import Ledger, make_witness, witnessed
from .torchrl_rows import Columns, Rows

GAMMA = 0.97
"""Asked of a builder that takes a discount: no default of a library, so that one of its own shows."""
TOTAL_STEPS = 1 << 17
ROUNDS = 3
"""Batches of the collector in `iterate`."""


def build_all(name: str, seed: int) -> list[Pieces]:
    """Return the pieces of the builder `name` (without its prefix), one for each action space that it takes.

    Raises:
        InputError: it is no function, builds no environment, or its pair learns from a replay buffer.
    """
    make = load_target(name)
    if not callable(make):
        raise InputError(f"{name} is {type(make).__name__}, not a function.", "Write: def make(make_env, ...) -> Parts")
    kinds = tuple(getattr(make, "actions", ())) or ("discrete",)
    return [Pair(cast("Callable[..., Parts]", make), kind, seed).pieces() for kind in kinds]


class Pair:
    """One collector and loss on witness environments, and how to take hold of them."""

    def __init__(self, make: Callable[..., Parts], kind: str, seed: int) -> None:
        self.kind, self.ledgers, made = kind, list[Ledger](), list[Any]()

        def make_env(**options: Any) -> Any:
            made.append(wrapped(make_witness(kind, self.ledgers, seed), **options))
            return made[-1]

        given = {"gamma": GAMMA} if "gamma" in inspect.signature(make).parameters else {}
        load_torch().manual_seed(seed)
        self.parts = make(make_env, total_steps=TOTAL_STEPS, seed=seed, **given)
        if not made:
            raise InputError("The builder made no environment.", "Give the collector make_env(), or make_env itself.")
        if self.parts.replay_buffer is not None:
            hint = "The probes climb with it: firstbreak probe torchrl:... Or write a function that returns Pieces."
            raise InputError("The invariants take hold of on-policy pairs of TorchRL only, without a buffer.", hint)
        self.gamma = given.get("gamma", discount_of(self.parts))
        self.spec = made[0].action_spec
        self.rows = Rows(self.parts, self.spec, discrete=kind == "discrete")
        self.batches: Iterator[Any] = iter(self.parts.collector)
        self.steps = self._collected().shape[0]

    def pieces(self) -> Pieces:
        """Return what can be taken hold of."""
        parts, loss = self.parts, self.parts.loss if self.parts.update is None else None
        held = parts.optimiser
        optimisers: list[Any] = [*held] if isinstance(held, (list, tuple)) else [held] if held is not None else []
        seen = sum(1 for ledger in self.ledgers if ledger.rows)
        return Pieces(
            algorithm="PPO" if loss is None or hasattr(loss, "clip_epsilon") else "A2C",
            actor=parts.policy,
            critics=[] if parts.value is None else [parts.value],
            optimisers=optimisers,
            rollout=self.rollout,
            minibatch=self.minibatch,
            losses=None if loss is None else self.losses,
            update=None if loss is None or not optimisers else lambda batch: step_on(parts, self.rows.of(batch)),
            log_prob=self.log_prob,
            act=self.act,
            value=None if parts.value is None else self.rows.value,
            advantages=self.columns.advantages if self.columns.usable else None,
            iterate=self.iterate,
            witnessed=self.witnessed if seen else None,
            predict=self.predict,
            name=self.kind,
            settings=self.settings(),
        )

    @property
    def columns(self) -> Columns:
        """The estimator on columns of numbers."""
        return Columns(self.parts)

    def settings(self) -> dict[str, Any]:
        """The canonical settings that the loss and the estimator tell."""
        loss, estimator = self.parts.loss, self.columns.estimator
        found: dict[str, Any] = {} if self.gamma is None else {"gamma": float(self.gamma)}
        if estimator is not None and hasattr(estimator, "lmbda"):
            found["gae_lambda"] = float(estimator.lmbda)
        names = {"clip_range": "clip_epsilon", "value_coef": "critic_coeff", "entropy_coef": "entropy_coeff"}
        for name, own in names.items():
            value = getattr(loss, own, None)
            if value is not None and not isinstance(value, Mapping):
                found[name] = float(value)
        if not getattr(loss, "entropy_bonus", True):
            found["entropy_coef"] = 0.0
        found["normalises_advantage"] = bool(getattr(loss, "normalize_advantage", False))
        if self.parts.max_grad_norm is not None:
            found["max_grad_norm"] = self.parts.max_grad_norm
        if self.kind == "discrete":
            return {**found, "n_actions": int(self.spec.space.n)}
        space = self.spec.space
        return {**found, "action_low": space.low.tolist(), "action_high": space.high.tolist()}

    def _collected(self) -> Any:
        """The next batch of the collector as [T, N], its advantages computed."""
        batch = next(self.batches)
        with load_torch().no_grad():
            if self.parts.advantage is not None:
                self.parts.advantage(batch)
        batch = batch.unsqueeze(0) if batch.batch_dims == 1 else batch
        return batch.transpose(0, 1)

    def rollout(self) -> Batch:
        """One batch of the collector under canonical keys."""
        return self.rows.canonical(self._collected())

    def minibatch(self) -> Batch:
        """The rows of a fresh rollout."""
        return {key: column.flatten(0, 1) for key, column in self.rollout().items()}

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """The entries `loss_*` of the loss."""
        found = self.parts.loss(self.rows.of(batch))
        names = {"loss_objective": "policy", "loss_critic": "value", "loss_entropy": "entropy", "loss_actor": "policy"}
        keys = [str(key) for key in found.keys()]  # noqa: SIM118 (a TensorDict)
        return {names.get(key, key): found[key] for key in keys if key.startswith("loss_")}

    def log_prob(self, obs: Tensor, action: Tensor) -> Tensor:
        """The policy's own distribution at stored actions."""
        return self.parts.policy.get_dist(self.rows.seen(obs)).log_prob(self.rows.stored(action))

    def act(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        """A draw as the collector makes it."""
        with _exploration("RANDOM"):
            action = self.parts.policy(self.rows.seen(obs))["action"]
        shown = self.rows.shown(action)
        return shown, self.log_prob(obs, shown)

    def predict(self, obs: Tensor, deterministic: bool) -> Tensor:
        """What evaluation gets."""
        with load_torch().no_grad(), _exploration("DETERMINISTIC" if deterministic else "RANDOM"):
            return self.rows.shown(self.parts.policy(self.rows.seen(obs))["action"])

    def iterate(self) -> None:
        """The first rounds of TorchRL's own loop."""
        for _ in range(ROUNDS):
            learn_from(self.parts, next(self.batches))

    def witnessed(self) -> Batch:
        """What the environments of the collector saw during the last batch."""
        return witnessed([ledger for ledger in self.ledgers if ledger.rows], self.steps)


def _exploration(kind: str) -> Any:
    utils: Any = importlib.import_module("torchrl.envs.utils")
    return utils.set_exploration_type(getattr(utils.ExplorationType, kind))
