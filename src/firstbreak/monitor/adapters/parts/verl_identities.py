"""What must hold between the numbers of one row of verl, whatever the task.

Outcome estimators (GRPO, RLOO) hand the same table on as advantages and as returns, so that both have the same mean and
extremes until somebody writes into one of them. Divided by the spread of its group of K, an advantage is at most
(K - 1) / sqrt(K): of K numbers one is so many standard deviations from their mean at most (Samuelson 1968,
doi:10.1080/01621459.1968.10480944, with n - 1 in the variance). And the coefficient of the KL term that is logged is
the one that is set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast

from ....readers.run_config import flat_config

ALTERED, KL_OFF = "advantage/altered_frac", "policy/kl_coef_off"
SAME_TABLE = ("grpo", "rloo")
"""Estimators of verl whose returns are the advantages themselves."""
PAIRS = tuple((f"critic/advantages/{of}", f"critic/returns/{of}") for of in ("mean", "max", "min"))
EXTREMES = ("critic/advantages/max", "critic/advantages/min")
SCORES = ("critic/score/max", "critic/score/min")
LEARNT = 8
"""Rows in which both tables were alike, after which they are taken to be one, where no settings say so."""
ROUNDING = 1e-4
"""Difference of two numbers over the largest advantage that may be rounding: rows are printed and parsed again."""
SLACK = 1.01
"""Over the bound, up to which 16 bits may have rounded."""


class Identities:
    """Looks at one row after the other.

    Args:
        config: verl's configuration as nested mappings, or None.
    """

    def __init__(self, config: Any) -> None:
        known: dict[str, Any] = {}
        if isinstance(config, Mapping):
            known = flat_config(cast("Mapping[str, Any]", config))
        self._config = known
        self._estimator = str(known.get("algorithm.adv_estimator", ""))
        self._alike = 0
        self._one = self._estimator in SAME_TABLE
        """Whether advantages and returns are one table."""

    def row(self, given: Mapping[str, Any]) -> dict[str, float]:
        """Return what is off in a row; nothing of what it does not hold."""
        row = {key: value for key, value in given.items() if isinstance(value, int | float)}
        return {**self._altered(row), **self._coefficient(row)}

    def _altered(self, row: Mapping[str, float]) -> dict[str, float]:
        """Whether advantages are no longer those that were computed: 1 or 0, since how many is not logged."""
        if any(name not in row or not math.isfinite(row[name]) for name in EXTREMES):
            return {}
        size = max(abs(row[name]) for name in EXTREMES)
        pairs = [(row[one], row[other]) for one, other in PAIRS if one in row and other in row]
        alike = all(abs(one - other) <= ROUNDING * max(size, 1e-6) for one, other in pairs)
        bound = self._bound(row)
        beyond = bound is not None and size > SLACK * bound
        looked = bound is not None or (self._one and bool(pairs))
        wrong = beyond or (self._one and not alike)
        self._alike = self._alike + 1 if pairs and alike and size > 0 else 0
        # A critic whose values are all 0 would have both alike as well, once.
        self._one |= self._alike >= LEARNT and not any(name.startswith("critic/values") for name in row)
        return {ALTERED: float(wrong)} if looked else {}

    def _bound(self, row: Mapping[str, float]) -> float | None:
        """Return the largest advantage there can be; None where the settings do not say."""
        size = _number(self._config.get("actor_rollout_ref.rollout.n"))
        scaled = self._config.get("algorithm.norm_adv_by_std_in_grpo", True)
        if self._estimator != "grpo" or not scaled or size is None or size < 2:
            return None
        bound = (size - 1) / math.sqrt(size)
        # A response that is left alone in its group keeps its score as it is.
        return bound if all(abs(row.get(name, math.inf)) <= bound for name in SCORES) else None

    def _coefficient(self, row: Mapping[str, float]) -> dict[str, float]:
        """How much more the coefficient of the KL loss is than that of the settings."""
        now, given = row.get("actor/kl_coef"), _number(self._config.get("actor_rollout_ref.actor.kl_loss_coef"))
        used = self._config.get("actor_rollout_ref.actor.use_kl_loss", True)
        return {KL_OFF: now / given - 1} if used and now is not None and given else {}


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
