"""Which updates of a Stable-Baselines3 model get a row."""

from __future__ import annotations

from math import inf

ON_POLICY_STEPS, OFF_POLICY_STEPS = 500, 64
"""Environment steps from row to row where the user does not say. Off-policy as many as `World` covers with one of its
rows: an episode of a broken policy is not much longer. On-policy a row costs more, and most rollouts are longer anyway.
Engineering choices."""
ON_POLICY_UPDATES = 32
"""Optimiser steps after which an on-policy row is due however few environment steps they took: it costs what one to two
steps of A2C cost, rollout included (CartPole, one core: 4 ms against 4.5 ms), and what two or three of PPO's cost. So a
long update gets its row however short its rollout is. Engineering choice."""
OFF_POLICY_UPDATES = 50
"""Gradient steps from row to row at least, off-policy. A row costs about as much as one of them (DQN with the library's
settings 1.7 ms against 2.3 ms, SAC 6.7 ms against 17 ms, on one core), so that rows take 1 % of a training with room to
the 3 % that quantities may cost, also where an environment step costs nothing."""


class Pace:
    """Decides before an update, and remembers until it is over, whether it is one that is looked at.

    Args:
        every_steps: Least number of environment steps from row to row; None for the defaults above.
    """

    def __init__(self, every_steps: int | None = None) -> None:
        self._wanted = every_steps
        self._steps = self._updates = self._due = self._asked = self._from = 0
        self._most = inf
        self.open = False
        """The update that goes on, or comes next, gets a row."""

    def start(self, steps: int, updates: int, *, off_policy: bool, every_update: bool = False) -> None:
        """Begin a training at `steps` environment steps and `updates` gradient steps.

        Where nothing was asked for, `every_update` gives every update of an on-policy algorithm its row. Its gradient
        steps are those of the optimiser.
        """
        default = OFF_POLICY_STEPS if off_policy else 0 if every_update else ON_POLICY_STEPS
        self._steps = default if self._wanted is None else self._wanted
        self._updates = OFF_POLICY_UPDATES if off_policy and self._wanted is None else 0
        self._most = inf if off_policy or self._wanted is not None else ON_POLICY_UPDATES
        self._due = steps + self._steps if off_policy else 0
        self._asked, self._from = updates, updates - self._updates
        self.open = False

    def due(self, steps: int, updates: int) -> bool:
        """Whether the update that follows `updates` gradient steps is looked at."""
        self._asked = updates
        since = updates - self._from
        self.open = since >= self._most or (steps >= self._due and since >= self._updates)
        return self.open

    def soon(self) -> None:
        """Something was out of the ordinary: the next update gets its row."""
        self._due, self._from = 0, self._from - self._updates

    def taken(self, steps: int) -> bool:
        """Say that an update is over; True where it gets its row, and then the next one waits."""
        if not self.open:
            return False
        self.open, self._due, self._from = False, steps + self._steps, self._asked
        return True

    def finish(self, *, off_policy: bool) -> None:
        """The training is over: what an off-policy algorithm did last gets a row whether it is due or not."""
        self.open |= off_policy
