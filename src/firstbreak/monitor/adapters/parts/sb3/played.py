"""Whether the actions of PPO's and A2C's rollouts have the log-probabilities that are stored with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from stable_baselines3 import A2C, PPO

from ..gaps import Gaps
from ..player import METRIC, gap

EVERY, AT_FIRST, AGAIN = 256, 128, 32
"""Environment steps of all copies from one look to the next; the same among the `YOUNG` first looks, of which the rule
learns that there is no gap; and after a look that found one, as the rule asks for two on end. A look is a forward pass,
about what one step of the rollout costs. Engineering choices."""
YOUNG = 8


class Played:
    """Asks one model's policy again about some of the steps of its rollouts; draws no random number."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.gaps = Gaps(METRIC)
        self._looks = self._due = 0
        """Looks that were taken, and environment steps at which it is time for the next."""
        # A squashed action is turned back with rounding that near the bounds is no small one.
        self._known = isinstance(model, (PPO, A2C)) and not model.policy.squash_output

    def look(self, chosen: Mapping[str, Any]) -> dict[str, float]:
        """Look at one step where it is time; return the gap where it is to be told at once.

        Args:
            chosen: The local variables of the library's loop, before the rollout takes the step.
        """
        model = self.model
        if not self._known or model.num_timesteps < self._due or "log_probs" not in chosen:
            return {}
        self._known = False  # a look that fails is the last one
        with torch.no_grad():
            actions = torch.as_tensor(chosen["actions"], device=model.device)
            scored = model.policy.evaluate_actions(chosen["obs_tensor"], actions)[1]
            found = gap(chosen["log_probs"].reshape(-1), scored.reshape(-1))
        self._known, self._looks = True, self._looks + 1
        rest = AGAIN if not found <= self.gaps.zero else AT_FIRST if self._looks < YOUNG else EVERY  # NaN is a gap
        self._due = int(model.num_timesteps) + rest
        return {METRIC: found} if self.gaps.add(found) else {}
