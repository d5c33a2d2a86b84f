"""Which of a configuration's KL settings is in force: frameworks write down coefficients that a switch turns off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ABOUT_KL = frozenset({"kl_in_loss", "kl_in_reward"})
"""What a framework always does with a KL penalty says nothing where none is known."""


def in_force(found: Mapping[str, Any], always: Mapping[str, Any]) -> dict[str, Any]:
    """Return canonical settings `found` with the KL coefficient and estimator of the penalty that acts.

    verl's defaults hold `kl_loss_coef: 0.001` beside `use_kl_loss: false`: nothing is penalised, whatever the number.
    `always` says what a framework does unless a setting says otherwise. Where the loss has no penalty and nothing says
    whether the reward has one, no coefficient is known.
    """
    found = {**{key: value for key, value in always.items() if key not in ABOUT_KL}, **found}
    if "kl_coef" not in found and "kl_reward_coef" not in found:
        return found
    said = {**always, **found}
    if "kl_coef" not in found and said.get("kl_in_reward") is True:
        said.setdefault("kl_in_loss", False)
    if said.get("kl_in_loss") is not False:
        return found
    in_reward, kept = _in_reward(said), dict(said)
    kept.pop("kl_coef", None)
    if in_reward is False:
        return {**kept, "kl_in_reward": False, "kl_coef": 0.0}
    if in_reward is None:
        return kept
    coefficient = said.get("kl_reward_coef", said.get("kl_coef"))
    estimator = said.get("kl_reward_estimator", said.get("kl_estimator"))
    acting = {"kl_in_reward": True, "kl_coef": coefficient, "kl_estimator": estimator}
    return {**kept, **{key: value for key, value in acting.items() if value is not None}}


def _in_reward(said: Mapping[str, Any]) -> bool | None:
    """Whether the reward carries a penalty: its switch, else a coefficient of its own; None where neither is there."""
    switch, coefficient = said.get("kl_in_reward"), said.get("kl_reward_coef")
    if isinstance(switch, bool):
        return switch
    if isinstance(coefficient, (int, float)):
        return coefficient != 0
    return None
