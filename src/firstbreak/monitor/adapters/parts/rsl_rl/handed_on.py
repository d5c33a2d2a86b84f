"""What rsl_rl's storage holds beside what the innermost environment gave and got, of a few copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from ....exchange.exchanged import KEPT, Taken
from ....exchange.handed_on import LEAST, HandedOn, Stored, taking_turns
from ..brought import brought
from ..limits import MOST_COPIES, Limits
from ..obeying import harmless

if TYPE_CHECKING:
    from ....core import Monitor

MOST_LAYERS = 20
OBSERVED = "policy"
"""The group of observations that the policy is given, where there are several."""


class StepsOfRunner:
    """Looks at each step of the innermost environment of a runner, and holds them against the storage at its row.

    Of as many copies as make 512 steps of a rollout; they stay on their device until then.
    """

    def __init__(self, runner: Any, monitor: Monitor) -> None:
        self._runner, self._monitor = runner, monitor
        self._env, self._handed, self._limits = innermost(runner.env), HandedOn(), Limits()
        self._usual: Callable[..., Any] = self._env.step
        self._obs: Tensor | None = None
        """Before the step that comes next [k, D]."""
        self._steps: list[tuple[Tensor | None, ...]] = []
        """Observation, action, reward, end, end by a limit alone; of `k` copies each."""
        self._env.step = self._step

    def remove(self) -> None:
        """Leave the environment as it was."""
        if "step" in vars(self._env):
            del self._env.step

    def take(self) -> dict[str, float]:
        """Return what became of the steps since the last row; nothing where the storage holds another number."""
        steps, self._steps = self._steps, []
        found = self._compared(steps)
        if found is None:
            self._limits.forget()
            return {}
        return found | self._limits.take()

    def _compared(self, steps: list[tuple[Tensor | None, ...]]) -> dict[str, float] | None:
        """Return the same of the steps of a rollout; None where they are not those that the storage holds."""
        storage = self._runner.alg.storage
        length = int(storage.rewards.shape[0])
        kept = steps[-min(length - 1, KEPT) :] if length > 1 else []  # the very first has no observation before it
        if len(steps) != length or not kept or any(part is None for step in kept for part in step):
            return None
        columns = [torch.stack(cast("list[Tensor]", list(column))) for column in zip(*kept, strict=True)]
        copies = int(columns[2].shape[1])
        held = (_observed(storage.observations), storage.actions, storage.rewards, storage.dones)
        columns += [part[-len(kept) :, :copies].to(columns[2].device) for part in held if part is not None]
        if len(columns) != 9 or len(kept) * copies < LEAST:
            return None
        ends = [torch.stack([cast(Tensor, step[place])[:MOST_COPIES] for step in steps]) for place in (3, 4)]
        *rows, all_over, all_cut = brought([*columns, *ends])
        self._limits.add(all_over, (all_over != 0) & (all_cut == 0))
        flat = [part.reshape(len(kept) * copies, -1) for part in rows]
        obs, action, paid, ended, cut = flat[:5]
        over, limit = ended[:, 0] != 0, cut[:, 0] != 0
        taken = Taken(obs, action, paid[:, 0], over & ~limit, over & limit)
        curious = getattr(self._runner.alg, "rnd", None)  # adds a reward of its own, which grows and shrinks
        reward = None if curious else flat[7]
        copy = taking_turns(len(kept) * copies, copies)
        stored = Stored(obs=flat[5], action=flat[6], reward=reward, ended=flat[8], bootstrapped=True, copy=copy)
        return self._handed.numbers(taken, stored)

    def _step(self, actions: Any, *args: Any, **more: Any) -> Any:
        before = self._obs
        result = self._usual(actions, *args, **more)
        with harmless(self._monitor, "steps handed on"):
            self._note(before, actions, result)
        return result

    def _note(self, before: Tensor | None, actions: Any, result: Any) -> None:
        """Keep a step `(obs, reward, done, extras)`, or with both ends `(obs, reward, terminated, truncated, ...)`."""
        obs, reward, done, more = result[:4]
        if not isinstance(reward, Tensor) or reward.ndim != 1:
            return
        length = int(self._runner.alg.storage.rewards.shape[0])
        if len(self._steps) > length:  # nobody takes them: not the environment of this runner
            self._steps.clear()
        copies = max(1, min(len(reward), KEPT // length))
        if isinstance(more, dict):
            limit = cast("dict[str, Any]", more).get("time_outs")
            limit = torch.zeros_like(_tensor(done)) if limit is None else limit
        else:
            limit = more
            done = _tensor(done) | _tensor(more)
        parts = (actions, reward, done, limit)
        self._steps.append((before, *(_tensor(part)[:copies].clone() for part in parts)))
        seen = _observed(obs)
        self._obs = None if seen is None else seen[:copies].clone()


def innermost(env: Any) -> Any:
    """Return the environment inside of all wrappers."""
    for _ in range(MOST_LAYERS):
        inner = getattr(env, "env", None)
        if inner is None or inner is env or not hasattr(inner, "step"):
            break
        env = inner
    return env


def _observed(obs: Any) -> Tensor | None:
    """The observation of the policy out of groups; None where there is no such group."""
    if isinstance(obs, tuple):
        obs = cast("tuple[Any, ...]", obs)[0]
    if hasattr(obs, "keys"):
        obs = obs[OBSERVED] if OBSERVED in obs.keys() else None  # noqa: SIM118 (a TensorDict iterates over its rows)
    return None if obs is None else _tensor(obs)


def _tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else torch.as_tensor(value)
