"""What becomes of a batch of a reference trainer of language models between sampler, scorer and loss.

The same that is asked of TRL's trainers (`trl_on_the_way`): a response that comes again keeps its score; advantages are
those of the settings; rows of the loss are those that were collected, with the advantages that were computed; and
settings stay as they were. Only trainers whose advantages are one a response (GRPO, asynchronous or with tools).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from ....tensors.token_loss import BASES
from ..obeying import harmless
from ..trl.normalised import beside
from ..trl.remembered import Remembered
from ..trl.setup import DATA, POLICY, REWARD, SAMPLE, Setup
from ..trl.trained import ALTERED, OTHERS, SAME

if TYPE_CHECKING:
    from ....core import Monitor

OF_LOSS = (
    "num_iterations", "num_minibatches", "micro_batches", "loss_type", "epsilon", "epsilon_high", "dual_clip", "beta",
    "kl_estimator", "scale_rewards", "mask_truncated", "max_grad_norm",
)  # fmt: skip
OF_SAMPLING, OF_DATA = ("temperature", "top_p"), ("prompts_per_update", "num_generations", "max_new_tokens")
PARTS = ("collect", "prepare", "loss")


class SettingsInForce(Setup):
    """Those of a reference trainer: its configuration, its reward functions and their weights."""

    def _in_force(self, optimizer: Any) -> dict[str, dict[str, Any]]:
        trainer, config = self.trainer, self.trainer.config
        functions = {name: id(function) for name, function in trainer.rewards.items()}
        return {
            REWARD: {"weights": dict(trainer.weights()), "funcs": functions},
            SAMPLE: {name: getattr(config, name) for name in OF_SAMPLING if hasattr(config, name)},
            POLICY: {name: getattr(config, name) for name in OF_LOSS if hasattr(config, name)},
            DATA: {name: getattr(config, name) for name in OF_DATA if hasattr(config, name)},
        }


class OnTheWay:
    """Told what a trainer collects, prepares and makes its loss of; `take` says what was lost or exchanged.

    Args:
        trainer: Its `collect`, `prepare` and `loss` are wrapped; they return what they did.
        monitor: Told where something could not be read.
    """

    def __init__(self, trainer: Any, monitor: Monitor) -> None:
        self.trainer, self.monitor = trainer, monitor
        self._settings, self._remembered = SettingsInForce(trainer), Remembered()
        self._found: dict[str, float] = {}
        self._collected: tuple[Tensor, Tensor] | None = None
        """Of each response that was collected: what tells it apart, and its reward."""
        self._prepared: tuple[Tensor, Tensor] | None = None
        """Of each row that was prepared: what tells it apart, and its advantage."""
        self._counts: list[Tensor] = []
        for name in PARTS:
            setattr(trainer, name, self._tapped(name, getattr(trainer, name)))

    def take(self) -> dict[str, float]:
        """Return what was found since the last call, and forget it."""
        found, self._found = self._found, {}
        counts, self._counts = self._counts, []
        if counts:
            rows, known, altered = cast("list[int]", cast(Any, torch.stack(counts).sum(0)).tolist())
            found[OTHERS] = max(found.get(OTHERS, 0.0), 1 - known / rows)
            found |= {ALTERED: altered / known} if known else {}
        return found | self._settings.row(None)

    def _tapped(self, name: str, method: Any) -> Any:
        note = {"collect": self._collect, "prepare": self._prepare, "loss": self._loss}[name]

        def tapped(*args: Any, **kwargs: Any) -> Any:
            result = method(*args, **kwargs)
            with harmless(self.monitor, f"look at what is made by {name}"), torch.no_grad():
                note(result, *args)
            return result

        return tapped

    def _collect(self, found: Any) -> None:
        batch = found.batch()
        self._collected = signed(batch), found.reward.detach().clone()
        weights = self.trainer.weights()
        paid = [values for name, values in found.components.items() if weights.get(name, 1.0)]
        if not paid or any(not all(row.own) for row in found.rows):
            return  # where tools write, a row of the same text may be another errand
        self._remembered.begin()
        blank: list[dict[str, Any]] = [{}] * len(found.rows)
        self._remembered.scored(blank, [row.prompt for row in found.rows], [row.tokens for row in found.rows])
        self._found |= self._remembered.end(torch.stack(paid, 1))

    def _prepare(self, ready: Any, *_: Any) -> None:
        own, a = signed(ready), ready["advantage"].detach()
        self._prepared = own, a.clone()
        if self._collected is None:
            return
        known, paid = self._collected
        same = own[:, None] == known
        self._found[OTHERS] = 1 - float(same.any(1).float().mean())
        size = int(self.trainer.config.num_generations)
        group = ready["group"]
        if len(own) != len(known) or not torch.equal(own, known) or len(group) % size:
            return
        table = group.reshape(-1, size)
        if torch.equal(table, table[:, :1].expand_as(table)):
            found = beside(a, paid, size, self.trainer.config.scale_rewards)
            numbers = {name: float(value) for name, value in found.items()}
            self._found |= {name: value for name, value in numbers.items() if not math.isnan(value)}

    def _loss(self, _: Any, batch: Any, *__: Any) -> None:
        if self._prepared is None:
            return
        (known, drawn), own = self._prepared, signed(batch)
        same = own[:, None] == known
        found = same.any(1)
        near = (batch["advantage"].detach()[:, None] - drawn).abs() <= SAME * drawn.abs().max()
        altered = found & ~(same & near).any(1)
        self._counts.append(torch.stack([torch.ones_like(found).sum(), found.sum(), altered.sum()]))


def on_the_way(trainer: Any, monitor: Monitor) -> OnTheWay | None:
    """Return what looks at `trainer`, where its advantages are one a response."""
    with harmless(monitor, "follow batches on their way"):
        if all(hasattr(trainer, name) for name in (*PARTS, "advantages", "rewards", "weights")):
            return OnTheWay(trainer, monitor)
    return None


def signed(batch: Any) -> Tensor:
    """A number [B] for each row that does not change with the padding, on whichever side."""
    there = batch["attention"].long()
    keys = torch.full((there.shape[1] + 1,), BASES[0], dtype=torch.int64).cumprod(0)
    return ((batch["ids"] + 1) * there * keys[there.cumsum(1)]).sum(1)
