"""Potential-based shaping done right, and a check that tells whether somebody's shaping term is of that kind.

F(s, s') = gamma * potential(s') - potential(s) leaves the best policies as they are (Ng, Harada & Russell 1999), if the
potential is 0 where an episode truly ends (Grzes 2017), is kept where a time limit cuts it (the learner bootstraps
there), and both terms of a potential that changes use the one of their own time (Devlin & Kudenko 2012).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, missing_extra
from .flattening import flat

Array = NDArray[np.float64]
TOLERANCE = 1e-6
"""Gap as a share of the potential's size that rounding explains; float32 terms reach 1e-7."""
LEAST_STEPS = 20


class PotentialShaping:
    """The shaping term of a potential: add `term(...)` of each step to its reward.

    A potential may depend on time: then it is called as `potential(observation, time)`, and `time` must be given to
    `term`: the time of the step's first state and of its second one, in whatever clock the potential uses.

    Args:
        potential: from an observation (and a time) to a number; higher is better.
        gamma: the discount of the agent, not another one.
        dynamic: whether the potential takes a time.
    """

    def __init__(self, potential: Callable[..., float], gamma: float, *, dynamic: bool = False) -> None:
        if not 0.0 <= gamma <= 1.0:
            raise InputError(f"gamma is {gamma}.", "Give the agent's discount, in [0, 1].")
        self.potential, self.gamma, self.dynamic = potential, gamma, dynamic

    def at(self, observation: Any, time: float | None = None) -> float:
        """Return the potential of `observation`, at `time` if it is dynamic."""
        if not self.dynamic:
            return float(self.potential(observation))
        if time is None:
            raise InputError("A dynamic potential needs the time.", "Give time and next_time to term().")
        return float(self.potential(observation, time))

    def term(
        self,
        observation: Any,
        next_observation: Any,
        *,
        terminated: bool,
        time: float | None = None,
        next_time: float | None = None,
    ) -> float:
        """Return the term of one step.

        `terminated` is true termination only: at a time limit the potential of the last observation is kept, because
        the learner bootstraps from it.
        """
        after = 0.0 if terminated else self.at(next_observation, next_time)
        return self.gamma * after - self.at(observation, time)

    def wrap(self, env: Any) -> Any:
        """Return `env` (Gymnasium) with the term added to its rewards; `info["reward_shaping"]` holds it.

        The clock of a dynamic potential is the number of steps this wrapper has made in its life. The task's own return
        is in the reward minus the term: never report shaped returns as results.
        """
        return _wrapper_class()(env, self)


def _wrapper_class() -> Any:
    try:
        import gymnasium
    except ImportError as error:
        raise missing_extra("gymnasium", "gym", "Wrapping an environment") from error

    class Shaped(gymnasium.Wrapper):  # pyright: ignore[reportMissingTypeArgument]
        """Adds a potential-based term; the potential of the first state is taken anew at each reset."""

        def __init__(self, env: Any, shaping: PotentialShaping) -> None:
            super().__init__(env)
            self.shaping, self.clock, self.before = shaping, 0, 0.0

        def reset(self, **options: Any) -> Any:
            observation, info = self.env.reset(**options)
            self.before = self.shaping.at(observation, self.clock)
            return observation, info

        def step(self, action: Any) -> Any:
            observation, reward, terminated, truncated, info = self.env.step(action)
            self.clock += 1
            after = 0.0 if terminated else self.shaping.at(observation, self.clock)
            term = self.shaping.gamma * after - self.before
            self.before = after
            return observation, float(reward) + term, terminated, truncated, {**info, "reward_shaping": term}

    return Shaped


@dataclass(frozen=True)
class Fault:
    """One mistake of a shaping term: a stable `name`, what was seen, and the numbers."""

    name: str
    message: str
    evidence: dict[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True)
