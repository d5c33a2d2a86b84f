"""Training a subject in one arm, and scoring what came of it."""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import FirstbreakError, InputError
from ...probes.adapters.reaching import SB3, TORCHRL, reach
from ...probes.running.training import Reached
from ...target import load_target
from ..experiment import Measures, Option
from ..running.where import where
from ..trial import Trial
from .task import EVALUATED, Act, Sample, Score, Task
from .watch import Watch

SCORED = (EVALUATED, Option("mode", "how actions of an evaluation are taken", ("sampled", "deterministic")))
"""What `train_and_score` and `Subjected.score` read."""
AGENT = Option("agent", "module:name of a trained agent, in place of a training")
OWN_STEPS_FRAC = 0.05
"""A trainer asked for no steps at all that takes more than this share of a run is not untrained afterwards."""

_ASKED, _STANDS = "asked for 0 steps the trainer", ": a random policy stands for the untrained one"

Change = Callable[[Any], Any]


@dataclass
class Subjected:
    """A trial's trainer and task, ready to be used."""

    trial: Trial
    task: Task
    reached: Reached
    keywords: dict[str, Any]
    steps: int
    made: list[Any] = field(default_factory=list[Any])
    """The copies of the environment that the last training was given."""

    def train(
        self, *, steps: int | None = None, change: Change = lambda env: env, more: Mapping[str, Any] | None = None
    ) -> Any:
        """Train for `steps` on the task as `change` makes it, with `more` keyword arguments; return the agent."""
        total = self.steps if steps is None else steps
        watch = Watch(self.trial, total)
        self.made = []

        def changed(env: Any) -> Any:
            self.made.append(change(env))
            return self.made[-1]

        seed_everything(self.trial.seed)
        agent = self.reached.train(
            self.task.maker(watch, changed), total_steps=total, seed=self.trial.seed, **self.keywords, **(more or {})
        )
        self.trial.env_steps += watch.steps
        if watch.fingerprint:
            self.trial.fingerprint = watch.fingerprint
        if not callable(getattr(agent, "act", None)):
            raise TypeError(f"train returned {type(agent).__name__}, which has no act(obs, deterministic)")
        return agent

    def untrained_or_refused(self) -> Any:
        """Return the agent that a training starts from.

        Raises:
            InputError: the trainer cannot be asked for no steps; the message says what it did instead.
        """
        agent = self.untrained()
        if agent is None:
            did = next((n for n in reversed(self.trial.notes) if n.startswith(_ASKED)), _ASKED)
            raise InputError(
                f"{self.trial.subject.trainer} gives no untrained agent: {did.removesuffix(_STANDS)}.",
                _blamed_setting(did, self.trial.subject.settings)
                or "Let it return the agent as it starts where total_steps is 0, without taking a step or an update.",
            )
        return agent

    def untrained(self) -> Any | None:
        """Return the agent that a training starts from; None where the trainer cannot be asked for no steps."""
        printed, steps = self.trial.fingerprint, self.trial.env_steps
        try:
            agent = self.train(steps=0)
        except FirstbreakError:
            raise
        except Exception as error:
            self.trial.note(f"{_ASKED} raises {type(error).__name__}: {str(error)[:200]}{where(error)}{_STANDS}")
            return None
        finally:
            self.trial.fingerprint = printed
        taken, self.trial.env_steps = self.trial.env_steps - steps, steps
        if taken > OWN_STEPS_FRAC * self.steps:
            self.trial.note(f"{_ASKED} takes {taken}{_STANDS}")
            return None
        return agent

    def score(self, agent: Any, change: Change = lambda env: env) -> Score:
        """Return what `agent` earns on the task; actions are sampled unless the user says `mode=deterministic`.

        A task that normalises observations does so with the statistics of the last training, and keeps them.
        """
        from .wrappers import share_statistics

        deterministic = self.trial.subject.given.get("mode") == "deterministic"
        trained = self.made[:1]
        seed_everything(self.trial.seed)
        return self.task.score(acting(agent, deterministic), lambda env: share_statistics(trained, change(env)))


def _blamed_setting(told: str, settings: Mapping[str, Any]) -> str:
    """Return what to do where an error names a setting of the user's, by its value or by its name; else `""`."""
    words = told.lower()
    for name, value in settings.items():
        named = name.lower() in words or name.lower().replace("_", " ") in words
        if named or (isinstance(value, str) and len(value) > 2 and value.lower() in words):
            return f"It speaks of --set {name}={value}: give a value that the trainer takes, or leave it out."
    return ""


