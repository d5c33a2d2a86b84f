"""A callback and a learner for RLlib's new API stack.

    config.callbacks(partial(MonitorCallback, path="runs/x", algorithm="PPO"))
    config.learners(learner_class=PPOLearner)   # adds advantages and importance ratios, which RLlib does not log
    config.reporting(log_gradients=True)        # adds gradient norms before clipping

RLlib copies its configuration into several processes, so the callback is given what makes a monitor, not a monitor.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from ...errors import missing_extra
from ...readers.jsonrows import flatten
from ...readers.run_config import flat_config
from ...vocabulary import canonical_config
from ..core import Monitor
from ..verdict import Action, Verdict
from .hf_control import earliest_onset
from .parts.obeying import ask, complain, give_up, harmless

try:
    RLlibCallback: Any = import_module("ray.rllib.callbacks.callbacks").RLlibCallback
except ImportError as error:
    raise missing_extra("ray", "rllib", "The RLlib callback") from error

OWN = "firstbreak"
"""Under this name `MonitorLearner` logs its numbers, beside RLlib's."""
STEPS = "num_env_steps_sampled_lifetime"
_ALL = "__all_modules__"
_LEFT_OUT = ("config", "hist_stats", "done", "trial_id", "pid", "hostname", "node_ip", "date", "timestamp")


class MonitorCallback(RLlibCallback):
    """Feeds a monitor with every result of `Algorithm.train()` and does what it says.

    Several policies get a monitor each, with the numbers of their own learner; its record lies in `<path>/<policy>`.
    `stop_training` sets `done` in the result: Tune then ends the trial, a loop of your own must look at it. A result
    comes after its updates, so `stop_update` cannot be obeyed; RLlib's own `torch_skip_nan_gradients` and KL penalty
    are closer to the step. `roll_back` puts weights and optimiser of every policy back to a result from before the
    break, out of the last `keep` results, which are held in memory as soon as `act` asks for it.

    Args:
        path: The run's folder; None keeps everything in memory.
        keep: Results that can be gone back to.
        options: Whatever else `Monitor` takes.
    """

    def __init__(self, path: str | Path | None = None, *, keep: int = 3, **options: Any) -> None:
        self.monitors: dict[str, Monitor] = {}
        """Policy -> its monitor."""
        self._path = None if path is None else Path(path)
        self._options: dict[str, Any] = {"framework": "rllib", **options}
        wanted = "roll_back" in dict(options.get("act") or {}).values()
        self._states: deque[tuple[float, Any]] = deque(maxlen=keep if wanted else 0)

    def on_algorithm_init(self, *, algorithm: Any, metrics_logger: Any = None, **_: Any) -> None:
        """Make the monitors; a wrong option is said here, before anything is trained."""
        policies = list(algorithm.config.policies)
        for policy in policies:
            self._add(policy, algorithm, alone=len(policies) == 1)

    def on_train_result(self, *, algorithm: Any, metrics_logger: Any = None, result: dict[str, Any], **_: Any) -> None:
        """Judge one result; `result["firstbreak"]` then holds what was decided and why."""
        policies = [name for name in result.get("learners", {}) if name != _ALL]
        step = float(result.get("env_runners", {}).get(STEPS, result.get(STEPS, 0)))
        verdicts = [self._judge(name, policies, algorithm, result, step) for name in policies]
        asked = [verdict for verdict in verdicts if not verdict.proceed]
        if asked:
            self._obey(max(asked, key=lambda verdict: verdict.action.rank), algorithm, result)
        elif self._states.maxlen and verdicts:
            with harmless(self._first, "keep a state to go back to"):
                self._states.append((step, algorithm.learner_group.get_state()))

    def on_checkpoint_loaded(self, *, algorithm: Any, **_: Any) -> None:
        """Note that the run goes on from a checkpoint."""
        for monitor in self.monitors.values():
            monitor.event("resume")

    @property
    def _first(self) -> Monitor:
        return next(iter(self.monitors.values()))

    def _judge(
        self, policy: str, policies: list[str], algorithm: Any, result: Mapping[str, Any], step: float
    ) -> Verdict:
        if policy not in self.monitors:
            self._add(policy, algorithm, alone=False)
        monitor = self.monitors[policy]
        row: dict[str, Any] = {}
        with harmless(monitor, "read a result"):
            row = row_of(result, policy, policies)
        return ask(monitor, row, step)

    def _add(self, policy: str, algorithm: Any, *, alone: bool) -> None:
        folder = self._path if self._path is None or alone else self._path / policy
        monitor = self.monitors[policy] = Monitor(folder, **self._options)
        with harmless(monitor, "read the settings"):
            monitor.configure(settings(algorithm.config))

    def _obey(self, verdict: Verdict, algorithm: Any, result: dict[str, Any]) -> None:
        action = verdict.action
        if action is Action.ROLL_BACK and not self._roll_back(earliest_onset(verdict), algorithm):
            action = Action.STOP_TRAINING
        if action is Action.STOP_TRAINING:
            result["done"] = True
        if action is Action.STOP_UPDATE:
            complain(self._first, "RLlib reports an update when it is done, so stop_update cannot be obeyed")
        result[OWN] = {"action": str(action), "findings": [alarm.finding.message for alarm in verdict.alarms]}

    def _roll_back(self, onset: float, algorithm: Any) -> bool:
        """Put every learner back to the newest state from before `onset`; each state is gone back to once."""
        while self._states:
            step, state = self._states.pop()
            if step >= onset:
                continue
            with harmless(self._first, "roll back"):
                # RLlib passes over weights that are older than its own; 0 says that they are to be taken all the same.
                state["learner"]["weights_seq_no"] = 0
                algorithm.learner_group.set_state(state)
                algorithm.env_runner_group.sync_weights(from_worker_or_learner_group=algorithm.learner_group)
                for monitor in self.monitors.values():
                    monitor.rolled_back(step)
                return True
        give_up(self._first, "there is no result from before the break, or going back did not help.")
        return False


def row_of(result: Mapping[str, Any], policy: str, policies: list[str]) -> dict[str, Any]:
    """Return a result as one row for one policy: RLlib's own keys joined by slashes, other policies' left out."""
    flat = flatten({key: value for key, value in result.items() if key not in _LEFT_OUT})
    others = tuple(f"learners/{name}/" for name in (*policies, _ALL) if name != policy)
    own = f"learners/{policy}/{OWN}/"
    return {
        key.removeprefix(own): value
        for key, value in flat.items()
        if not key.startswith(others) and not isinstance(value, str)
    }


def settings(config: Any) -> dict[str, Any]:
    """Return the canonical settings in an `AlgorithmConfig`; nothing else in it is kept."""
    return canonical_config(flat_config(cast(dict[str, Any], config.to_dict())), "rllib")
