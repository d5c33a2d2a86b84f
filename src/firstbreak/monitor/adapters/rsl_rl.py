"""rsl_rl and Isaac Lab (2.x to 5.x): `watch_runner` puts a monitor behind the writer that the runner already calls.

runner = OnPolicyRunner(env, train_cfg, log_dir)
watch_runner(runner, monitor)
try:
    runner.learn(1500)
except TrainingStopped as stopped:          # only where `Monitor(act=...)` allows it
    runner.save("stopped.pt")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch

from ...errors import FirstbreakError, InputError
from ..tensors.advantages import advantages, gae_residual
from ..tensors.critic import value_fit
from ..tensors.quantities import Quantities
from ..verdict import Action, Verdict
from .parts.in_force import DISCOUNT, TRACE_DECAY, plain
from .parts.obeying import complain, harmless, keep, keep_failed, known, put_back
from .parts.refusing import insist, insist_on
from .parts.rsl_rl.handed_on import StepsOfRunner
from .parts.rsl_rl.looks import LooksAtRunner
from .parts.settings_in_force import CLIP, EPOCHS, LOSS_WEIGHT
from .parts.weights.gradients import GradientNorm
from .summary_writer import MonitoredWriter

if TYPE_CHECKING:
    from ..core import Monitor

TOO_LATE = "rsl_rl logs an update when it is over, so that stop_update leaves nothing out"
SETTINGS = (
    "learning_rate", "schedule", "num_learning_epochs", "num_mini_batches", "gamma", "lam", "clip_param",
    "entropy_coef", "value_loss_coef", "max_grad_norm", "desired_kl",
)  # fmt: skip
"""Settings of `train_cfg["algorithm"]` that the vocabulary knows, under their own names."""
IN_FORCE = {
    "gamma": DISCOUNT, "lam": TRACE_DECAY, "clip_param": "policy/clip_range", "entropy_coef": "policy/ent_coef",
    "value_loss_coef": LOSS_WEIGHT, "num_learning_epochs": EPOCHS, "max_grad_norm": CLIP,
}  # fmt: skip
"""Attributes of the algorithm, as they stand at each row, under canonical names."""


class TrainingStopped(FirstbreakError):
    """The monitor's verdict is to stop, as `act` allowed; rsl_rl's loop has no other way out."""

    kind = "training_stopped"


class RunnerWriter(MonitoredWriter):
    """The writer of a runner: `add_scalar` of every version, and 5.x's `LogWriter` interface.

    Copies over seconds (`*/time`) go to the inner writer only. They come last in an iteration, so the row is judged
    then; before the first episode ends there are none, and before 4.0 it is judged when the next iteration begins.
    """

    def __init__(self, monitor: Monitor, writer: Any, runner: Any, checkpoint_rows: int = 10) -> None:
        super().__init__(monitor, writer, clock="updates")
        self._runner, self._checkpoint_rows, self._rows = runner, checkpoint_rows, 0
        self._gradient: GradientNorm | None = None
        self._handed: StepsOfRunner | None = None
        self._looks: LooksAtRunner | None = None
        self.begin(writer)

    @property
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The inner writer's: 5.x uploads models and ends a service only where `isinstance(writer, LogWriter)`."""
        inner: Any = self.__dict__.get("writer")
        return RunnerWriter if inner is None else inner.__class__

    def begin(self, inner: Any) -> None:
        """Stand before `inner`, at the start or when the runner learns once more."""
        self.writer = inner
        if self._gradient is None:
            with harmless(self.monitor, "watch_runner"):
                self._gradient = GradientNorm(self._runner.alg.optimizer)
        with harmless(self.monitor, "looks at the runner"):
            self._looks = LooksAtRunner(self._runner, self.monitor) if self._looks is None else self._looks
            self._looks.rest()  # whoever loads weights between two calls of `learn` means to
        if self._handed is None and getattr(self._runner, "env", None) is not None:
            with harmless(self.monitor, "steps handed on"):
                self._handed = StepsOfRunner(self._runner, self.monitor)

    def add_scalar(self, tag: str, scalar_value: Any, global_step: Any = None, *args: Any, **kwargs: Any) -> None:
        """Write one scalar."""
        if not tag.endswith("/time"):
            super().add_scalar(tag, scalar_value, global_step, *args, **kwargs)
            return
        if self.writer is not None:
            self.writer.add_scalar(tag, scalar_value, global_step, *args, **kwargs)
        self.judge()

    def judge(self) -> Verdict:
        """Add what rsl_rl does not log, judge the row, and leave the loop where the verdict says so.

        Raises:
            TrainingStopped: the verdict is to stop training.
        """
        if not self._row:
            verdict = self.verdict
        else:
            with harmless(self.monitor, "watch_runner"):
                self._row |= known(self._measured())
            with harmless(self.monitor, "steps handed on"):
                self._row |= {} if self._handed is None else self._handed.take()
            with harmless(self.monitor, "looks at the runner"):
                self._row |= {} if self._looks is None else self._looks.take()
            verdict = super().judge()
            with harmless(self.monitor, "watch_runner"):
                verdict = self.verdict = self._obeyed(verdict)
            if self._looks is not None:
                self._looks.rest()
        if verdict.stop_training:
            seen = "; ".join(alarm.finding.message for alarm in verdict.alarms) or "the monitor has stopped this run"
            raise TrainingStopped(f"Training stops at iteration {self._step:g}: {seen}.", "See the monitor's alarms.")
        return verdict

    def _obeyed(self, verdict: Verdict) -> Verdict:
        """Go back where the verdict says so, and keep a checkpoint now and then while all is well."""
        self._rows += 1
        if verdict.roll_back:
            if put_back(self.monitor, self._parts(), self._batch()) is Action.STOP_TRAINING:
                return Verdict(Action.STOP_TRAINING, verdict.alarms)
            with harmless(self.monitor, "watch_runner"):  # an adaptive schedule goes on from its own number
                self._runner.alg.learning_rate = self._runner.alg.optimizer.param_groups[0]["lr"]
        elif verdict.stop_training:
            keep_failed(self.monitor, self._parts(), self._batch())
        elif verdict.action is Action.STOP_UPDATE:
            complain(self.monitor, TOO_LATE)
        elif verdict.proceed and self._rows % self._checkpoint_rows == 1 % self._checkpoint_rows:
            keep(self.monitor, self._parts(), self._step or 0.0, self.monitor.latest.get("Train/mean_reward"))
        return verdict

    def _parts(self) -> dict[str, Any]:
        """Networks and normalisers, wherever this version keeps them, and the optimiser."""
        holders: list[dict[str, Any]] = [vars(self._runner), vars(self._runner.alg)]
        networks = {n: part for held in holders for n, part in held.items() if isinstance(part, torch.nn.Module)}
        return {**networks, "optimizer": self._runner.alg.optimizer}

    def _batch(self) -> dict[str, Any]:
        """The tensors of the rollout that the update was made of."""
        storage = getattr(self._runner.alg, "storage", None)
        held = cast("dict[str, Any]", {} if storage is None else vars(storage))
        return {name: part for name, part in held.items() if isinstance(part, torch.Tensor)}

    def _measured(self) -> dict[str, float]:
        """Gradient norm before clipping, raw advantages and the critic, from the storage that was just used.

        `storage.advantages` may hold normalised ones; the raw ones are returns minus values.
        """
        quantities = Quantities()
        norms = [] if self._gradient is None else self._gradient.take()
        if norms:
            quantities.add({"optim/grad_norm": torch.stack(norms).mean()})
        settings = {name: plain(getattr(self._runner.alg, key, None)) for key, name in IN_FORCE.items()}
        quantities.add({name: value for name, value in settings.items() if value is not None})
        if self._looks is not None:
            quantities.add(self._looks.measured())
        storage = getattr(self._runner.alg, "storage", None)
        if storage is not None:
            quantities.add(advantages(storage.returns - storage.values))
            quantities.add(value_fit(storage.values, storage.returns))
            quantities.add({"reward/step_mean": storage.rewards.mean(), "reward/step_max": storage.rewards.max()})
            quantities.add(_summed(self._runner.alg, storage))
        return quantities.numbers()

    def close(self) -> None:
        """Judge the open row, take the hooks away and close the inner writer."""
        self._unhook()
        super().close()

    def stop(self) -> None:
        """End of the run in 5.x: as `close`, and the inner writer's own `stop`."""
        self._unhook()
        self.judge()
        inner = getattr(self.writer, "stop", None) or getattr(self.writer, "close", None)
        if inner is not None:
            inner()

    def _unhook(self) -> None:
        if self._gradient is not None:
            self._gradient.remove()
            self._gradient = None
        if self._handed is not None:
            self._handed.remove()
            self._handed = None
        if self._looks is not None:
            self._looks.remove()
            self._looks = None


