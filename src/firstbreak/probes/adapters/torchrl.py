"""TorchRL: any pair of a collector and a loss as a trainer, `torchrl:module:make`.

TorchRL leaves the training loop to the user, so a pair is told by a function that builds it,

    def make(make_env, *, total_steps, seed, gamma) -> Parts

where `make_env(**options)` returns a fresh TorchRL environment on the rung (a `GymWrapper` with these options). The
collector must be made from it. The loop that the adapter runs is the one of TorchRL's own examples: for each batch of
the collector, `epochs` times, the advantage is computed, the rows are shuffled into minibatches (or drawn from the
replay buffer), the entries `loss` or `loss_*` of the loss are summed and stepped, and the target is updated. Whoever
has a loop of their own puts its body into `Parts.update` and leaves the rest of it out; that body is then on trial.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ...errors import InputError, missing_extra
from ...target import load_target
from ..environments.torchrl_env import wrapped
from ..running.training import Reached

STEPS = 4096
"""Steps of the first try, unless the builder has an attribute `steps`."""
FORM = "Write: def make(make_env, *, total_steps, seed, gamma) -> firstbreak.probes.adapters.torchrl.Parts"


@dataclass
class Parts:
    """A collector, a loss and what belongs to them. Modules read and write TensorDicts under TorchRL's usual keys."""

    collector: Iterable[Any]
    """Yields batches [T] or [N, T] with `next`, `total_steps` frames in all."""
    policy: Any
    """The module that the collector acts with: `observation` -> `action`."""
    loss: Any = None
    """A `LossModule`: the entries `loss` or `loss_*` of what it returns are summed and stepped."""
    optimiser: Any = None
    """One optimiser, or several."""
    value: Any = None
    """`observation` -> `state_value`, for an actor-critic. The rungs on values ask it."""
    q: Any = None
    """`observation` -> `action_value` of all discrete actions, or (`observation`, `action`) -> `state_action_value`; or
    a function (observation [1, D], action [1, ...]) -> number."""
    advantage: Any = None
    """A value estimator (GAE), applied to the whole batch before each epoch; on-policy."""
    replay_buffer: Any = None
    """Batches are flattened and put in; minibatches are drawn from it. Off-policy."""
    target_updater: Any = None
    """Its `step()` is called after each optimiser step."""
    epochs: int = 1
    """Passes over a batch on-policy; with a replay buffer, minibatches drawn for each batch."""
    minibatch: int = 64
    """Rows of a minibatch on-policy; a replay buffer has its own `batch_size`."""
    max_grad_norm: float | None = None
    update: Callable[[Any], None] | None = None
    """The body of the user's own loop, called with each batch in the place of all of this."""
    gamma: float | None = None
    """The discount, where the builder does not take one; by default that of `advantage` or `loss`."""


class Agent:
    """What a rung asks of trained parts."""

    def __init__(self, parts: Parts, env: Any) -> None:
        self.parts, self.env = parts, env
        gamma = discount_of(parts)
        if gamma is not None:
            self.gamma = gamma
        heat = getattr(parts.loss, "log_alpha", None)
        if heat is not None:
            self.temperature = float(heat.detach().exp())
        if parts.value is not None:
            self.value = self._state_value
        if parts.q is not None:
            self.q = self._q

    def act(self, obs: Any, deterministic: bool) -> Any:
        """Return the action for one observation [D]."""
        import torch

        kind = _exploration("DETERMINISTIC" if deterministic else "RANDOM")
        with torch.no_grad(), kind:
            action = self.parts.policy(_rows(obs))["action"][0]
        return self.env.action_spec.to_numpy(action)

    def _state_value(self, obs: Any) -> float:
        import torch

        with torch.no_grad():
            return float(self.parts.value(_rows(obs))["state_value"])

    def _q(self, obs: Any, action: Any) -> float:
        import torch

        rows, given = _rows(obs), torch.as_tensor(action).reshape(1, -1)
        with torch.no_grad():
            if not hasattr(self.parts.q, "out_keys"):
                return float(self.parts.q(rows["observation"], given))
            found = self.parts.q(rows.set("action", given.float()))
        every = found.get("action_value", None)
        return float(found["state_action_value"] if every is None else every[0, int(given[0, 0])])


