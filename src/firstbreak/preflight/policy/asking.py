"""Asking a policy for actions on the observations that it visits itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from ...isolation.journal import Journal
from ...target import load_target
from .misfit import misfit
from .trial import PolicyTrial

STEPS = 500
"""Observations a policy is asked with: enough to see 1 % of its answers."""
SHORT_STEPS, LONG_STEPS = 10, 200
"""Steps before the next start: short tours for the first half, so that many starts are seen, then long ones."""

Policy = Callable[[Any], Any]
"""Takes one observation as the environment gives it, returns one action for `step`."""


def noted(policy: Policy, call: str, journal: Journal) -> Policy:
    """Return `policy` with every call noted in `journal` before it is made."""

    def act(observation: Any) -> Any:
        journal.during(call)
        return policy(observation)

    return act


def policy_of(target: Any) -> Policy:
    """Return a function from observation to action: a function, or an object with `act` or `predict`.

    A class is called without arguments first. `predict` may return (action, state), as in Stable-Baselines3.
    """
    found = load_target(target) if isinstance(target, str) else target
    if isinstance(found, type):
        found = cast("Callable[[], Any]", found)()
    act = getattr(found, "act", None)
    if callable(act):
        return lambda observation: act(observation, True)
    predict = getattr(found, "predict", None)
    if callable(predict):
        return lambda observation: cast("tuple[Any, Any]", predict(observation, deterministic=True))[0]
    return found


def plain(value: Any) -> Any:
    """Return an action as numpy or Python data: tensors are taken off their graph and device, in dictionaries too."""
    answer = _first_of_pair(value)
    if isinstance(answer, dict):
        return {key: plain(part) for key, part in cast("dict[Any, Any]", answer).items()}
    if isinstance(answer, tuple):
        return tuple(plain(part) for part in cast("tuple[Any, ...]", answer))
    if callable(getattr(answer, "detach", None)):
        answer = answer.detach().cpu().numpy()
    return np.array(answer) if type(answer) is np.ndarray else answer


def _first_of_pair(value: Any) -> Any:
    """Return the action of a pair (action, None), as SB3's `predict` returns it; anything else as it is."""
    if not isinstance(value, tuple):
        return value
    pair = cast("tuple[Any, ...]", value)
    return pair[0] if len(pair) == 2 and pair[1] is None else pair


def ask(make: Callable[[], Any], policy: Policy, trial: PolicyTrial, steps: int = STEPS) -> None:
    """Let `policy` play in a fresh environment and put its answers into `trial`.

    An exception of the policy, `sys.exit` too, is kept in the trial. Where an answer does not fit the action space a
    random action is played in its place, so that the tour goes on.
    """
    env = make()
    answers: list[Any] = []
    again: list[Any] = []
    seen: set[bytes] = set()
    try:
        env.action_space.seed(0)
        observation, since = env.reset(seed=0)[0], 0
        for step in range(steps):
            try:
                answers.append(plain(policy(observation)))
                again.append(plain(policy(observation)))
            except (Exception, SystemExit) as error:
                trial.error, trial.error_step = f"{type(error).__name__}: {error}"[:200], step + 1
                break
            seen.add(_bytes(observation))
            observation, _, terminated, truncated, _ = env.step(playable(env.action_space, answers[-1]))
            since += 1
            if terminated or truncated or since >= (SHORT_STEPS if 2 * step < steps else LONG_STEPS):
                observation, since = env.reset(seed=step + 1)[0], 0
    finally:
        env.close()
    trial.answers, trial.again, trial.distinct_observations = answers, again[: len(answers)], len(seen)


def playable(space: Any, answer: Any) -> Any:
    """Return `answer` clipped into `space` when it has the right size, else a random action."""
    if hasattr(space, "spaces"):  # a dict or tuple
        return answer if not misfit(space, answer) and space.contains(answer) else space.sample()
    array = np.asarray(answer)
    if array.dtype.kind not in "biuf" or not np.isfinite(array.astype(float)).all():
        return space.sample()
    if hasattr(space, "low") and hasattr(space, "high") and array.size == len(np.ravel(space.low)):
        return np.clip(array.reshape(space.shape).astype(float), space.low, space.high).astype(space.dtype)
    if hasattr(space, "n") and array.size == 1 and array.dtype.kind in "iub":
        index = int(array.reshape(-1)[0])
        return index if space.contains(index) else space.sample()
    return answer if space.contains(answer) else space.sample()


def alike(one: Any, other: Any) -> bool:
    """Whether two answers are the same, part by part; NaN equals NaN."""
    if isinstance(one, dict) and isinstance(other, dict):
        a, b = cast("dict[Any, Any]", one), cast("dict[Any, Any]", other)
        return a.keys() == b.keys() and all(alike(a[key], b[key]) for key in a)
    if isinstance(one, tuple) and isinstance(other, tuple):
        c, d = cast("tuple[Any, ...]", one), cast("tuple[Any, ...]", other)
        return len(c) == len(d) and all(alike(x, y) for x, y in zip(c, d, strict=True))
    left, right = np.asarray(one), np.asarray(other)
    return np.array_equal(left, right, equal_nan=left.dtype.kind == "f" and right.dtype.kind == "f")


def _bytes(observation: Any) -> bytes:
    if isinstance(observation, dict):
        items = cast("dict[Any, Any]", observation)
        return b"".join(_bytes(v) for v in items.values())
    return np.asarray(observation).tobytes()