def _summed(alg: Any, storage: Any) -> dict[str, torch.Tensor]:
    """Advantages against rewards, values and ends in the storage, where rsl_rl's own sum is what made them."""
    whose = getattr(getattr(cast(Any, type(alg)), "compute_returns", None), "__module__", "")
    settings = [plain(getattr(alg, name, None)) for name in ("gamma", "lam")]
    if not whose.startswith("rsl_rl.") or None in settings or len(storage.rewards) < 2:
        return {}
    discount, decay = cast("list[float]", settings)
    raw, follows = storage.returns - storage.values, 1 - storage.dones[:-1].float()
    return gae_residual(raw, storage.rewards, storage.values, follows, discount=discount, decay=decay)


def watch_runner(runner: Any, monitor: Monitor, *, checkpoint_rows: int = 10) -> RunnerWriter:
    """Let `monitor` see everything that `runner` logs; call it before `runner.learn`.

    Args:
        runner: An `OnPolicyRunner`.
        monitor: Who judges. Close it yourself.
        checkpoint_rows: Iterations from checkpoint to checkpoint, where the monitor has a store for them.

    Raises:
        InputError: no runner or no monitor was given, or an rsl_rl before 4.0 that logs to W&B or Neptune: it makes its
            writer too late to be wrapped.
    """
    insist(monitor, checkpoint_rows)
    insist_on(runner, "learn", "an `OnPolicyRunner`")
    config = dict(getattr(runner, "cfg", None) or {})
    with harmless(monitor, "watch_runner"):
        algorithm: dict[str, Any] = config.get("algorithm") or {}
        known_settings = {name: algorithm[name] for name in SETTINGS if name in algorithm}
        monitor.configure({"algorithm": "PPO", "n_steps": config.get("num_steps_per_env"), **known_settings})
    logger = getattr(runner, "logger", None)
    if hasattr(logger, "init_logging_writer"):
        return _within(logger, RunnerWriter(monitor, None, runner, checkpoint_rows))
    if getattr(runner, "writer", None) is None:
        kind = str(config.get("logger", "tensorboard")).lower()
        if kind != "tensorboard":
            raise InputError(
                f"This rsl_rl makes its {kind} writer only when training starts.",
                "Set runner.writer and runner.logger_type yourself before watch_runner, or use rsl_rl 4.0 or newer.",
            )
        runner.logger_type = kind
        if runner.log_dir is not None:
            from torch.utils.tensorboard import SummaryWriter

            runner.writer = SummaryWriter(log_dir=runner.log_dir, flush_secs=10)
    runner.writer = writer = RunnerWriter(monitor, runner.writer, runner, checkpoint_rows)
    return writer


def _within(logger: Any, writer: RunnerWriter) -> RunnerWriter:
    """Stand before each writer that a logger of 4.0 or newer makes when `learn` begins; judge after each `log`."""
    make, log = logger.init_logging_writer, logger.log

    def init_logging_writer() -> None:
        make()
        if logger.writer is None:
            complain(writer.monitor, "rsl_rl logs nothing here (no log_dir, or not rank 0), so there is nothing to see")
            return
        writer.begin(logger.writer)
        logger.writer = writer

    def log_and_judge(*args: Any, **kwargs: Any) -> None:
        log(*args, **kwargs)
        writer.judge()

    logger.init_logging_writer, logger.log = init_logging_writer, log_and_judge
    return writer
