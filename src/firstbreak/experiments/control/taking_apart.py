"""Taking hold of a trainer's parts (`Pieces` of the invariants) as they are at its start, on its own task."""

from __future__ import annotations

from typing import Any, cast

from ...errors import InputError
from ...preflight.invariants.pieces import Batch, Pieces
from ...preflight.invariants.subjects import subjects
from ...target import load_target
from ..experiment import Option
from ..subject import Subject
from ..trial import Trial
from .own_buffer import through_own_buffer
from .training import subjected

COLLECTED_STEPS = 300
"""Environment steps put into an empty replay buffer."""
COLLECTED_FRAC = 0.02
"""The same as a share of the run, where that is less: with three seeds 6 % of it. Engineering default."""
LEAST_COLLECTED = 128
"""Fewer steps than these are none to fit."""
TAKEN_APART = (
    Option("pieces", "module:function that returns the trainer's parts, made anew each time"),
    Option("after_steps", "steps of training before it is taken apart, instead of none", least=0),
)
"""What `pieces_of` reads."""
HINT = (
    "Known are sb3:PPO, A2C, DQN, SAC and what derives from firstbreak.trainers. Else let the agent have a method "
    "pieces(), or give --with pieces=module:function; either returns firstbreak.preflight.invariants.pieces.Pieces."
)


def collected_of(subject: Subject) -> int:
    """Return how many steps to put into a replay buffer: little beside the run that is experimented on."""
    share = COLLECTED_STEPS if subject.steps is None else round(COLLECTED_FRAC * subject.steps)
    return min(COLLECTED_STEPS, max(share, LEAST_COLLECTED))


def pieces_of(trial: Trial, collected_steps: int = COLLECTED_STEPS, *, as_it_is: bool = False) -> Pieces:
    """Return the parts of the trial's trainer, after `--with after_steps=N` steps of training (by default none).

    Args:
        trial: the trial whose trainer is taken apart.
        collected_steps: environment steps put into a replay buffer; 0 leaves it as it is.
        as_it_is: leave the entropy bonus on, where updates are to be the trainer's own.

    Raises:
        InputError: they cannot be had.
    """
    given = trial.subject.given.get("pieces")
    if given is not None:
        found = subjects(load_target(str(given)), trial.seed)
    else:
        agent: Any = subjected(trial).train(steps=int(trial.subject.given.get("after_steps") or 0))
        own = getattr(agent, "pieces", None)
        found = [cast(Pieces, own())] if callable(own) else _known(getattr(agent, "model", agent), trial)
    pieces = found[0]
    if pieces.collect is not None and pieces.rollout is None and collected_steps:
        pieces.collect(collected_steps)
    if pieces.configure is not None and not as_it_is:
        pieces.configure({"entropy_coef": 0.0})
    return pieces


def _known(agent: Any, trial: Trial) -> list[Pieces]:
    try:
        found = subjects(agent, trial.seed)
    except InputError as error:
        raise InputError(f"The parts of {trial.subject.trainer} cannot be reached: {error.message}", HINT) from error
    if hasattr(agent, "rollout_buffer"):
        through_own_buffer(found[0], agent)
    return found


def insist_on(pieces: Pieces, *names: str) -> None:
    """Insist that the parts `names` are there.

    Raises:
        InputError: one is missing.
    """
    missing = [n for n in names if getattr(pieces, n) is None]
    if missing:
        raise InputError(f"The trainer shows no {', '.join(missing)}.", HINT)


def rows_of(rollout: Batch) -> dict[str, Any]:
    """Return a rollout [T, N, ...] as rows [T * N, ...]."""
    return {k: v.reshape(v.shape[0] * v.shape[1], *v.shape[2:]).detach().clone() for k, v in rollout.items()}


def explained_frac(values: Any, targets: Any) -> float:
    """Return 1 - mean squared error / variance of the targets: 1 for a perfect fit, 0 for their mean."""
    spread = float(((targets - targets.mean()) ** 2).mean())
    return 1.0 - float(((values.reshape(-1) - targets) ** 2).mean()) / max(spread, 1e-30)