class Telescoping:
    """What was found out about a shaping term. Without faults it telescopes or cannot be told."""

    faults: tuple[Fault, ...]
    largest_gap: float
    """Largest gap between a discounted sum of terms and what it should be, per episode."""
    gamma_seen: float | None = None
    """The discount that the terms use, where it can be told."""
    steps: int = 0
    undecided: str = ""
    """Why the steps do not suffice to tell; "" where they do."""
    tested: str = ""
    """What was looked at: closed loops, held-out steps, ends."""

    @property
    def sound(self) -> bool | None:
        """True: it telescopes; False: a fault was found; None: the steps do not suffice to tell."""
        return False if self.faults else None if self.undecided else True


def telescoping(
    terms: Any,
    potentials: Any,
    gamma: float,
    terminated: Any,
    truncated: Any,
    *,
    next_potentials: Any = None,
    later_potentials: Any = None,
    actions: Any = None,
) -> Telescoping:
    """Check the terms [N] of recorded steps, whole episodes below one another, against their potentials.

    Args:
        terms: F of each step.
        potentials: potential of the state of each step, at its own time [N]; or for static potentials [N, 2]: of the
            state and of the one after it.
        gamma: the agent's discount.
        terminated: true ends [N].
        truncated: cuts by a time limit [N].
        next_potentials: potential of the state after each step [N], at the time after; at true ends the value that the
            potential has there, not 0. Without it, the next row of the episode is used, and ends by a time limit and
            by the end of the recording cannot be checked.
        later_potentials: of a dynamic potential, that of the state before, but at the time after [N].
        actions: size or index of each action [N], to name a term that depends on it.

    Raises:
        InputError: columns of different length, or values that are not finite.
    """
    f, phi, after, over, cut = _columns(terms, potentials, next_potentials, terminated, truncated)
    from .shaping_faults import Steps, faults_of

    scale = max(float(np.abs(phi).max()), float(np.abs(f).max()), 1e-12)
    later = None if later_potentials is None else np.asarray(later_potentials, dtype=np.float64)
    action = None if actions is None else np.asarray(actions, dtype=np.float64).reshape(f.size, -1)
    faults, seen = faults_of(Steps(f, phi, after, over, cut, gamma, TOLERANCE * scale, action, later))
    gap = f - (gamma * np.where(over, 0.0, after) - phi)
    gap[~np.isfinite(gap)] = 0.0
    return Telescoping(tuple(faults), largest_sum_gap(gap, over | cut, gamma), seen, int(f.size))


def largest_sum_gap(gap: Array, done: NDArray[np.bool_], gamma: float) -> float:
    """Largest |discounted sum of gaps| over the episodes that `done` [N] ends."""
    worst, total, weight = 0.0, 0.0, 1.0
    for value, last in zip(gap.tolist(), done.tolist(), strict=True):
        total += weight * value
        weight *= gamma
        worst = max(worst, abs(total))
        if last:
            total, weight = 0.0, 1.0
    return worst


def _columns(
    terms: Any, potentials: Any, next_potentials: Any, terminated: Any, truncated: Any
) -> tuple[Array, Array, Array, NDArray[np.bool_], NDArray[np.bool_]]:
    f = np.asarray(terms, dtype=np.float64)
    phi = np.asarray(potentials, dtype=np.float64)
    over, cut = np.asarray(terminated, dtype=bool), np.asarray(truncated, dtype=bool)
    if phi.ndim == 2 and phi.shape[1] == 2 and next_potentials is None:
        phi, next_potentials = phi[:, 0], phi[:, 1]
    sizes = {f.size, phi.size, over.size, cut.size, phi.size if next_potentials is None else len(next_potentials)}
    if len(sizes) != 1 or f.size < LEAST_STEPS:
        raise InputError(f"columns of {sorted(sizes)} steps.", f"Give equal columns of {LEAST_STEPS} steps or more.")
    if next_potentials is None:
        after = np.append(phi[1:], np.nan)
        after[over | cut] = np.nan
    else:
        after = np.asarray(next_potentials, dtype=np.float64)
    if not (np.isfinite(f).all() and np.isfinite(phi).all()):
        raise InputError("Terms or potentials are not finite.", "Find the first NaN or infinity and repair it.")
    return f, phi, after, over, cut & ~over


