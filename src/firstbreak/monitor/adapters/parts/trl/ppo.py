"""TRL's PPO (`trl.experimental.ppo`, up to 1.12): a loop of its own, which asks no callback before it steps.

    watch(trainer, monitor)    # of firstbreak.monitor.adapters.trl: it knows this trainer

What TRL logs of an update comes when it is over; rewards, advantages, values and the first importance ratios are judged
before its first step. They live in variables of the trainer's loop, and are read there. Nor does that loop look whether
it was told to stop, so that the callback ends it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ....tensors import Quantities, adam_moments, advantages, importance_ratios, value_fit
from ....verdict import Action, Verdict, together
from ...hf_control import agreed, earliest_onset
from ...transformers import MonitorCallback
from ..obeying import harmless
from ..weights.at_rest import AtRest
from ..weights.gradients import GradientNorm

if TYPE_CHECKING:
    from ....core import Monitor

SAID_BY_TRL = ("policy/ratio_mean", "policy/ratio_var", "policy/kl_old", "policy/clip_fraction")
"""Logged by TRL itself, under its own keys."""
ROLLOUT = ("scores", "values", "returns", "padding_mask", "padding_mask_p1")
"""Variables of the loop that an update is made of: [B] scores, [B, T] the rest, where masks are true of padding."""
MINIBATCH = ("new_logprobs", "mb_logprobs", "mb_advantage", "micro_batch_inds", "padding_mask")
"""Variables of the loop that a step is made of, [b, T]; rows [b] of the batch."""


class Ended(Exception):
    """Leaves the trainer's loop; `watch` catches it."""