def subjected(trial: Trial, settings: Mapping[str, Any] | None = None) -> Subjected:
    """Return the trainer and the task of `trial`; `settings` are laid over the user's own.

    Raises:
        InputError: there is no such trainer or task, or the trainer does not take the settings.
    """
    given = {**trial.subject.settings, **(settings or {})}
    gamma = {"gamma": given.pop("gamma")} if "gamma" in given else {}
    reached = reach(trial.subject.trainer, given, trial.subject.steps)
    _insist_on_taken(trial.subject.trainer, given)
    if gamma and not reached.takes_gamma:
        raise InputError(f"{trial.subject.trainer} takes no gamma.", "Leave it out of the settings.")
    if "torch" in sys.modules:
        with contextlib.suppress(RuntimeError):
            sys.modules["torch"].set_num_threads(1)
    return Subjected(trial, Task(trial), reached, gamma, int(reached.steps))


def _insist_on_taken(trainer: str, settings: Mapping[str, Any]) -> None:
    """Refuse settings that a trainer of one's own does not take; those of libraries are refused by themselves."""
    if trainer.startswith((SB3, TORCHRL)):
        return
    found = load_target(trainer)
    if isinstance(found, type):  # an algorithm of SB3, which takes more than its constructor says
        return
    try:
        parameters = inspect.signature(found).parameters
    except (TypeError, ValueError):  # nothing says what it takes
        return
    lost = [name for name in settings if name not in parameters]
    if lost and not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        own = [n for n in parameters if n not in ("make_env", "total_steps", "seed")]
        raise InputError(f"{trainer} takes no {', '.join(lost)}.", f"It takes {', '.join(own) or 'no settings'}.")


def train_and_score(
    trial: Trial,
    *,
    reward: str = "own",
    change: Change | None = None,
    settings: Mapping[str, Any] | None = None,
    factor: float = 1.0,
    ends_only: bool = False,
) -> Measures:
    """Train the subject and return `score`, that of its untrained `start` and of a `random` policy, with their spreads.

    Args:
        reward: own, constant, random or reversed: what the trainer is paid. It is always scored on its own.
        change: done to each copy of the environment that the trainer gets.
        settings: of the trainer, laid over the user's own.
        factor: environment steps in units of the run's.
        ends_only: leave out `start` and `random`: for an arm that begins as the other does, and is paid no noise.
    """
    subject = subjected(trial, settings)
    subject.task.cheaper_than(subject.steps)
    sample = None if ends_only else subject.task.at_random()
    start = None if ends_only else subject.untrained()
    agent = subject.train(
        steps=round(subject.steps * factor), change=paying(reward, sample, trial.seed) if change is None else change
    )
    found = table("score", subject.score(agent) if change is None else subject.score(agent, change))
    if sample is None:
        return found
    begun = sample.score if start is None else subject.score(start)
    return {**found, **table("start", begun), **table("random", sample.score)}


def table(name: str, score: Score) -> dict[str, float]:
    """Return a score as measures."""
    return {name: score.mean, f"{name}_sd": score.sd, f"{name}_length_steps": score.steps}


def paying(kind: str, sample: Sample | None, seed: int) -> Change:
    """Return what makes an environment pay `kind` instead of its own reward; noise is as wide as in the `sample`."""
    from .wrappers import REWARDS, Paid

    if kind not in REWARDS:
        raise InputError(f"There is no reward {kind!r}.", f"Known are {', '.join(REWARDS)}.")
    if kind == "own":
        return lambda env: env
    sd = 1.0 if sample is None else float(sample.rewards.std()) or float(np.abs(sample.rewards).mean()) or 1.0
    copies = iter(range(1 << 30))
    return lambda env: Paid(env, kind, sd, seed * 1000 + next(copies))


def acting(agent: Any, deterministic: bool) -> Act:
    """Return `agent` as a function from observation to action."""

    def act(observation: Any) -> Any:
        action = agent.act(np.array(observation, copy=True), deterministic)
        return action.detach().cpu().numpy() if hasattr(action, "detach") else action

    return act


def agent_of(trial: Trial) -> tuple[Subjected | None, Task, Any]:
    """Return the agent that `--with agent=module:name` names, or train one."""
    address = trial.subject.given.get("agent")
    if address is None:
        subject = subjected(trial)
        return subject, subject.task, subject.train()
    found = load_target(str(address))
    agent = found if callable(getattr(found, "act", None)) and not isinstance(found, type) else found()
    if not callable(getattr(agent, "act", None)):
        raise InputError(f"{address} is {type(agent).__name__}, which has no act(obs, deterministic).", "")
    return None, Task(trial), agent


def seed_everything(seed: int) -> None:
    """Seed the global generators of Python, numpy and torch (where it is loaded)."""
    import random

    random.seed(seed)
    np.random.seed(seed % (1 << 32))
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)
