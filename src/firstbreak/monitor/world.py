"""What environment and trainer really exchange, whatever the trainer logs: observations, rewards, effects of actions.

    world = World(monitor)
    env = watched(gym.make("CartPole-v1"), world)      # every copy, innermost: before normalisers and clips

Most trainers log nothing of observations, and rewards only as returns of finished episodes, long after a change. The
world therefore gives the monitor rows of its own, between those of the trainer; and before they are due what models say
of the newest steps, where these are further off than any before (`early`).
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .exchange.bias import Bias
from .exchange.columns import spread
from .exchange.continuity import Continuity
from .exchange.early import COVERS, KEPT, STRETCH, Early
from .exchange.exchanged import Exchanged, note
from .exchange.held import Held, Step, done, held, held_action, runs, seen, tables
from .exchange.limit import Cuts
from .exchange.moved import Moved
from .exchange.predictor import MOST_INPUTS, Predictor, foreseen
from .exchange.readings import Readings
from .exchange.sameness import Sameness
from .exchange.transitions import TINY, Floats, Moments, Paid, Response, Steps, acting, expanded, of_entries, slopes_of
from .exchange.underneath import Underneath
from .task_name import name_task, task_of
from .watched import watched

if TYPE_CHECKING:
    from .core import Monitor

__all__ = ["EVERY_STEPS", "World", "watched"]

EVERY_STEPS = 64
"""Steps that a row of statistics covers. Engineering choice: fewer are often one state, held or fallen from; more, and
an episode is lost before a change is seen."""
MEMORY = 0.9
"""What of the reference stays with every row: it follows a policy that learns, and lags a sudden change by some ten
rows. Engineering choice."""
MOST_STATES = 64
"""Observations with more entries are not asked what actions do to them: a regression on them would cost too much."""


class World:
    """Statistics since the last row; one for all copies of an environment in this process.

    Args:
        monitor: Is given a row every `every_steps` steps of all copies together, where it counts environment steps, and
            else with the trainer's rows. None: ask `numbers` yourself.
        every_steps: Steps that a row covers at least.
    """

    def __init__(self, monitor: Monitor | None = None, *, every_steps: int = EVERY_STEPS) -> None:
        self.monitor, self.every_steps = monitor, every_steps
        self._pid = os.getpid()
        self._taken = self._ahead = 0
        """Steps taken in all, and how far the run's own count is ahead of it (a run that was resumed)."""
        self._told = self._theirs = self._due = float("-inf")
        """Position of the last row, of the trainer's last, and up to which the world's own waits for the next one."""
        self.exchanged = Exchanged()
        if monitor is not None:
            monitor.collect(self.numbers)
            note(monitor, self.exchanged)
        self._paid = 0
        """Rewards since the last row, finite or not."""
        self._obs: Moments | None = None
        self._reward, self._alike, self._steps = Paid(), Sameness(), Steps()
        self._waiting: list[Step] = []
        """The newest steps, which are counted together (`held`)."""
        self._room = STRETCH
        """How many may wait: until models are asked about them."""
        self._dynamics: Predictor | None = None
        self._payment = Predictor(0, 1)
        self._shape = -1
        self._early, self._readings, self._bias = Early(), Readings(), Bias(0)
        self._moved, self._response = Moved(MEMORY), Response(MEMORY)
        self.cuts = Cuts()
        self._continuity: Continuity | None = None
        self._underneath: Underneath | None = None

    def around(self, env: Any) -> None:
        """Tell the monitor which task a copy is; a worker process tells nothing."""
        if self.monitor is not None and os.getpid() == self._pid:
            name_task(self.monitor, env)

    def underneath(self, env: Any) -> Underneath | None:
        """Return what takes down the first episodes of `env`: of one copy, where it is a task that has a name."""
        if self.monitor is None or os.getpid() != self._pid or self._underneath is not None:
            return None
        if not task_of(env):
            return None
        self._underneath = Underneath(env)
        return self._underneath

    def learn(self, found: Mapping[str, float]) -> None:
        """Tell the monitor what layers around the task change."""
        if found and self.monitor is not None:
            self.monitor.configure(found, give_way=True)

    def step(
        self, before: Any, action: Any, after: Any, reward: float, *, terminated: bool = False, truncated: bool = False
    ) -> None:
        """Take one step of one copy: observation [D] before and after it, the action as the environment got it.

        In a worker process nothing is taken: its rows would make it a second run beside the trainer's.
        """
        self.take(held(before), action, held(after), reward, terminated, truncated)

    def take(self, before: Held, action: Any, after: Held, reward: float, terminated: bool, truncated: bool) -> None:
        """Take one step whose observations are copies that nobody writes into: see `step`."""
        if os.getpid() != self._pid:
            return
        if self.monitor is not None:
            self._tell(self.monitor)
        self._taken += 1
        taken = before, held_action(action), float(reward), terminated, truncated, after
        self.exchanged.add(taken)
        self._paid += 1
        self._waiting.append(taken)
        if len(self._waiting) >= self._room:
            self._count()
            if self._continuity is not None:
                self._at_once(self._continuity.fresh())

    def __reduce__(self) -> tuple[type[World], tuple[()], dict[str, Any]]:
        """Travel to a worker process without the monitor, which stays here, and see nothing there."""
        return World, (), {"_pid": -1}

    def _tell(self, monitor: Monitor) -> None:
        """Give the monitor a row where one is due, at the place where its clock stands now."""
        at = monitor.step
        if at != self._told and at > float("-inf"):  # the trainer logged a row since
            self._ahead, self._told = int(at) - self._taken, at
            self._due, self._theirs = at + self.every_steps * (at - self._theirs <= self.every_steps), at
        if not self._soon() and (self._paid < self.every_steps or self._taken + self._ahead < self._due):
            return
        if monitor.clock == "env_steps":
            self._told = float(max(self._taken + self._ahead, at))
            monitor.beside(self.numbers(), step=self._told)

    def cut(self, share: float | None) -> None:
        """Take what one copy says of its limit (`Limit.step`); where episodes are cut short this is told at once."""
        if os.getpid() == self._pid and self.cuts.add(share):
            self._at_once(self.cuts.latest)

    def begun(self, obs: Held) -> None:
        """Take the first observation of an episode of one copy."""
        if self._continuity is not None and os.getpid() == self._pid:
            self._continuity.begun(obs)

    def ended(self, last: Held, reward: float, steps: int, *, terminated: bool) -> None:
        """Take the last observation of an episode, what was paid for it, and how many steps it had."""
        if self._continuity is not None and os.getpid() == self._pid:
            self._continuity.ended(last, reward, steps, terminated=terminated)
            self._at_once(self._continuity.fresh())

    def _at_once(self, found: Mapping[str, float]) -> None:
        if found and self.monitor is not None and self.monitor.clock == "env_steps":
            self._told = float(max(self._taken + self._ahead, self.monitor.step))
            self.monitor.beside(found, step=self._told)

    def _count(self) -> None:
        """Count the steps that wait, and ask models about the newest stretch where one has become full."""
        waiting, self._waiting = self._waiting, []
        paid = [step[2] for step in waiting if math.isfinite(step[2])]
        self._reward.add(paid)
        self._alike.pay(paid)
        one = tables(waiting) if waiting else None
        kept = [self._follow(run) for run in runs(waiting)] if one is None else [self._see(waiting, *one)]
        many = len(self._steps)
        self._room = STRETCH - many % STRETCH
        if kept and kept[-1] and many and self._room == STRETCH and self._dynamics is not None:
            self._ask(self._dynamics)
            self._room = STRETCH - len(self._steps) % STRETCH

    def _follow(self, steps: list[Step]) -> bool:
        """Count what steps of one form led to; return whether the last was kept for what follows from what."""
        now = seen([step[5] for step in steps])
        return now is not None and self._see(
            steps, seen([step[0] for step in steps]), done([step[1] for step in steps]), now
        )

    def _see(self, steps: Sequence[Step], then: Floats | None, action: Floats | None, now: Floats) -> bool:
        """Count steps as tables of one form [m, D], [m, A] and [m, D]: see `_follow`."""
        if self._obs is None or self._obs.width != now.shape[1]:
            self._obs, self._moved, self._response = Moments(now.shape[1]), Moved(MEMORY), Response(MEMORY)
            self._steps, self._shape = Steps(), -1
        self._obs.add(now)
        if then is None or then.shape != now.shape or action is None:
            return False
        self._alike.step(then, action, now)
        if now.shape[1] > MOST_STATES:
            return False
        if self._continuity is None or self._continuity.width != now.shape[1]:
            self._continuity = Continuity(now.shape[1])
        with np.errstate(invalid="ignore"):  # of what is not finite rows tell, not warnings
            change = now - then
            self._continuity.step(steps, then, action, now, self._says)
        return self._steps.add(then, action, change, np.array([[step[2]] for step in steps]))

    def _ask(self, dynamics: Predictor) -> None:
        """Begin early rows where the newest stretch is off; what came before it is learned, and said no more."""
        newest = self._steps.arrays(STRETCH)
        if newest is None or (inputs := expanded(*newest[:2])).shape[1] != self._shape:
            return
        before, action, change, reward = newest
        asked = dynamics.asked(inputs, change, acting(before, action))
        misread = self._readings.off(dynamics, inputs, action, change, asked)
        if self._early.off(asked, self._payment.asked(inputs, reward), misread=misread):
            off = self._steps.newest(KEPT)
            usual, self._steps = self._steps.arrays(), off
            if usual is not None:
                self._modelled(*usual)

    def _says(self, before: Floats, action: Floats) -> tuple[Floats, Floats] | None:
        """Return how observations [m, D] should change by what was learned, and the usual sizes of that [D]."""
        inputs = expanded(before, action)
        if self._dynamics is None or not self._dynamics.knows or inputs.shape[1] != self._shape:
            return None
        return self._dynamics.says(inputs), self._dynamics.sizes

    def _soon(self) -> bool:
        """Whether an early row is due."""
        return self._early.rows > 0 and len(self._steps) >= COVERS

    def numbers(self) -> Mapping[str, float]:
        """Return the statistics of the steps since the last row under canonical names, and begin anew."""
        if self._paid < self.every_steps:
            return self._early_row() if self._soon() else {}
        self._count()
        found = {"reward/env_nonfinite_frac": 1 - self._reward.count / self._paid}
        found |= self._reward.numbers() | self._alike.numbers() | self.cuts.take()
        if self._continuity is not None:
            found |= self._continuity.take()
        self._paid, self._reward, self._alike = 0, Paid(), Sameness()
        many = len(self._steps) >= self.every_steps / 2
        if self._early.lately and COVERS <= len(self._steps) < self.every_steps / 2:
            found |= self._early_row()
        elif many or not self._early.lately:  # the rest began an episode, or goes on to the next row
            steps, self._steps = self._steps.arrays(), Steps()
            if steps is not None and many:
                found |= self._followed(*steps)
        if self._obs is not None and self._obs.count >= self.every_steps:
            moments, self._obs = self._obs.both(), Moments(self._obs.width)
            found |= of_entries(*moments)
            if self._dynamics is None:  # else it is known whether the environment changed; here the policy may have
                found |= self._moved.compared(*moments)
        return found

    def _followed(self, before: Floats, action: Floats, change: Floats, reward: Floats) -> dict[str, float]:
        """Say of a full row how its steps follow from the one before, and from what was learned."""
        found = self._modelled(before, action, change, reward, full=True)
        self._early.full_row(foreseen="env/dynamics_surprise" in found)
        if self._dynamics is not None and self._dynamics.lost:  # what actions do there was never learned
            return found
        return found | self._response.compared(slopes_of(before, action, change))

    def _early_row(self) -> dict[str, float]:
        """Return what models say of the steps since the last row; statistics that need more wait for the full one."""
        self._count()
        steps, self._steps = self._steps.arrays(), Steps()
        self._early.row()
        if steps is None:
            return {}
        before, _, change, _ = steps
        still = bool((spread(before + change) <= TINY).all())
        return self._modelled(*steps) | ({"obs/constant_frac": 1.0} if still else {})

    def _modelled(
        self, before: Floats, action: Floats, change: Floats, reward: Floats, *, full: bool = False
    ) -> dict[str, float]:
        """Say how steps follow from what was learned before: effect of actions, next observation, reward.

        Few steps have a mean error of any size, so that of a `full` row alone is told.
        """
        inputs = expanded(before, action)
        if inputs.shape[1] > MOST_INPUTS:
            return {}
        if self._dynamics is None or self._shape != inputs.shape[1]:
            self._early, self._readings, self._bias = Early(), Readings(), Bias(before.shape[1])
            self._shape = inputs.shape[1]
            self._dynamics, self._payment = Predictor(self._shape, before.shape[1]), Predictor(self._shape, 1)
        does = self._dynamics.gain(inputs, change, acting(before, action))
        reread = self._readings.row(self._dynamics, inputs, action, change)
        reread |= self._bias.row(self._dynamics, inputs, change) if full else {}
        moved, paid = self._dynamics.surprise(inputs, change), self._payment.surprise(inputs, reward)
        if self._continuity is not None:
            self._continuity.row(self._dynamics.missed)
        found = {} if does is None else {"env/action_gain": does}
        found |= reread | ({} if moved is None else {"env/dynamics_surprise": moved})
        found |= foreseen(self._dynamics, before.shape[1])
        return found | ({} if paid is None else {"reward/env_surprise": paid})