class PpoCallback(MonitorCallback):
    """Feeds a monitor with every update of TRL's PPO and does what it says.

    `stop_update` leaves out all steps of an update that is found bad before the first, and a step whose gradient is not
    finite. `roll_back` needs the monitor's own store: this trainer's checkpoints hold the policy only.

    Args:
        monitor: Gets the rows, at the trainer's `global_step`.
        trainer: A `PPOTrainer`.
    """

    TOO_LATE = "an update was judged after it was taken: what TRL's PPO logs is known only then"

    def __init__(self, monitor: Monitor, trainer: Any) -> None:
        super().__init__(monitor)
        self._loop = trainer
        self._gradient: GradientNorm | None = None
        self._quantities = Quantities()
        self._begun = self._left_out = self._ends = False
        self._early = Verdict()

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Tell the monitor the settings, and hang hooks on the optimiser."""
        super().on_train_begin(args, state, control, **kwargs)
        self._begun = self._left_out = self._ends = False
        with harmless(self.monitor, "watch the optimiser"):
            inner = getattr(self._loop.optimizer, "optimizer", self._loop.optimizer)
            self._gradient = GradientNorm(inner, self._allowed)
            self._resting = AtRest([inner])

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Judge the update that is over, and do what it or its beginning asks for."""
        logs: Mapping[str, Any] = kwargs.get("logs") or {}
        if "objective/kl" not in logs:
            return
        row: dict[str, float] = {}
        with harmless(self.monitor, "read an update"):
            row = self._measured()
        late = self._ask({**logs, **row}, state.global_step)
        verdict = together((self._early, late))
        self._early, self._begun, self._left_out = Verdict(), False, False
        told, control.should_training_stop = control.should_training_stop, False
        self._obey(verdict, args, state, control, {**kwargs, "optimizer": None})
        self._ends = self._ends or bool(control.should_training_stop)
        control.should_training_stop = told or self._ends

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """From here to the next step nobody may move the weights; where training is to end, it ends here.

        Raises:
            Ended: the verdict was to stop.
        """
        super().on_step_end(args, state, control, **kwargs)
        if self._ends:
            raise Ended

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Take the hooks away and write out what is buffered."""
        if self._gradient is not None:
            self._gradient.remove()
            self._gradient = None
        super().on_train_end(args, state, control, **kwargs)

    def batch(self) -> dict[str, Any]:
        """Return the rollout, as the loop holds it."""
        return _variables(self._loop, ("query_responses", "logprobs", "ref_logprobs", *ROLLOUT))

    def _optimizer(self) -> Any:
        return self._loop.optimizer

    def _allowed(self, norm: Tensor) -> bool:
        """Look at the step that is about to be taken; False leaves it out."""
        verdict = Verdict()
        update = self._loop.state.global_step + 1
        first, self._begun = not self._begun, True
        with harmless(self.monitor, "look at a step"):
            self._look(first)
            # On a graphics card, reading the norm here would make every step wait.
            broken = norm.device.type == "cpu" and not math.isfinite(float(norm))
            if first or (broken and not self._left_out):
                row = self._quantities.numbers() | ({"optim/grad_norm": float(norm)} if broken else {})
                verdict = self._ask(row, update)
        if first:  # every rank takes the first step, so that all of them can agree on it
            action, _ = agreed(verdict.action, earliest_onset(verdict), self._loop.args.device)
            self._left_out = action is not Action.CONTINUE
        leave_out = self._left_out or verdict.stop_update
        if leave_out and self.dropped[-1:] != [update]:
            self.dropped.append(update)
            self.monitor.event("update_left_out", step=update)
        if verdict.stop_training or verdict.roll_back:
            self._early = together((self._early, verdict))
        return not leave_out

    @torch.no_grad()
    def _look(self, first: bool) -> None:
        """Measure what the loop holds: before the first step the rollout, before each the ratios of its minibatch."""
        held = _variables(self._loop, ROLLOUT + MINIBATCH)
        if first and all(name in held for name in ROLLOUT):
            self._quantities.add(_rollout(held))
        if all(name in held for name in MINIBATCH):
            ratios = _ratios(held, float(self._loop.args.cliprange))
            if first:
                self._quantities.add({"policy/ratio_first_minibatch": ratios.pop("policy/ratio_mean")})
            self._quantities.add({name: value for name, value in ratios.items() if name not in SAID_BY_TRL})

    def _measured(self) -> dict[str, float]:
        """Return what TRL does not log of the update that is over."""
        norms = [] if self._gradient is None else self._gradient.take()
        if norms:
            self._quantities.add({"optim/grad_norm": torch.stack(norms).mean()})
        if self._resting is not None:
            self._quantities.add(self._resting.take())
        self._quantities.add(adam_moments(self._optimizer()))
        return self._quantities.numbers()


def _rollout(held: Mapping[str, Any]) -> dict[str, Any]:
    """Extremes of the scores, raw advantages, and the critic, of tokens that count."""
    scores, values, returns = held["scores"], held["values"], held["returns"]
    return {
        "reward/train_mean": scores.mean(), "reward/train_std": scores.std(correction=0),
        "reward/train_min": scores.min(), "reward/train_max": scores.max(),
        **advantages(returns - values, mask=~held["padding_mask"]),
        **value_fit(values, returns, mask=~held["padding_mask_p1"]),
    }  # fmt: skip


def _ratios(held: Mapping[str, Any], clip_range: float) -> dict[str, Any]:
    """Importance ratios of the tokens of a minibatch that count."""
    rows = held["micro_batch_inds"]
    return dict(
        importance_ratios(
            held["new_logprobs"], held["mb_logprobs"], clip_range=clip_range, advantages=held["mb_advantage"],
            mask=~held["padding_mask"][rows],
        )
    )  # fmt: skip


def _variables(trainer: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return variables of the `train` of this trainer that is running; those that it does not have are left out."""
    frame = sys._getframe()
    while frame is not None and not (frame.f_code.co_name == "train" and frame.f_locals.get("self") is trainer):
        frame = frame.f_back
    if frame is None:
        return {}
    held = frame.f_locals
    found = {name: held[name] for name in names if name in held}
    if sys.version_info < (3, 13):
        held.clear()  # a copy until then, which would keep the batch alive for as long as the loop runs
    return found


def is_ppo(trainer: Any) -> bool:
    """Whether this trainer has PPO's loop."""
    return hasattr(getattr(trainer, "args", None), "num_ppo_epochs")


def watch_ppo(trainer: Any, monitor: Monitor) -> PpoCallback:
    """Add a `PpoCallback` to `trainer`, and let its `train` end where the monitor says so; return the callback."""
    callback = PpoCallback(monitor, trainer)
    trainer.add_callback(callback)
    train = trainer.train

    def until_ended(*args: Any, **kwargs: Any) -> Any:
        try:
            return train(*args, **kwargs)
        except Ended:
            trainer.control = trainer.callback_handler.on_train_end(trainer.args, trainer.state, trainer.control)
            return None

    trainer.train = until_ended
    return callback