class Builder:
    """A function `make` as `train(make_env, *, total_steps, seed[, gamma])`."""

    def __init__(self, make: Callable[..., Parts]) -> None:
        self.make = make
        self.steps = int(getattr(make, "steps", STEPS))
        self.actions = tuple(getattr(make, "actions", ()))

    def __call__(self, make_env: Any, *, total_steps: int, seed: int, **keywords: Any) -> Agent:
        """Build, train and return the agent."""
        import torch

        made: list[Any] = []

        def make(**options: Any) -> Any:
            made.append(wrapped(make_env(), **options))
            return made[-1]

        cast(Any, torch).manual_seed(seed)
        parts = self.make(make, total_steps=total_steps, seed=seed, **keywords)
        if not made:
            raise InputError("The builder made no environment.", "Give the collector make_env(), or make_env itself.")
        try:
            for batch in parts.collector:
                learn_from(parts, batch)
        finally:
            close = getattr(parts.collector, "shutdown", None)
            if close is not None:
                close()
        return Agent(parts, made[0])


def learn_from(parts: Parts, batch: Any) -> None:
    """What TorchRL's examples do with one batch."""
    if parts.update is not None:
        parts.update(batch)
        return
    if parts.replay_buffer is not None:
        store(parts, batch)
        for _ in range(parts.epochs):
            step_on(parts, parts.replay_buffer.sample())
        return
    import torch

    for _ in range(parts.epochs):
        if parts.advantage is not None:
            with torch.no_grad():
                parts.advantage(batch)
        rows = batch.reshape(-1)
        for some in cast(Any, torch.randperm(len(rows))).split(parts.minibatch):
            step_on(parts, rows[some])


def store(parts: Parts, batch: Any) -> None:
    """Put the rows of a batch of the collector into the replay buffer."""
    parts.replay_buffer.extend(batch.reshape(-1))


def step_on(parts: Parts, rows: Any) -> None:
    """One optimiser step on one minibatch of rows."""
    import torch

    found = parts.loss(rows)
    names = [key for key in found.keys() if key == "loss" or key.startswith("loss_")]  # noqa: SIM118
    if not names:
        raise InputError(f"The loss returned {sorted(found.keys())}: nothing called loss.", "Give Parts.update.")
    cast(Any, sum(found[key] for key in names)).backward()
    held = parts.optimiser
    optimisers = cast("Sequence[Any]", held if isinstance(held, list | tuple) else [held])
    for optimiser in optimisers:
        if parts.max_grad_norm is not None:
            weights = [w for group in optimiser.param_groups for w in group["params"]]
            torch.nn.utils.clip_grad_norm_(weights, parts.max_grad_norm)
        optimiser.step()
        optimiser.zero_grad()
    if parts.target_updater is not None:
        parts.target_updater.step()


def smallest_q(loss: Any) -> Callable[[Any, Any], float]:
    """Return `Parts.q` for a loss that holds several Q networks as one (SACLoss, TD3Loss): the least of them."""

    def q(obs: Any, action: Any) -> float:
        from tensordict import TensorDict

        rows: Any = TensorDict({"observation": obs, "action": action.float()}, batch_size=[1])
        found: list[float] = []
        for i in range(loss.num_qvalue_nets):
            with loss.qvalue_network_params[i].data.to_module(loss.qvalue_network):
                found.append(float(loss.qvalue_network(rows.clone())["state_action_value"]))
        return min(found)

    return q


def _rows(obs: Any) -> Any:
    import torch
    from tensordict import TensorDict

    return TensorDict({"observation": torch.as_tensor(obs, dtype=torch.float32).reshape(1, -1)}, batch_size=[1])


def _exploration(kind: str) -> Any:
    import importlib

    torchrl: Any = importlib.import_module("torchrl.envs.utils")
    return torchrl.set_exploration_type(getattr(torchrl.ExplorationType, kind))


def discount_of(parts: Parts) -> float | None:
    """The discount that the parts hold."""
    if parts.gamma is not None:
        return parts.gamma
    for holder in (parts.advantage, getattr(parts.loss, "value_estimator", None)):
        if hasattr(holder, "gamma"):
            return float(cast(Any, holder).gamma)
    return None


def reach_builder(name: str, make: Callable[..., Parts] | None = None, steps: int | None = None) -> Reached:
    """Return the builder called `name` (without the prefix), or `make` itself, as a trainer of the ladder.

    Raises:
        InputError: it cannot be called as the ladder calls it.
        MissingExtraError: TorchRL is not installed.
    """
    try:
        import torchrl
    except ImportError as error:
        raise missing_extra("torchrl", "torchrl", "A probe of a TorchRL loss") from error
    del torchrl
    found: Any = load_target(name) if make is None else make
    if not callable(found):
        raise InputError(f"{name} is {type(found).__name__}, not a function.", FORM)
    from .function import reach_function

    wanted = reach_function(found, name, steps or getattr(found, "steps", STEPS))
    takes_gamma = "gamma" in inspect.signature(found).parameters
    builder = Builder(cast("Callable[..., Parts]", found))
    return Reached(builder, takes_gamma, wanted.steps, builder.actions)
