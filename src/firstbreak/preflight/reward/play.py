"""Plays an environment at random and writes down what each step paid; runs inside the child process."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from ...errors import InputError, unknown_name
from ...isolation.child import Wire
from ...target import is_target, load_target
from ..environment.loading import source_of
from ..flattening import flat
from .columns import looks_like_part
from .sample import Replay, RewardSample
from .shaped import Shaping, judged

MOST_STEPS = 20_000
"""Steps of random play: enough for the held-out fits, a few seconds on classic control and MuJoCo."""
MOST_EPISODES = 400
LONGEST_S = 20.0
"""Seconds after which recording ends early, with a note."""
WIDEST = 400
"""Observation dimensions kept at most; images are left out of the fits."""
REPLAYS = 6
"""Seeds played again with other actions, and again with the same."""
REPLAY_STEPS = 200
SUCCESS = ("is_success", "success", "goal_reached", "reached_goal", "solved")
"""Keys of `info` read as a task metric without being told."""

Metric = Callable[[Any], float]


@dataclass
class _Log:
    """Columns of the recording while it grows."""

    rewards: list[float] = field(default_factory=list[float])
    episode: list[int] = field(default_factory=list[int])
    observations: list[Any] = field(default_factory=list[Any])
    actions: list[Any] = field(default_factory=list[Any])
    after: list[Any] = field(default_factory=list[Any])
    terminated: list[bool] = field(default_factory=list[bool])
    truncated: list[bool] = field(default_factory=list[bool])
    infos: list[dict[str, float]] = field(default_factory=list[dict[str, float]])
    metric: list[float] = field(default_factory=list[float])
    raw: list[tuple[Any, Any, Any, bool, bool]] = field(default_factory=list[tuple[Any, Any, Any, bool, bool]])
    """Steps as the environment gave them, where a shaping term is to be checked."""


def record(
    target: Any,
    *,
    components: Sequence[str] = (),
    metric: Any = None,
    better: Mapping[str, str] | None = None,
    gamma: float = 0.99,
    steps: int = MOST_STEPS,
    shaping: Shaping | None = None,
    wire: Wire | None = None,
) -> RewardSample:
    """Play `target` at random and return what it paid.

    Args:
        target: Gymnasium id, `module:factory`, or a factory, of an environment of any kind that `source_of` knows.
        components: keys of `info` that are parts of the reward; otherwise those named like parts.
        metric: what the task is about: a key of `info`, or `module:fn` (or a function) from observation to number.
        better: which way the metric is better; see `RewardSample`.
        steps: at most so many steps are played.
        shaping: a term to be checked on these steps.
    """
    wire = wire or Wire(-1, None)
    make = source_of(target, wire.journal).make
    judge = _judge_of(metric)
    env = make()
    log, note = _Log(), ""
    try:
        action_space, limit = env.action_space, _limit_of(env)
        action_space.seed(0)
        start = time.monotonic()
        for number in range(MOST_EPISODES):
            if len(log.rewards) >= steps:
                break
            if time.monotonic() - start > LONGEST_S:
                note = f"random play ended after {LONGEST_S:g} s and {len(log.rewards)} steps"
                break
            _episode(env, number, log, judge, steps, start, keep=shaping is not None)
        replays = list(_replays(make, env, action_space))
    finally:
        env.close()
    sample = _sample(log, action_space, limit, components, metric, better or {}, gamma, replays, [note] * bool(note))
    if shaping is None:
        return sample
    wire.journal.begin("the shaping term")
    return replace(sample, shaping=judged(shaping, log.raw, gamma))


def _judge_of(metric: Any) -> Metric | None:
    if isinstance(metric, str):
        return load_target(metric) if is_target(metric) else None
    return metric


def _limit_of(env: Any) -> int | None:
    spec = getattr(env, "spec", None)
    limit = getattr(spec, "max_episode_steps", None)
    return int(limit) if limit else None


def _episode(env: Any, number: int, log: _Log, judge: Metric | None, steps: int, start: float, *, keep: bool) -> None:
    observation, _ = env.reset(seed=number)
    while len(log.rewards) < steps and time.monotonic() - start <= LONGEST_S + 1:
        action = env.action_space.sample()
        before, state = _flat(observation), deepcopy(observation) if keep else None
        observation, reward, terminated, truncated, info = env.step(action)
        log.rewards.append(float(np.asarray(reward, dtype=np.float64).reshape(-1)[0]))
        log.episode.append(number)
        log.observations.append(before)
        log.actions.append(_flat(action))
        log.after.append(_flat(observation))
        log.terminated.append(bool(terminated))
        log.truncated.append(bool(truncated))
        log.infos.append(_scalars(info))
        if keep:
            log.raw.append((state, deepcopy(action), deepcopy(observation), bool(terminated), bool(truncated)))
        if judge is not None:
            log.metric.append(float(judge(observation)))
        if terminated or truncated:
            break


def _flat(value: Any) -> Any:
    return flat(value, WIDEST)


def _scalars(info: Any) -> dict[str, float]:
    """The numbers of `info`, those of one level of nested dictionaries as `outer/inner`."""
    found: dict[str, float] = {}
    if not isinstance(info, Mapping):
        return found
    for key, value in cast("Mapping[Any, Any]", info).items():
        inner = cast("Mapping[Any, Any]", value) if isinstance(value, Mapping) else {"": value}
        for sub, number in inner.items():
            if isinstance(number, (bool, int, float, np.number, np.bool_)):
                found[f"{key}/{sub}" if sub != "" else str(key)] = float(cast("float", number))
    return found


def _play(env: Any, seed: int, actions: Sequence[Any]) -> tuple[list[float], list[Any]]:
    observation, _ = env.reset(seed=seed)
    rewards, seen = list[float](), [_flat(observation)]
    for action in actions:
        observation, reward, terminated, truncated, _ = env.step(action)
        rewards.append(float(np.asarray(reward, dtype=np.float64).reshape(-1)[0]))
        seen.append(_flat(observation))
        if terminated or truncated:
            break
    return rewards, seen


def _replays(make: Callable[[], Any], used: Any, space: Any) -> Any:
    """Yield replays: other actions, the same once more, and the same in `used`, which has played before."""
    for seed in range(7_000, 7_000 + REPLAYS):
        mine, other = ([space.sample() for _ in range(REPLAY_STEPS)] for _ in range(2))
        plays: list[tuple[list[float], list[Any]]] = []
        for actions in (mine, mine, other):
            env = make()
            try:
                plays.append(_play(env, seed, actions))
            finally:
                env.close()
        plays.append(_play(used, seed, mine))
        first = plays[0]
        for kind, second in zip(("fresh_again", "other_actions", "after_episode"), plays[1:], strict=True):
            yield _replay(kind, first, second)


def _replay(kind: str, first: tuple[list[float], list[Any]], second: tuple[list[float], list[Any]]) -> Replay:
    common = min(len(first[1]), len(second[1]))
    same = all(np.array_equal(a, b, equal_nan=True) for a, b in zip(first[1][:common], second[1][:common], strict=True))
    return Replay(kind, np.array(first[0]), np.array(second[0]), same)


def _sample(
    log: _Log, space: Any, limit: int | None, components: Sequence[str], metric: Any, better: Mapping[str, str],
    gamma: float, replays: Sequence[Replay], notes: Sequence[str],
) -> RewardSample:  # fmt: skip
    if not log.rewards:
        raise InputError("No step could be played.", "Does reset return before the time limit?")
    known = {key for info in log.infos for key in info}
    parts = list(components) or sorted(k for k in known if looks_like_part(k))
    wanted = [metric] if isinstance(metric, str) and not is_target(metric) else [k for k in SUCCESS if k in known]
    absent = [k for k in (*components, *wanted) if k not in known]
    if absent:
        error = unknown_name("key of info", absent[0], sorted(known))
        holds = f"It holds: {', '.join(sorted(known)) or 'nothing'}."
        raise InputError(f"info never holds {absent[0]}.", f"{error.hint} {holds}".strip())
    metrics = {k: np.array([i.get(k, 0.0) for i in log.infos]) for k in wanted}
    if log.metric:
        metrics[str(getattr(metric, "__name__", metric)).rpartition(":")[2]] = np.array(log.metric)
    widths = {a.size for a in log.observations} | {a.size for a in log.after}
    fits = len(widths) == 1 and 0 < min(widths) < WIDEST
    return RewardSample(
        np.array(log.rewards),
        episode=log.episode,
        metric=metrics,
        better=better,
        components={k: np.array([i.get(k, 0.0) for i in log.infos]) for k in parts},
        components_named=bool(components),
        observations=np.array(log.observations) if fits else None,
        next_observations=np.array(log.after) if fits else None,
        actions=np.array(log.actions) if len({a.size for a in log.actions}) == 1 else None,
        terminated=log.terminated,
        truncated=log.truncated,
        discrete_actions=hasattr(space, "n"),
        time_limit=limit,
        gamma=gamma,
        source="random play",
        replays=replays,
        notes=notes,
    )
