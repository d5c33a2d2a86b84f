"""TorchRL: `MonitorHook` for `torchrl.trainers.Trainer`; `LossWatch` for a loop of one's own.

MonitorHook(monitor).register(trainer)
trainer.train()

watch = LossWatch(loss_module, {"": optimiser})
...                                                    # your loop: collect, loss_module(minibatch), step
verdict = monitor.log(watch.row(), step=frames)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor
from torchrl.trainers.trainers import TrainerHookBase

from ..tensors.quantities import Quantities
from ..verdict import Action, Verdict
from .parts.obeying import ask, complain, harmless, keep, keep_failed, known, put_back
from .parts.refusing import insist
from .parts.seconds import Seconds
from .parts.torchrl.answers import AnswersOfTrainer
from .parts.torchrl.collected import Collected
from .parts.torchrl.config import loss_config, task_config
from .parts.torchrl.drawn import Draws
from .parts.torchrl.estimates import estimates
from .parts.torchrl.handed_on import StepsOfTrainer
from .parts.torchrl.hooks import estimator, settings
from .parts.torchrl.loss import LossWatch

if TYPE_CHECKING:
    from ..core import Monitor

__all__ = ["LossWatch", "MonitorHook"]


class MonitorHook(TrainerHookBase):
    """Gives every update of a `Trainer` to a `Monitor` and does what it answers. It changes no weight or random number.

    One row a collected batch, at the frames collected: rewards before the update, advantages after the first epoch,
    losses and gradients after the update; beside a `World`, whether what is trained on is what was exchanged there. A
    verdict on an earlier part leaves the rest of the update out.

    Args:
        monitor: Who judges. Close it yourself, or use it in a `with`.
        optimisers: Where the trainer has none of its own (a custom `OptimizationStepper`): by name, see `LossWatch`.
        checkpoint_rows: Rows from checkpoint to checkpoint, where the monitor has a store for them.
    """

    def __init__(
        self,
        monitor: Monitor,
        *,
        optimisers: Mapping[str, torch.optim.Optimizer] | None = None,
        checkpoint_rows: int = 10,
    ) -> None:
        self.monitor = insist(monitor, checkpoint_rows)
        self.optimisers: dict[str, torch.optim.Optimizer] = dict(optimisers or {})
        self.checkpoint_rows = checkpoint_rows
        self._trainer: Any = None
        self._watch: LossWatch | None = None
        self._handed: StepsOfTrainer | None = None
        self._seen: Collected | None = None
        self._draws: Draws | None = None
        self._answers: AnswersOfTrainer | None = None
        self._leave_out = self._go_back = self._judged = self._ends = False
        self._exact: frozenset[str] = frozenset()
        self._collection: Any = None
        """The batch that was collected last."""
        self._rows = 0
        self._seconds = Seconds()

    def register(self, trainer: Any, name: str = "monitor") -> None:
        """Hang the hook on `trainer`."""
        self._trainer = trainer
        if not self.optimisers and getattr(trainer, "optimizer", None) is not None:
            self.optimisers = {"": trainer.optimizer}
        self._handed = StepsOfTrainer(trainer, self.monitor)
        with harmless(self.monitor, "MonitorHook"):
            self.monitor.configure(loss_config(trainer))
            self.monitor.configure(task_config(trainer), give_way=True)
            self._watch = LossWatch(trainer.loss_module, self.optimisers, self._allowed, self._moved)
            self._seen, self._draws = Collected(trainer, self.monitor), Draws(trainer, self.monitor)
            self._answers = AnswersOfTrainer(trainer, self.monitor, self._playing, self._handed.look)
        trainer.register_op("pre_steps_log", self._collected)
        trainer.register_op("post_epoch_log", self._epoch_over)
        trainer.register_op("post_steps", self._update_over)
        trainer.register_op("shutdown", self._release)
        trainer.register_module(name, self)

    def state_dict(self) -> dict[str, Any]:
        """Rows so far; the monitor keeps its own record."""
        return {"rows": self._rows}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take up the count of rows."""
        self._rows = int(state_dict["rows"])

    # ---- what the trainer calls --------------------------------------------------------------------------------------

    def _collected(self, batch: Any) -> None:
        with harmless(self.monitor, "MonitorHook"):
            self._judged, self._collection = False, batch
            if batch is not None:
                if self._answers is not None:
                    self._answers.collected(batch)
                if self._handed is not None:
                    self._handed.collected(batch)
                row = _rewards(batch) | self._progress()
                self._log(row | ({} if self._seen is None else self._seen.take()))

    def _epoch_over(self, batch: Any) -> None:
        """After the first epoch the batch holds advantages and the values they were computed from."""
        if self._judged or batch is None:
            return
        self._judged = True
        with harmless(self.monitor, "MonitorHook"):
            trainer = self._trainer
            row = estimates(batch, getattr(trainer.loss_module, "tensor_keys", None), estimator(trainer))
            with harmless(self.monitor, "steps handed on"):
                row |= {} if self._handed is None else self._handed.take(batch)
            if row:
                self._exact = frozenset(row)
                self._log(row)

    def _update_over(self) -> None:
        with harmless(self.monitor, "MonitorHook"):
            row = {} if self._watch is None else self._watch.row()
            for fault in [] if self._watch is None else self._watch.faults:
                complain(self.monitor, fault)
            # TorchRL's explained variance is a mean over minibatches of values that move; the batch has its own.
            row = {name: value for name, value in row.items() if name not in self._exact}
            if row:
                with harmless(self.monitor, "rows drawn"):
                    row |= {} if self._draws is None else self._draws.take()
                    row |= {} if self._answers is None else self._answers.take()
                self._settle(self._log(row | settings(self._trainer)))
            self._leave_out = False

    def _release(self) -> None:
        if self._watch is not None:
            self._watch.remove()
        for looks in (self._draws, self._answers):
            if looks is not None:
                looks.remove()

    # ---- obeying -----------------------------------------------------------------------------------------------------

    def _allowed(self, norm: Tensor) -> bool:
        # On a graphics card, reading the norm here would make every step wait.
        if not self._leave_out and norm.device.type == "cpu" and not math.isfinite(float(norm)):
            self._log({"optim/grad_norm": float(norm)})
        return not self._leave_out

    def _moved(self, changes: Mapping[str, float]) -> None:
        with harmless(self.monitor, "MonitorHook"):
            self._log(changes)

    def _playing(self, row: Mapping[str, float], played: int) -> None:
        self.monitor.beside(row, step=float(self._trainer.collected_frames + played))

    def _log(self, row: Mapping[str, float]) -> Verdict:
        verdict = ask(self.monitor, known(row), float(self._trainer.collected_frames))
        self._leave_out |= verdict.stop_update
        self._go_back |= verdict.roll_back
        if verdict.stop_training and not self._ends:
            self._ends = True  # every later verdict says so again
            with harmless(self.monitor, "MonitorHook"):
                keep_failed(self.monitor, self._parts(), self._batch())
        if verdict.stop_training:
            self._trainer.request_stop("; ".join(a.finding.message for a in verdict.alarms) or "firstbreak")
        return verdict

    def _settle(self, verdict: Verdict) -> None:
        self._rows += 1
        if self._go_back:
            self._go_back = False
            done = put_back(self.monitor, self._parts(), self._batch())
            if done is Action.STOP_TRAINING:
                self._trainer.request_stop(self.monitor.faults[-1])
            if done is Action.ROLL_BACK:
                if self._watch is not None:
                    self._watch.rest()
                self._trainer.collector.update_policy_weights_()
        elif verdict.proceed and self._rows % self.checkpoint_rows == 1 % self.checkpoint_rows:
            score = self.monitor.latest.get("reward/episode_return_mean")
            keep(self.monitor, self._parts(), float(self._trainer.collected_frames), score)

    def _parts(self) -> dict[str, Any]:
        optimisers = {f"{name or 'policy'}_optimizer": one for name, one in self.optimisers.items()}
        return {"loss_module": self._trainer.loss_module, **optimisers}

    def _batch(self) -> Any:
        return None if self._collection is None else self._collection.to_dict()

    def _progress(self) -> dict[str, float]:
        frames, seconds = float(self._trainer.collected_frames), self._seconds.row()
        return {"time/env_steps": frames, **seconds, "time/fps": frames / max(seconds["time/elapsed_s"], 1e-9)}


def _rewards(batch: Any) -> dict[str, float]:
    """Rewards of a batch, and returns of the episodes that end in it where `RewardSum` keeps them."""
    quantities = Quantities()
    reward = batch.get(("next", "reward"), None)
    if reward is not None:
        quantities.add({"reward/step_mean": reward.float().mean(), "reward/step_max": reward.float().max()})
    sums, done = batch.get(("next", "episode_reward"), None), batch.get(("next", "done"), None)
    row = quantities.numbers()
    if sums is not None and done is not None and bool(done.any()):
        ended = cast(Tensor, sums)[done.expand_as(sums)]
        row["reward/episode_return_mean"] = float(ended.float().mean())
        count = batch.get(("next", "step_count"), None)
        if count is not None:
            row["episode/length_mean"] = float(count[done.expand_as(count)].float().mean())
    return row
