"""What a parallel environment gives to the agents that are not looked at step by step, held to the contract."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..contract import is_scalar
from ..spaces import Flattener, Judge

MOST_EXCESS_FRAC = 0.1
"""By what share of its range an observation may pass a bound, as for the agent that is looked at."""


class OtherAgent:
    """One agent beside the first: its observations, rewards and flags, told wrong in one sentence each."""

    def __init__(self, name: Any, space: Any) -> None:
        self.name = name
        self.judge, self.flatten = Judge(space, "observation"), Flattener(space, "observation")

    def wrong_start(self, observations: Mapping[Any, Any]) -> str:
        """Return what is wrong with its first observation, nothing when it is right or not there."""
        return self._observation(observations[self.name]) if self.name in observations else ""

    def wrong_step(
        self,
        observations: Mapping[Any, Any],
        rewards: Mapping[Any, Any],
        terminated: Mapping[Any, Any],
        truncated: Mapping[Any, Any],
    ) -> str:
        """Return what is wrong with its share of one step, nothing when all of it is right or not there."""
        wrong = self.wrong_start(observations)
        if not wrong and self.name in rewards:
            wrong = self._reward(rewards[self.name])
        for word, flags in (("terminated", terminated), ("truncated", truncated)):
            if not wrong and not isinstance(flags.get(self.name, False), (bool, np.bool_)):
                wrong = f"{word} of agent {self.name} is {type(flags[self.name]).__name__}, expected a boolean"
        return wrong

    def _observation(self, seen: Any) -> str:
        grave = [m for m in self.judge(seen) if m.kind in ("type", "shape") or m.excess_frac > MOST_EXCESS_FRAC]
        if grave:
            return f"{grave[0].where} of agent {self.name}: {grave[0].message}"
        wrong = np.flatnonzero(~np.isfinite(self.flatten(seen)))
        return f"{self.flatten.names[int(wrong[0])]} of agent {self.name} is not finite" if len(wrong) else ""

    def _reward(self, reward: Any) -> str:
        if not is_scalar(reward):
            return f"the reward of agent {self.name} is {type(reward).__name__}, expected a number"
        return "" if np.isfinite(float(reward)) else f"the reward of agent {self.name} is not finite"
