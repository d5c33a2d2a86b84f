"""Stable-Baselines3: `MonitorCallback`, for PPO, A2C, DQN, SAC, TD3 and DDPG.

with Monitor("runs/ppo", act={"nonfinite-metric": "stop_training"}) as monitor:
    model.learn(100_000, callback=MonitorCallback(monitor))
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
from torch import Tensor

from ..task_name import name_task
from ..verdict import Action, Verdict
from .parts.coarse import coarse
from .parts.in_force import decay, rates
from .parts.obeying import ask, harmless, keep, keep_failed, known, put_back
from .parts.refusing import insist
from .parts.resets import METRIC as UNRESET
from .parts.resets import Resets, of_locals
from .parts.sb3.answers import AnswersOfModel
from .parts.sb3.config import model_config
from .parts.sb3.glance import Glance
from .parts.sb3.handed_on import StepsOfModel
from .parts.sb3.off_policy import OffPolicy
from .parts.sb3.on_policy import OnPolicy, batch_of
from .parts.sb3.pace import Pace
from .parts.sb3.played import Played
from .parts.sb3.progress import Progress
from .parts.sb3.weights import networks, optimisers, parts
from .parts.settings_in_force import of_model
from .parts.weights.at_rest import AtRest
from .parts.weights.gradients import GradientNorm

if TYPE_CHECKING:
    from ..core import Monitor

EVALUATED = {
    "eval/mean_reward": "reward/eval_return_mean",
    "eval/mean_ep_length": "episode/eval_length_mean",
    "eval/success_rate": "eval/success_rate",
}
OWN = ("train/", "rollout/", "time/")
"""Keys of Stable-Baselines3 itself that the callback reads at their source, without the logger's delay."""
SURPRISE = 2.0
"""An epoch whose KL is this many times the largest of any finished update is shown to the monitor at once."""
SETTLED = 5
"""Updates after which there is a largest KL to compare with. Engineering choices, both."""
REST_STEPS = 64
"""Environment steps from one look at the weights to the next while a rollout is collected. Engineering choice."""


