"""What the reference trainers are trained on, beside what their environments gave and got, and their targets anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from ....exchange.exchanged import of
from ....exchange.glimpses import Glimpses
from ....exchange.handed_on import HandedOn, Stored, taking_turns
from ....exchange.uniform_draws import UniformDraws
from ....tensors.critic import value_residual
from ..drawn import of_reference as drawn
from ..obeying import harmless
from ..replay_chain import newest
from ..weights.untouched import untouched

if TYPE_CHECKING:
    from ....core import Monitor

RESIDUAL = "critic/target_residual"
ROWS = 256
"""Rows of a rollout whose values are worked out anew. Engineering choice: a small part of an update."""


class StepsOfTrainer:
    """Sees the rollouts or samples that a trainer's updates are given, and what its replay buffer holds."""

    def __init__(self, trainer: Any, monitor: Monitor) -> None:
        self.trainer, self.monitor = trainer, monitor
        self._handed = HandedOn()
        self._glimpses = Glimpses(self._handed)
        self._given: Any = None
        self._draws = UniformDraws()
        self._values: dict[str, float] = {}
        name = "update" if hasattr(trainer, "update") else "step"
        usual = getattr(trainer, name)

        def given(rows: Any) -> Any:
            self._given = rows
            with harmless(monitor, "log_to"):
                self._values = valued(trainer, rows)
            return usual(rows)

        setattr(trainer, name, given)

    def look(self, shown: Tensor) -> dict[str, float]:
        """Take what the policy is shown [N, D] before it acts; return what is told at once of the steps before."""
        exchanged = of(self.monitor)
        found = self._glimpses.look(exchanged)
        self._glimpses.show(shown.numpy(), exchanged)
        return found

    def take(self) -> dict[str, float]:
        """Return what became of the steps since the last call, and how far targets are from their formula."""
        given, self._given = self._given, None
        self._glimpses.row()
        trainer, exchanged = self.trainer, of(self.monitor)
        buffer, copies = getattr(trainer, "buffer", None), int(trainer.config.num_envs)
        held = len(buffer) if buffer is not None else 0 if given is None else given.numel()
        count = self._handed.due(exchanged, int(trainer.env_steps), held)
        count -= count % copies
        found = self._values if buffer is None or given is None else self._drawn(buffer, given)
        if exchanged is None or not count:
            return found
        rows = _collected(given, count // copies) if buffer is None else _newest(buffer, count)
        return found | self._handed.numbers(exchanged.last(count), self._stored(rows))

    def _drawn(self, buffer: Any, sample: Any) -> dict[str, float]:
        """Look at a sample of a replay buffer: its targets, its rows and their places."""
        places = sample.get("index", None)
        if isinstance(places, Tensor):
            self._draws.add(places.cpu().numpy(), int(buffer._writer._cursor), len(buffer))
        return residual(self.trainer, sample) | drawn(buffer, sample) | self._draws.take()

    def _stored(self, rows: Any) -> Stored:
        executed = getattr(self.trainer, "executed", None)
        action: Tensor = rows["action"] if executed is None else executed(rows["action"])
        return Stored(
            obs=rows["obs"].numpy(),
            action=action.numpy(),
            reward=rows["reward"].numpy(),
            ended=(rows["terminated"] | rows["truncated"]).numpy(),
            copy=taking_turns(len(rows), int(self.trainer.config.num_envs)),
        )


def valued(trainer: Any, rollout: Any) -> dict[str, float]:
    """Return how far the values of the newest rows of a rollout are from those of the critic before its update."""
    critic = getattr(trainer, "critic", None)
    if critic is None:
        return {}
    copies, steps = rollout.shape
    rows = rollout[:, max(0, steps - -(-ROWS // copies)) :].reshape(-1)
    with torch.no_grad():
        return value_residual(rows["value"], critic(rows["obs"]))


def residual(trainer: Any, sample: Any) -> dict[str, float]:
    """Return how far the trainer's targets are from what its networks give, root mean square over their spread."""
    expected = _dqn if hasattr(trainer, "q_network") else _sac if hasattr(trainer, "target_critics") else None
    if expected is None:
        return {}
    parts = cast("dict[str, Any]", vars(trainer))
    networks = [part for part in parts.values() if isinstance(part, torch.nn.Module)]
    with untouched(*networks):
        before: Any = torch.get_rng_state()
        made = cast(Tensor, trainer.td_target(sample)).reshape(-1)
        torch.set_rng_state(before)
        meant = expected(trainer, sample).reshape(-1)
    if made.shape != meant.shape or meant.numel() < 2:
        return {}
    size = meant.std() + 1e-3 * meant.abs().mean() + 1e-9  # where all targets are alike, rounding is no residual
    return {RESIDUAL: float((made - meant).square().mean().sqrt() / size)}


def _dqn(trainer: Any, sample: Any) -> Tensor:
    """r + gamma (1 - terminated) Q'(s', a*) (Mnih et al. 2015; van Hasselt et al. 2016 where the chooser is online)."""
    values: Tensor = trainer.target_network(sample["next_obs"])
    chooser: Tensor = trainer.q_network(sample["next_obs"]) if trainer.config.double else values
    best = values.gather(-1, chooser.argmax(-1, keepdim=True)).squeeze(-1)
    return sample["reward"] + trainer.gamma * (~sample["terminated"]) * best


def _sac(trainer: Any, sample: Any) -> Tensor:
    """r + gamma (1 - terminated) (min Q'(s', a') - alpha log pi(a'|s')) (Haarnoja et al. 2018, arXiv 1812.05905)."""
    action, log_prob = trainer.actor.sample(sample["next_obs"])
    first, second = (critic(sample["next_obs"], action) for critic in trainer.target_critics)
    soft = torch.minimum(first, second) - trainer.alpha * log_prob
    return sample["reward"] + trainer.gamma * (~sample["terminated"]) * soft


def _collected(rollout: Any, steps: int) -> Any:
    """The newest `steps` of a rollout [N, T], in the order in which the copies took them."""
    return rollout.transpose(0, 1)[-steps:].reshape(-1)


def _newest(buffer: Any, count: int) -> Any:
    """The newest `count` rows of a replay buffer of TorchRL, oldest first."""
    return buffer[newest(count, int(buffer._writer._cursor), len(buffer))]
