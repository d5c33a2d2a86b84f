"""What is seen of a runner of rsl_rl at the first step of each update: the rollout is whole, and no weight has moved.

Who played it is held against who is trained, what the storage gives out against what it holds, and the weights and
settings against those that the update before left. No method is replaced: the hook is the optimiser's own.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from ..drawn import ROWS
from ..drawn_tensors import Rows, compared
from ..obeying import harmless
from ..player import METRIC as PLAYED
from ..weights.at_rest import OF_CRITIC, OF_POLICY, AtRest
from ..weights.untouched import untouched

if TYPE_CHECKING:
    from ....core import Monitor

COLUMNS = {
    "actions": "actions", "values": "values", "returns": "returns", "advantages": "advantages",
    "old_actions_log_prob": "actions_log_prob",
}  # fmt: skip
"""What a minibatch holds -> what the storage calls it (rsl_rl 5.x)."""


class LooksAtRunner:
    """One look an update, on a few rows; numbers stay on their device until `take`. Draws no random number."""

    def __init__(self, runner: Any, monitor: Monitor) -> None:
        self._runner, self._monitor = runner, monitor
        self._learner = _actor(runner.alg)
        self._resting = AtRest([runner.alg.optimizer], parts=networks(runner.alg))
        self._handle = runner.alg.optimizer.register_step_pre_hook(self._before)
        self._due = True
        self._gap: Tensor | None = None
        self._draws: tuple[Rows, Rows, Tensor] | None = None

    def measured(self) -> dict[str, Tensor]:
        """Return what was seen since the last row, each []."""
        gap, self._gap = self._gap, None
        return self._resting.take() | ({} if gap is None else {PLAYED: gap})

    def take(self) -> dict[str, float]:
        """Return what else was seen, already on the host."""
        draws, self._draws = self._draws, None
        drawn = {} if draws is None else compared(draws[0], draws[1], known=draws[2])
        return drawn | self._resting.settings.row()

    def rest(self) -> None:
        """Say that an update is over: from here to the first step of the next one nobody may move the weights."""
        self._due = True
        self._resting.note()

    def remove(self) -> None:
        """Take the hooks away."""
        self._handle.remove()
        self._resting.remove()

    def _before(self, *_: Any) -> None:
        if not self._due:
            return
        self._due = False
        alg, actor = self._runner.alg, self._trained()
        if actor is None:
            return
        with harmless(self._monitor, "who plays"), untouched(actor):
            self._gap = gap_of(actor, alg.storage)
        with harmless(self._monitor, "rows drawn"), untouched(actor):
            self._draws = drawn_by(alg)

    def _trained(self) -> Any:
        """The actor whose weights the optimiser holds: the algorithm's own, or the one that it had at first."""
        now, groups = _actor(self._runner.alg), self._runner.alg.optimizer.param_groups
        held = {id(weight) for group in groups for weight in group["params"]}
        known = now is not None and all(id(weight) in held for weight in now.parameters())
        return now if known else self._learner


def networks(alg: Any) -> dict[str, list[Tensor]]:
    """Return metric -> weights of the policy and of the critic, in 5.x and before, where one module holds both."""
    both = getattr(alg, "policy", None) or getattr(alg, "actor_critic", None)
    critic = getattr(alg, "critic", None) or getattr(both, "critic", None)
    if not isinstance(critic, torch.nn.Module):
        return {}
    trained: list[Tensor] = [weight for group in alg.optimizer.param_groups for weight in group["params"]]
    actor = getattr(alg, "actor", None) or getattr(both, "actor", None)
    shared = {id(weight) for weight in actor.parameters()} if isinstance(actor, torch.nn.Module) else set[int]()
    known = {id(weight) for weight in critic.parameters()} - shared
    apart: tuple[list[Tensor], list[Tensor]] = ([], [])
    for weight in trained:
        apart[id(weight) in known].append(weight)
    return {OF_POLICY: apart[0], OF_CRITIC: apart[1]}


def gap_of(actor: Any, storage: Any) -> Tensor | None:
    """Return the mean distance [] of log-probabilities of stored actions, as they were drawn and under `actor`.

    None for actors with a memory. Random numbers are drawn, and thrown away: call it `untouched`.
    """
    stored = getattr(storage, "actions_log_prob", None)
    if getattr(actor, "is_recurrent", False) or stored is None:
        return None
    few = slice(None, None, max(1, stored.shape[0] * stored.shape[1] // ROWS))
    obs, actions, played = (part.flatten(0, 1)[few] for part in (storage.observations, storage.actions, stored))
    with _kept(actor.distribution):
        actor(obs, stochastic_output=True)
        return (actor.get_output_log_prob(actions).reshape(-1) - played.reshape(-1)).abs().mean()


def drawn_by(alg: Any) -> tuple[Rows, Rows, Tensor] | None:
    """Return rows [N] of a minibatch, those that the storage holds with the same action, and where there is but one.

    None for other storages than rsl_rl's own, and for minibatches of whole episodes. Random numbers are drawn.
    """
    storage = alg.storage
    made: Any = getattr(cast(Any, type(storage)), "mini_batch_generator", None)
    if not getattr(made, "__module__", "").startswith("rsl_rl.") or getattr(_actor(alg), "is_recurrent", True):
        return None
    batch: Any = next(iter(storage.mini_batch_generator(alg.num_mini_batches, 1)))
    drawn = {name: getattr(batch, name)[:ROWS] for name in COLUMNS}
    held = {name: getattr(storage, own).flatten(0, 1) for name, own in COLUMNS.items()}
    for group in storage.observations.keys():  # noqa: SIM118 (a TensorDict iterates over its rows)
        drawn[f"obs/{group}"], held[f"obs/{group}"] = (
            batch.observations[group][:ROWS],
            storage.observations[group].flatten(0, 1),
        )
    same = torch.ones(len(drawn["actions"]), len(held["actions"]), dtype=torch.bool, device=held["actions"].device)
    for column in range(held["actions"].shape[-1]):
        same &= drawn["actions"][:, column, None] == held["actions"][None, :, column]
    places = same.int().argmax(1)  # the first row where no action is the same: its own differs
    return drawn, {name: column[places] for name, column in held.items()}, same.sum(1) <= 1


def _actor(alg: Any) -> Any:
    """The actor of 5.x as it was made, before `compile`; None where actors have another interface."""
    actor = getattr(alg, "_raw_actor", None) or getattr(alg, "actor", None)
    return actor if hasattr(actor, "get_output_log_prob") and hasattr(actor, "distribution") else None


@contextmanager
def _kept(distribution: Any) -> Generator[None]:
    """Leave a distribution as it was: an actor keeps the one that it was asked for last, and the runner logs it."""
    held = cast("dict[str, Any]", vars(distribution))
    before = dict(held)
    try:
        yield
    finally:
        held.update(before)
