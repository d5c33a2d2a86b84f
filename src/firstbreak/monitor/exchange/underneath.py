"""Takes down the first episodes of a standard task with layers of one's own around it, to ask what those change."""

from __future__ import annotations

import copy
from typing import Any

from .layers import Episode, between
from .transitions import entries

STEPS, EPISODES = 300, 6
"""So much is taken down: playing it again costs some hundredths of a second, once. Engineering choice."""
COPYABLE = ("gymnasium.envs.classic_control.",)
"""Modules of tasks that a copy continues exactly: those that pickle themselves (MuJoCo, Box2D) begin anew in a copy."""


class Underneath:
    """The first episodes of one copy of a task, step by step, until enough is known.

    Args:
        env: The layers with the task in them, as the trainer has it.
    """

    def __init__(self, env: Any) -> None:
        self._env, self._task = env, env.unwrapped
        self._episodes: list[Episode] = []
        seen = getattr(self._task, "render_mode", None) == "human"  # a copy would draw into the window
        self._left = STEPS if type(self._task).__module__.startswith(COPYABLE) and not seen else 0

    @property
    def done(self) -> bool:
        """Whether nothing more is taken down."""
        return self._left <= 0

    def reset(self) -> dict[str, float]:
        """Begin an episode that the environment has just begun; return what is known if that is enough."""
        if self._left > 0 and len(self._episodes) < EPISODES:
            self._episodes.append(Episode(copy.deepcopy(self._task), self._env.action_space))
            return {}
        return self._answer()

    def step(self, action: Any, obs: Any, reward: float, terminated: bool) -> dict[str, float]:
        """Take down one step; return what is known if that is enough."""
        if not self._episodes:
            return {}
        vector = entries(obs)
        if vector is None:
            return self._stop()
        episode = self._episodes[-1]
        episode.actions.append(copy.deepcopy(action))
        episode.seen.append(vector.copy())
        episode.paid.append(reward)
        episode.ended.append(terminated)
        self._left -= 1
        return self._answer() if self._left <= 0 else {}

    def _answer(self) -> dict[str, float]:
        episodes = [episode for episode in self._episodes if episode.actions]
        self._stop()
        return between(episodes) if episodes else {}

    def _stop(self) -> dict[str, float]:
        self._episodes, self._left = [], 0
        return {}
