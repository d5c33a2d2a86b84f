"""A callback for every trainer built on `transformers.Trainer` (LLaMA-Factory, Unsloth, your own).

    trainer = Trainer(..., callbacks=[MonitorCallback(monitor)])  # a row whenever the trainer logs
    watch(trainer, monitor)                                       # every update, before it is taken

For TRL use `firstbreak.monitor.adapters.trl`, which adds what its trainers know.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ...errors import missing_extra
from ..tensors import Quantities, adam_moments
from ..verdict import Action, Verdict
from .hf_control import Saved, agreed, drop_gradients, earliest_onset, forget_batch
from .parts.obeying import complain, give_up, harmless, keep, keep_failed, put_back
from .parts.refusing import insist, insist_on
from .parts.weights.at_rest import AtRest
from .parts.weights.stepping import Stepping

if TYPE_CHECKING:
    from ..core import Monitor

try:
    from transformers import TrainerCallback
except ImportError as error:
    raise missing_extra("transformers", "trl", "The callback for transformers trainers") from error

SETTINGS = (
    "learning_rate", "lr_scheduler_type", "optim", "max_grad_norm", "max_steps", "seed", "per_device_train_batch_size",
    "gradient_accumulation_steps", "beta", "kl_coef", "epsilon", "epsilon_high", "cliprange", "num_generations",
    "num_iterations", "steps_per_generation", "max_completion_length", "max_prompt_length", "response_length",
    "max_new_tokens", "temperature", "top_p", "top_k", "min_p", "scale_rewards", "loss_type", "reward_weights",
    "vllm_importance_sampling_clip_max", "vllm_importance_sampling_cap", "max_staleness", "kl_estimator",
    "num_ppo_epochs", "num_mini_batches", "gamma", "lam", "vf_coef", "eval_steps", "adam_beta1", "adam_beta2",
    "adam_epsilon", "top_entropy_quantile", "entropy_coef", "weight_decay", "sync_ref_model",
    "mask_truncated_completions", "missing_eos_penalty",
)  # fmt: skip
"""Arguments that are handed to the monitor. A list, since the rest may hold tokens and paths."""
GOES_ON = (
    "the trainer was told to stop and goes on: its loop never asks. TRL's PPO ends with trl.watch(trainer, monitor)"
)


class MonitorCallback(TrainerCallback):
    """Feeds a monitor and does what it says.

    Without `trainer` it sees what the trainer logs, when it logs it: after the update. With it (see `watch`) it sees
    loss, gradient norm and learning rate of every update before the optimiser moves, and can leave the update out.

    Args:
        monitor: Gets one row an update, at the trainer's `global_step`.
        trainer: The trainer this callback is added to.
    """

    TOO_LATE = "an update was judged after it was taken; use watch(trainer, monitor)"
    """Said where an update was to be left out that has been taken."""

    def __init__(self, monitor: Monitor, trainer: Any = None) -> None:
        self.monitor = insist(monitor)
        if trainer is not None:
            insist_on(trainer, "add_callback", "a trainer of transformers or TRL")
        self._told_at: int | None = None
        """The update at which the trainer was told to end."""
        self.trainer: Any = trainer
        self.saved = Saved()
        self.dropped: list[int] = []
        """The updates that were left out."""
        self._losses: list[Any] = []
        self._grad_norm: Any = None
        self._resting: AtRest | None = None
        self._stepping = Stepping(trainer) if trainer is not None else None
        if trainer is not None:
            _tap(trainer, "training_step", self._losses.append)
            _tap(trainer, "_get_grad_norm", self._note_grad_norm)

    # ---- events of the trainer -------------------------------------------------------------------------------

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Tell the monitor the settings, and that the run was resumed if it was."""
        with harmless(self.monitor, "read the settings"):
            self.monitor.configure(self.settings(args))
        if state.global_step:
            self.monitor.event("resume", step=state.global_step)

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Judge the update that is about to be taken."""
        if self.trainer is None:
            return
        row: dict[str, Any] = {}
        with harmless(self.monitor, "read an update"):
            row = self.row(kwargs.get("optimizer"))
        verdict = self._ask(row, state.global_step + 1)
        self._obey(verdict, args, state, control, kwargs)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """From here to the next step nobody may move the weights."""
        with harmless(self.monitor, "watch the weights"):
            if self._resting is None and self.trainer is not None and self._optimizer() is not None:
                self._resting = AtRest([getattr(self._optimizer(), "optimizer", self._optimizer())], every=1)
            if self._resting is not None:
                self._resting.note()
        with harmless(self.monitor, "see what a step does"):
            if self._stepping is not None:
                self._stepping.after()

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Take the logged row, unless every update is seen anyway; evaluations are always taken."""
        logs = cast(Mapping[str, Any], kwargs.get("logs") or {})
        evaluation = any(key.startswith("eval_") for key in logs)
        if "train_runtime" in logs or (self.trainer is not None and not evaluation):
            return
        if self._told_at is not None and state.global_step > self._told_at:
            complain(self.monitor, f"{GOES_ON} (update {self._told_at})")
        verdict = self._ask(logs, state.global_step)
        self._obey(verdict, args, state, control, {**kwargs, "optimizer": None})

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Note the trainer's checkpoint, and put one into the monitor's own store where it has one."""
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        self.saved.note(state.global_step, folder)
        self.monitor.event("checkpoint", str(folder), step=state.global_step)
        keep(self.monitor, _parts(kwargs), state.global_step)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Write out what is buffered; the monitor stays open for a further `train()`."""
        with harmless(self.monitor, "flush"):
            self.monitor.flush()
            if self._resting is not None:
                self._resting.remove()
                self._resting = None

    # ---- rows ------------------------------------------------------------------------------------------------

    def settings(self, args: Any) -> dict[str, Any]:
        """Return what the monitor is told about the run."""
        found = {name: getattr(args, name) for name in SETTINGS if getattr(args, name, None) is not None}
        return {name: getattr(value, "value", value) for name, value in found.items()}

    def row(self, optimizer: Any) -> dict[str, Any]:
        """Return the row of the update that is about to be taken, and forget what it was made of."""
        row: dict[str, Any] = {}
        if self._losses:
            row["loss"] = _sum(self._losses)
        if self._grad_norm is not None:
            row["grad_norm"] = float(self._grad_norm)
        if self._resting is not None:
            self._resting.look()
            row |= {name: float(change) for name, change in self._resting.take().items()}
        if optimizer is not None:
            row["learning_rate"] = float(optimizer.param_groups[0]["lr"])
            with harmless(self.monitor, "read the optimiser's state"):
                row |= _moments(optimizer)
            with harmless(self.monitor, "see what a step does"):
                row |= self._stepping.row(optimizer) if self._stepping is not None else {}
        self._losses.clear()
        self._grad_norm = None
        return row

    def leaves_out(self, update: int) -> bool:
        """Whether an earlier verdict still holds for this update; a subclass knows how far it reaches."""
        return False

    def _ask(self, row: Mapping[str, Any], update: int) -> Verdict:
        with harmless(self.monitor, "log"):
            return self.monitor.log(row, step=update, clock="updates")
        return Verdict()

    def _note_grad_norm(self, norm: Any) -> None:
        self._grad_norm = norm

    # ---- verdicts --------------------------------------------------------------------------------------------

    def _obey(self, verdict: Verdict, args: Any, state: Any, control: Any, live: Mapping[str, Any]) -> None:
        """Do what the ranks agreed on. `live` holds no optimizer where the update has been taken already."""
        action, onset = agreed(verdict.action, earliest_onset(verdict), args.device)
        optimizer = live.get("optimizer")
        update = state.global_step + (optimizer is not None)
        if action is Action.CONTINUE and (optimizer is None or not self.leaves_out(update)):
            return
        if optimizer is not None:
            drop_gradients(optimizer)
            if self._stepping is not None:
                self._stepping.left_out()
            self.dropped.append(update)
            self.monitor.event("update_left_out", step=update)
        elif action is Action.STOP_UPDATE:
            complain(self.monitor, self.TOO_LATE)
        if action is Action.ROLL_BACK and not self._roll_back(onset, live):
            action = Action.STOP_TRAINING
        if action is Action.STOP_TRAINING:
            if verdict.stop_training and self._told_at is None:
                with harmless(self.monitor, "keep the failed state"):
                    keep_failed(self.monitor, self._own_parts(live), self.batch())
            control.should_training_stop = True
            self._told_at = state.global_step if self._told_at is None else self._told_at

    def _roll_back(self, onset: float, live: Mapping[str, Any]) -> bool:
        """Go back to the last healthy checkpoint, the monitor's own or the trainer's; False where there is none."""
        if self.monitor.checkpoints is not None:
            batch = None
            with harmless(self.monitor, "read the batch"):
                batch = self.batch()
            done = put_back(self.monitor, self._own_parts(live), batch) is Action.ROLL_BACK
        else:
            done = self._load_own(onset)
        if done:
            forget_batch(self.trainer)
        return done

    def batch(self) -> dict[str, Any] | None:
        """Return what the update at hand is made of, for a failed state; a subclass knows where its trainer has it."""
        return None

    def _own_parts(self, live: Mapping[str, Any]) -> dict[str, Any]:
        return _parts({**live, "optimizer": live.get("optimizer") or self._optimizer()})

    def _load_own(self, onset: float) -> bool:
        """Go back to a checkpoint that the trainer itself wrote."""
        with harmless(self.monitor, "roll back"):
            step = self.saved.go_back(self.trainer, onset)
            if step is not None:
                self.monitor.rolled_back(step)
                return True
            give_up(self.monitor, "there is no checkpoint from before the break, or going back did not help.")
        return False

    def _optimizer(self) -> Any:
        return getattr(self.trainer, "optimizer", None)


