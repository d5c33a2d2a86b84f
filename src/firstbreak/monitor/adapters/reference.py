"""The reference trainers (`firstbreak.trainers`): a `log` that asks a monitor. They know nothing of firstbreak.

trainer = PPO(make_env, seed=0)
trainer.learn(50_000, log=log_to(monitor, trainer))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any, cast

import torch

from ..task_name import name_task
from ..verdict import Action, Verdict
from .parts.coarse import coarse
from .parts.in_force import DISCOUNT, TRACE_DECAY, decay, plain, rate_of
from .parts.obeying import ask, complain, harmless, keep, keep_failed, put_back
from .parts.player import player_of
from .parts.reference.acted import acted_of
from .parts.reference.handed_on import StepsOfTrainer
from .parts.reference.language import on_the_way
from .parts.reference.targets import targets_unlike
from .parts.refusing import insist
from .parts.replay_chain import of_reference
from .parts.resets import METRIC as UNRESET
from .parts.resets import Resets, watch
from .parts.seconds import Seconds
from .parts.settings_in_force import of_trainer
from .parts.weights.actor_gradient import ActorGradient
from .parts.weights.at_rest import OF_CRITIC, OF_POLICY, AtRest
from .parts.weights.target_moves import TargetMoves

if TYPE_CHECKING:
    from ..core import Monitor

ALGORITHMS = {"PPO": "PPO", "DQN": "DQN", "SAC": "SAC", "MMRKHS": "MM-RKHS"}
"""Class of a trainer -> canonical algorithm."""
TOO_LATE = "the reference trainers log an update when it is over, so that stop_update leaves nothing out"
OF_LANGUAGE = {"GRPO": "GRPO", "RLHFPPO": "RLHF-PPO", "AsyncGRPO": "AsyncGRPO", "ToolAgent": "GRPO"}
"""The same of trainers of language models, which count updates."""


def log_to(
    monitor: Monitor, trainer: Any = None, *, checkpoint_rows: int = 10
) -> Callable[[Mapping[str, float], int], Verdict]:
    """Return the `log` to give to `train` or `learn`: it logs to `monitor` and returns the verdict.

    The trainers end their loop when the verdict says `stop_training`. They log after an update, so `stop_update` finds
    nothing left to leave out.

    Args:
        monitor: Who judges.
        trainer: Gives its settings, and what a checkpoint holds; without it nothing is saved or rolled back.
        checkpoint_rows: Rows from checkpoint to checkpoint, where the monitor has a store for them.
    """
    insist(monitor, checkpoint_rows)
    rows, looks = 0, _Looks(monitor, trainer)
    if trainer is not None:
        with harmless(monitor, "log_to"):
            monitor.configure(_settings(trainer))
            for copy in getattr(getattr(trainer, "env", None), "copies", ())[:1]:
                name_task(monitor, copy)

    def log(metrics: Mapping[str, float], step: int) -> Verdict:
        nonlocal rows
        verdict = ask(monitor, {**metrics, **looks.take(metrics)}, step, looks.clock)
        rows += 1
        if trainer is not None and verdict.roll_back:
            if put_back(monitor, _parts(trainer)) is Action.STOP_TRAINING:
                verdict = Verdict(Action.STOP_TRAINING, verdict.alarms)
        elif trainer is not None and verdict.stop_training:
            keep_failed(monitor, _parts(trainer))
        elif verdict.action is Action.STOP_UPDATE:
            complain(monitor, TOO_LATE)
        elif trainer is not None and verdict.proceed and rows % checkpoint_rows == 1 % checkpoint_rows:
            keep(monitor, _parts(trainer), step, metrics.get("reward/episode_return_mean"))
        looks.resting.note()
        return verdict

    return log


class _Looks:
    """All that is seen of a trainer beside what it logs: within its loop, and at each row."""

    def __init__(self, monitor: Monitor, trainer: Any) -> None:
        self._monitor, self._trainer = monitor, trainer
        kind = type(trainer).__name__
        self.clock = "updates" if kind in OF_LANGUAGE else "env_steps"
        self._seconds, self._resets, self._steps = Seconds(), Resets(), None
        self.resting = AtRest(_optimisers(trainer), self._moved, _networks(trainer))
        self._led, self._player = _led(trainer), player_of(trainer, monitor, self.resting)
        self._acted = acted_of(trainer, monitor)
        if kind in ALGORITHMS:
            watch(trainer.env, self._resets, lambda: harmless(monitor, "log_to"), self._unreset)
            self._steps = StepsOfTrainer(trainer, monitor)
            if self._player is not None:
                self._player.shown = self._steps.look
        self._way = on_the_way(trainer, monitor) if kind in OF_LANGUAGE else None
        targets = getattr(trainer, "target_critics", getattr(trainer, "target_network", ()))
        self._targets = TargetMoves(_weights(targets))

    def take(self, metrics: Mapping[str, float]) -> dict[str, float]:
        """Return what was seen since the last row, which is to stand beside its `metrics`."""
        found = {name: float(change) for name, change in (self.resting.take() | self._targets.take()).items()}
        with harmless(self._monitor, "log_to"):
            found |= self.resting.settings.row() if self.clock == "env_steps" else {}
            found |= self._seconds.worked() if "time/elapsed_s" in metrics else {}
            found |= {} if self._steps is None else self._steps.take() | of_trainer(self._trainer)
            found |= _in_force(self._trainer, metrics) | _stored(self._trainer) | targets_unlike(self._trainer)
            found |= self._resets.take() | ({} if self._player is None else self._player.take())
            for look in (self._led, self._way, self._acted):
                found |= {} if look is None else look.take()
        return found

    def _moved(self, changes: Mapping[str, float]) -> None:
        # Said at the step that finds it: rows of replay trainers lie many updates apart.
        if self.clock == "env_steps":
            with harmless(self._monitor, "log_to"):
                self._monitor.beside(changes, step=float(self._trainer.env_steps))

    def _unreset(self) -> None:
        taken = self._trainer.config.num_envs if self._player is None else self._player.steps
        self._monitor.beside({UNRESET: 1.0}, step=float(self._trainer.env_steps + taken))


def _optimisers(trainer: Any) -> list[torch.optim.Optimizer]:
    attributes = {} if trainer is None else cast("dict[str, Any]", vars(trainer))
    return [part for part in attributes.values() if isinstance(part, torch.optim.Optimizer)]


def _networks(trainer: Any) -> dict[str, list[torch.Tensor]]:
    """Metric -> weights of the policy and of the critic, where a trainer has both apart."""
    actor, critics = getattr(trainer, "actor", None), getattr(trainer, "critics", getattr(trainer, "critic", None))
    return {} if actor is None or critics is None else {OF_POLICY: _weights(actor), OF_CRITIC: _weights(critics)}


def _led(trainer: Any) -> ActorGradient | None:
    """What sees whether the actor learns through the critics, where a trainer has both apart."""
    critics, optimiser = getattr(trainer, "critics", None), getattr(trainer, "actor_optimiser", None)
    return None if not critics or optimiser is None else ActorGradient(critics, optimiser)


def _settings(trainer: Any) -> dict[str, Any]:
    config = trainer.config
    settings = asdict(config) if is_dataclass(config) and not isinstance(config, type) else {}
    return {"algorithm": (ALGORITHMS | OF_LANGUAGE).get(type(trainer).__name__, ""), **settings, **_actions(trainer)}


def _in_force(trainer: Any, metrics: Mapping[str, float]) -> dict[str, float]:
    """Discounts, learning rates and weight decay as they stand; the critic's rate where it has a group of its own."""
    optimisers = _optimisers(trainer)
    critics = _weights(getattr(trainer, "critics", getattr(trainer, "critic", ())))
    policy = _weights(getattr(trainer, "actor", getattr(trainer, "q_network", ())))
    found = {
        DISCOUNT: plain(getattr(getattr(trainer, "config", None), "gamma", None)),
        TRACE_DECAY: plain(getattr(getattr(trainer, "config", None), "gae_lambda", None)),
        "optim/lr": rate_of(optimisers, policy),
        "optim/critic_lr": rate_of(optimisers, critics, apart_from=policy),
    }
    norm = metrics.get("optim/grad_norm")
    shrinks = [decay(optimiser, norm) for optimiser in optimisers if "weight_decay" in optimiser.param_groups[0]]
    pulls = sorted((value, name) for shrink in shrinks for name, value in shrink.items())
    known = {name: value for name, value in found.items() if value is not None}
    trained = [weight for one in optimisers for group in one.param_groups for weight in group["params"]]
    return known | {name: value for value, name in pulls} | coarse(trained)