def path_dependence(
    terms: Any, states: Any, next_states: Any, gamma: float, terminated: Any, truncated: Any, *, actions: Any = None,
    endless: bool = False,
) -> Telescoping:  # fmt: skip
    """Check the terms [N] of recorded steps without knowing the potential.

    If states come back, a potential per state is fitted to the inner steps by least squares; otherwise a smooth one on
    generic features, judged on held-out episodes. What no potential can explain is named; where the steps prove
    neither, `sound` is None and `undecided` says why.

    Args:
        terms: F of each step [N].
        states: observations before [N, D].
        next_states: observations after [N, D].
        gamma: the agent's discount.
        terminated: true ends [N].
        truncated: cuts by a time limit [N].
        actions: size or index of each action [N].
        endless: the task has no true ends, so that none need be seen.
    """
    from .shaping_unknown import judge_unknown

    f = np.asarray(terms, dtype=np.float64)
    before = np.asarray(states, dtype=np.float64).reshape(f.size, -1)
    after = np.asarray(next_states, dtype=np.float64).reshape(f.size, -1)
    over = np.asarray(terminated, dtype=bool)
    cut = np.asarray(truncated, dtype=bool) & ~over
    if f.size < LEAST_STEPS:
        raise InputError(f"{f.size} terms.", f"Give at least {LEAST_STEPS} terms of whole episodes.")
    if not np.isfinite(f).all():
        raise InputError(f"Term {int(np.argmin(np.isfinite(f)))} is not finite.", "Find what makes it so; repair it.")
    action = None if actions is None else np.asarray(actions, dtype=np.float64).reshape(f.size, -1)
    found = judge_unknown(f, before, after, over, cut, gamma, action, endless)
    return Telescoping(found.faults, found.gap, found.gamma_seen, int(f.size), found.undecided, found.tested)


def check_term(
    term: Callable[..., float],
    steps: Sequence[tuple[Any, Any, Any, bool, bool]],
    gamma: float,
    *,
    potential: Callable[..., float] | None = None,
    dynamic: bool = False,
    endless: bool = False,
) -> Telescoping:
    """Check a function F(s, a, s', terminated, truncated, t) on recorded steps (s, a, s', terminated, truncated).

    The function may take the first 3, 4 or 5 of these only. With `potential` its own values are used (a dynamic one is
    called with the state and the step t or t + 1), otherwise the term is checked without. `t` counts steps of the
    episode.

    Raises:
        InputError: there are too few steps, or a term or potential is not finite.
    """
    over, cut = [bool(s[3]) for s in steps], [bool(s[4]) for s in steps]
    clock, t = list[int](), 0
    for a, b in zip(over, cut, strict=True):
        clock.append(t)
        t = 0 if a or b else t + 1
    taken = positional(term, 3, 6)
    values = [float(term(*(*step, t)[:taken])) for step, t in zip(steps, clock, strict=True)]
    action = _actions([flat(s[1]) for s in steps])
    if potential is None:
        before, after = [flat(s[0]) for s in steps], [flat(s[2]) for s in steps]
        return path_dependence(values, before, after, gamma, over, cut, actions=action, endless=endless)

    def at(state: Any, time: int) -> float:
        return float(potential(state, time) if dynamic else potential(state))

    phi = [(at(s[0], t), at(s[2], t + 1)) for s, t in zip(steps, clock, strict=True)]
    later = [at(s[0], t + 1) for s, t in zip(steps, clock, strict=True)] if dynamic else None
    return telescoping(values, phi, gamma, over, cut, later_potentials=later, actions=action)


def _actions(rows: Sequence[Array]) -> Array:
    """Actions [N, A]; of actions of different kinds, which no table holds, the sizes [N, 1]."""
    if len({row.size for row in rows}) == 1:
        return np.stack(rows)
    return np.array([[float(np.abs(row).sum())] for row in rows])


def positional(function: Callable[..., Any], least: int, most: int) -> int:
    """Return how many positional arguments `function` takes, between `least` and `most`; `most` if it does not say."""
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return most
    if any(p.kind is p.VAR_POSITIONAL for p in given):
        return most
    return min(max(sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in given), least), most)