class MonitorCallback(BaseCallback):
    """Gives a model's updates to a `Monitor` and does what it answers. It changes no weight and no random number.

    On-policy, one row an update at the environment step of its rollout: what is known before the update is logged
    before it, so that a verdict can leave the whole update out; a suspicious epoch and a gradient that is not finite
    are logged on the way, so that the rest can be left out. Off-policy, one row every `every_steps` environment steps;
    A2C's updates of one step cost less than a row, so one in 32 gets one. The others are glanced at: of the losses,
    entropy and gradient norm that are there anyway, what is not finite is logged at once, and where one is out of the
    ordinary the next update gets its row. Weights that somebody else wrote into are told of within 64 steps.

    Args:
        monitor: Who judges. Close it yourself, or use it in a `with`.
        every_steps: Least number of environment steps from row to row. None: every update of PPO that the monitor may
            act on, else 500 on-policy or 32 optimiser steps, whichever is sooner; off-policy 64, and at least 50
            gradient steps.
        checkpoint_rows: Rows from checkpoint to checkpoint, where the monitor has a store for them.
    """

    def __init__(
        self, monitor: Monitor, *, every_steps: int | None = None, checkpoint_rows: int = 10, verbose: int = 0
    ) -> None:
        super().__init__(verbose)
        self.monitor = insist(monitor, checkpoint_rows)
        self.checkpoint_rows = checkpoint_rows
        self._probe: OnPolicy | OffPolicy | None = None
        self._gradients: dict[str, GradientNorm] = {}
        self._resting: AtRest | None = None
        self._reached: Progress | None = None
        self._handed: StepsOfModel | None = None
        self._asking: tuple[Played | AnswersOfModel, ...] = ()
        self._resets = Resets()
        self._sink: _Sink | None = None
        self._stop = self._leave_out = self._go_back = False
        self._updates = self._rows = self._first_step = self._rested = 0
        self._pace = Pace(every_steps)
        self._glance = Glance()
        self._largest_kl = -math.inf

    # ---- what Stable-Baselines3 calls -------------------------------------------------------------------------------

    def _on_training_start(self) -> None:
        with harmless(self.monitor, "MonitorCallback"):
            self._release()
            model: Any = self.model
            self.monitor.configure(model_config(model))
            copies = getattr(model.get_env().unwrapped, "envs", None)  # of other processes nothing is seen
            if copies:
                name_task(self.monitor, copies[0])
            self._probe = (OnPolicy if isinstance(model, OnPolicyAlgorithm) else OffPolicy)(model)
            self._updates, self._stop = model._n_updates, False
            on_policy = isinstance(self._probe, OnPolicy)
            steps = self._probe.optimiser_steps if isinstance(self._probe, OnPolicy) else 0
            self._pace.start(
                self.num_timesteps,
                0 if on_policy else model._n_updates,
                off_policy=not on_policy,
                every_update=steps > 1 and bool(self.monitor.act),
            )
            self._reached, self._handed = Progress(model), StepsOfModel(model, self.monitor)
            self._asking = Played(model), AnswersOfModel(model)
            self._gradients = {
                name: GradientNorm(optimiser, self._allowed, self._stepped)
                for name, optimiser in optimisers(model).items()
            }
            self._resting = AtRest(optimisers(model).values(), self._log, networks(model))
            self._sink = _Sink(self)
            model.logger.output_formats.append(self._sink)

    def _on_rollout_start(self) -> None:
        """The update that follows a rollout is over, and its figures are still in the logger."""
        with harmless(self.monitor, "MonitorCallback"):
            if self._resting is not None and isinstance(self._probe, OnPolicy):
                self._resting.look()  # since the last step of the update, where it was noted
            self._finish_update()
            if self._resting is not None:
                self._resting.note()
                self._rested = self.num_timesteps

    def _on_step(self) -> bool:
        with harmless(self.monitor, "MonitorCallback"):
            if isinstance(self._probe, OffPolicy) and (acted := self._probe.look(self.locals)):
                self._log(acted)
            if of_locals(self._resets, self.locals):
                self._log({UNRESET: 1.0})
            for asking in self._asking:
                if unlike := asking.look(self.locals):
                    self._log(unlike)
            if self._handed is not None and (apart := self._handed.look()):
                self._log(apart)
            if self._resting is not None and self.num_timesteps - self._rested >= REST_STEPS:
                self._rested = self.num_timesteps
                self._resting.look_on()
        return not self._stop

    def _on_rollout_end(self) -> None:
        with harmless(self.monitor, "MonitorCallback"):
            self._first_step = sum(gradient.steps for gradient in self._gradients.values())
            made = self._first_step if isinstance(self._probe, OnPolicy) else cast(Any, self.model)._n_updates
            due = self._pace.due(self.num_timesteps, made)
            row = self._probe.before() if due and self._probe is not None else {}
            if row:
                self._log(row | self._steps() | self._progress())

    def _on_training_end(self) -> None:
        with harmless(self.monitor, "MonitorCallback"):
            self._pace.finish(off_policy=isinstance(self._probe, OffPolicy))
            self._finish_update()
        self._release()

    # ---- one update --------------------------------------------------------------------------------------------------

    def _finish_update(self) -> None:
        model: Any = self.model
        if self._probe is None or model._n_updates == self._updates:
            return
        self._updates = model._n_updates
        self._probe.note(dict(model.logger.name_to_value))
        odd, broken = False, dict[str, float]()
        if isinstance(self._probe, OnPolicy):
            odd, broken = self._glance.look(self._probe.recorded(), self._gradients["policy"].latest)
        if self._pace.taken(self.num_timesteps):
            row = self._probe.after()
            self._largest_kl = max(self._largest_kl, row.get("policy/kl_old", -math.inf))
            fresh = {} if isinstance(self._probe, OnPolicy) else self._steps() | self._progress()
            self._settle(self._log(row | fresh | self._norms()))
        elif broken:
            self._settle(self._log(broken))
        if odd:
            self._pace.soon()
        self._leave_out = False  # what could have been left out is over

    def _log(self, row: Mapping[str, float]) -> Verdict:
        verdict = ask(self.monitor, known(row), self.num_timesteps)
        self._obey(verdict)
        return verdict

    def _settle(self, verdict: Verdict) -> None:
        self._rows += 1
        if self._go_back:
            self._go_back = False
            if self._resting is not None:
                self._resting.look_at_steps()
            self._stop |= put_back(self.monitor, parts(self.model), batch_of(self.model)) is Action.STOP_TRAINING
        elif verdict.proceed and self._rows % self.checkpoint_rows == 1 % self.checkpoint_rows:
            keep(self.monitor, parts(self.model), self.num_timesteps, _score(self.monitor.latest))

    def _obey(self, verdict: Verdict) -> None:
        if verdict.stop_training and not self._stop:
            with harmless(self.monitor, "MonitorCallback"):
                keep_failed(self.monitor, parts(self.model), batch_of(self.model))
        self._stop |= verdict.stop_training
        self._leave_out |= verdict.stop_update
        self._go_back |= verdict.roll_back

    def _allowed(self, norm: Tensor) -> bool:
        """Asked by the optimiser before each step; a gradient that is left out changes neither weight nor moment."""
        # On a graphics card, reading the norm here would make every step wait.
        if not self._leave_out and norm.device.type == "cpu" and not math.isfinite(float(norm)):
            self._log({"optim/grad_norm": float(norm)})
        return not self._leave_out

    def _stepped(self) -> None:
        """At the end of an epoch of PPO, show a KL that stands out as if the update had ended here."""
        probe = self._probe
        if not isinstance(probe, OnPolicy) or probe.minibatches < 2:
            return
        if self._resting is not None and self._gradients["policy"].steps - self._first_step == probe.optimiser_steps:
            self._resting.note()  # the last step: from here to the next rollout nobody writes
        if self._leave_out or not self._pace.open:
            return
        epochs, rest = divmod(self._gradients["policy"].steps - self._first_step, probe.minibatches)
        # After epochs 1, 2, 4, 8 ...: a policy that runs away does not wait, and the looks stay few.
        if rest or epochs & (epochs - 1):
            return
        with harmless(self.monitor, "MonitorCallback"):
            kl = probe.glance()[1]
            if self._rows < SETTLED or not kl <= SURPRISE * self._largest_kl:
                self._log(probe.now())

    # ---- figures -----------------------------------------------------------------------------------------------------

    def _norms(self) -> dict[str, float]:
        """Mean gradient norm of each network since the last row, before clipping, and the rates in force."""
        names = {"policy": "optim/grad_norm", "actor": "optim/actor_grad_norm"}
        row, trained = dict[str, float](), optimisers(self.model)
        for name, gradient in self._gradients.items():
            norms = gradient.take()
            if norms:
                row[names.get(name, f"optim/{name}_grad_norm")] = norm = float(torch.stack(norms).mean())
                row |= decay(trained[name], norm) if name in ("policy", "actor") else {}
        if self._resting is not None:
            row |= {name: float(x) for name, x in self._resting.take().items()} | self._resting.settings.row()
        row |= self._resets.take() | {name: gap for one in self._asking for name, gap in one.gaps.take().items()}
        return row | rates(trained) | of_model(self.model) | coarse(self.model.policy.parameters())

    def _steps(self) -> dict[str, float]:
        return {} if self._handed is None else self._handed.take()

    def _progress(self) -> dict[str, float]:
        return {} if self._reached is None else self._reached.row()

    def evaluated(self, logged: Mapping[str, Any], step: int) -> None:
        """Take what `EvalCallback`, or code of the user, sends through the logger."""
        row = {EVALUATED.get(key, key): value for key, value in logged.items() if not key.startswith(OWN)}
        numbers = {
            key: float(value)
            for key, value in row.items()
            if isinstance(value, int | float) or getattr(value, "ndim", None) == 0
        }
        if numbers:
            self._obey(ask(self.monitor, numbers, step))

    def _release(self) -> None:
        for gradient in self._gradients.values():
            gradient.remove()
        if self._resting is not None:
            self._resting.remove()
        if isinstance(self._probe, OffPolicy):
            self._probe.release()
        self._gradients, self._resting = {}, None
        formats: list[Any] = self.model.logger.output_formats if self._sink is not None else []
        if self._sink in formats:
            formats.remove(self._sink)
        self._sink = None


class _Sink(KVWriter):
    """Sees what is dumped by others; Stable-Baselines3's own way to read its logger."""

    def __init__(self, owner: MonitorCallback) -> None:
        self._owner = owner

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        with harmless(self._owner.monitor, "MonitorCallback"):
            self._owner.evaluated(key_values, step)

    def close(self) -> None:
        """Nothing to close: the monitor is the user's."""


def _score(latest: Mapping[str, float]) -> float | None:
    return latest.get("reward/eval_return_mean", latest.get("reward/episode_return_mean"))