def _sum(losses: list[Any]) -> float:
    """Return the sum of the losses of micro-batches, which are read in one transfer where they are alike."""
    import torch

    kinds = {(loss.device, loss.dtype, loss.shape) if isinstance(loss, torch.Tensor) else None for loss in losses}
    if len(kinds) == 1 and None not in kinds:
        return sum(cast("list[float]", cast(Any, torch.stack(losses).detach().flatten()).tolist()))
    return sum(float(loss) for loss in losses)


def _moments(optimizer: Any) -> dict[str, float]:
    quantities = Quantities()
    quantities.add(adam_moments(optimizer))
    return quantities.numbers()


def _parts(live: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a checkpoint in the monitor's own store holds."""
    wanted = {"model": live.get("model"), "optimizer": live.get("optimizer"), "schedule": live.get("lr_scheduler")}
    return {name: part for name, part in wanted.items() if part is not None}


def watch(trainer: Any, monitor: Monitor) -> MonitorCallback:
    """Add a `MonitorCallback` that sees every update of `trainer` before it is taken, and return it.

    Reading the loss waits for the device once an update; where that matters, give the trainer a plain
    `MonitorCallback(monitor)` instead, which waits only when the trainer logs.
    """
    callback = MonitorCallback(monitor, trainer)
    trainer.add_callback(callback)
    return callback


def _tap(trainer: Any, name: str, take: Any) -> None:
    """Hand what a method of `trainer` returns to `take` as well; methods that this version lacks are left out."""
    method = getattr(trainer, name, None)
    if method is None:
        return

    def tapped(*args: Any, **kwargs: Any) -> Any:
        result = method(*args, **kwargs)
        take(result)
        return result

    setattr(trainer, name, tapped)
