"""What must hold between the numbers of one row of AReaL and its settings, whatever the task.

Advantages whose mean over the batch is taken off have a mean of 0 over the tokens of the loss, which is what AReaL
logs; and the clip range that it logs as in force is the one that is set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, cast

from ....readers.run_config import flat_config

OFFSET = "advantage/group_offset"
CLIP_LOW, CLIP_HIGH = "policy/clip_low_off", "policy/clip_high_off"
ADVANTAGES, CLIP = "ppo_actor/advantages/", "ppo_actor/eps_clip"


class Identities:
    """Looks at one row after the other.

    Args:
        config: AReaL's `exp_config`, a dataclass or nested mappings, or None.
    """

    def __init__(self, config: Any) -> None:
        plain: Any = asdict(config) if is_dataclass(config) and not isinstance(config, type) else config
        self._config: dict[str, Any] = (
            flat_config(cast("Mapping[str, Any]", plain)) if isinstance(plain, Mapping) else {}
        )

    def row(self, given: Mapping[str, Any]) -> dict[str, float]:
        """Return what is off in a row; nothing of what it does not hold or no setting says."""
        row = {key: float(value) for key, value in given.items() if isinstance(value, int | float)}
        return {**self._centred(row), **self._clip(row)}

    def _centred(self, row: Mapping[str, float]) -> dict[str, float]:
        """|Mean| over the largest advantage, which is at most the |sum| over the sum of sizes."""
        setting = self._config.get
        whole = setting("actor.adv_norm.mean_level") == "batch" and not setting("actor.adv_norm.mean_leave1out")
        mean, low, high = (row.get(ADVANTAGES + name) for name in ("avg", "min", "max"))
        if not whole or mean is None or low is None or high is None:
            return {}
        largest = max(abs(low), abs(high))
        return {OFFSET: abs(mean) / largest} if largest > 0 else {}

    def _clip(self, row: Mapping[str, float]) -> dict[str, float]:
        """How much wider the clip in force is than that of the settings."""
        now, given = row.get(CLIP), self._config.get("actor.eps_clip")
        if now is None or not math.isfinite(now) or not isinstance(given, int | float) or not given:
            return {}
        off = now / given - 1
        return {CLIP_LOW: off} | ({} if self._config.get("actor.eps_clip_higher") else {CLIP_HIGH: off})