def _stored(trainer: Any) -> dict[str, float]:
    """The newest rows of the replay buffer, where the trainer has one."""
    buffer = getattr(trainer, "buffer", None)
    return {} if buffer is None else of_reference(buffer, int(trainer.config.num_envs))


def _actions(trainer: Any) -> dict[str, Any]:
    space = getattr(getattr(getattr(trainer, "env", None), "action_spec", None), "space", None)
    if hasattr(space, "n"):
        return {"action_space": "discrete", "n_actions": int(cast(Any, space).n)}
    if hasattr(space, "low"):
        return {"action_space": "continuous", "action_dim": int(cast(Any, space).low.shape[-1])}
    return {}


def _weights(networks: Any) -> list[torch.Tensor]:
    several = [networks] if isinstance(networks, torch.nn.Module) else networks
    return [weight for network in several for weight in network.parameters()]


def _parts(trainer: Any) -> dict[str, Any]:
    """Networks, optimisers and learnt numbers; not the environment, whose episodes go on."""
    learnt = (torch.nn.Module, torch.optim.Optimizer)
    attributes = cast("dict[str, Any]", vars(trainer))
    return {
        name: part
        for name, part in attributes.items()
        if name not in {"env", "buffer"}
        and (isinstance(part, learnt) or (isinstance(part, torch.Tensor) and part.requires_grad))
    }
