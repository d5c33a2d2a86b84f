"""One group of answers to one prompt, whatever the framework hands over."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ...errors import InputError
from ...series import Floats

REWARDS = (
    "rewards", "reward", "scores", "score", "acc", "seq_reward", "seq_final_reward", "token_level_scores",
    "token_level_rewards",
)  # fmt: skip
"""Keys under which a group holds its rewards, the usual one first (AReaL: `rewards`; the last four are verl's)."""
PROMPTS = ("prompt_id", "uid", "task_id", "query_id", "index", "prompt")
LENGTHS = ("lengths", "completion_lengths", "response_lengths", "seqlen")
TRUNCATED = ("truncated", "is_truncated", "no_eos")
ROUNDING = 1e-6
"""Spread, as a share of the largest reward, that is rounding. Engineering default: eight steps of a 32-bit float."""
LONGEST_NAME = 64
"""Characters of a prompt that is kept as it stands."""


@dataclass(frozen=True)
class Group:
    """Rewards [K] of the answers to one prompt; the rest where the framework says it."""

    rewards: Floats
    prompt: str = ""
    length_tokens: float = float("nan")
    """Mean length of the answers."""
    truncated_frac: float = float("nan")
    """Share of answers that were cut off."""


def read_group(group: Any, *, prompt: str = "", most_tokens: int | None = None) -> Group:
    """Read a group: a dictionary of arrays or tensors (AReaL's trajectory), a list or array of rewards, or a `Group`.

    Args:
        group: Rewards of the answers to one prompt [K], or of their tokens [K, T], which are summed. A dictionary holds
            them as `rewards`; its `loss_mask` gives lengths and, with `input_ids`, what tells the prompt apart.
        prompt: What tells the prompt apart, where the group does not say it.
        most_tokens: The longest answer there can be; an answer of that length counts as cut off.

    Raises:
        InputError: there are no rewards in it.
    """
    if isinstance(group, Group):
        return group
    if not isinstance(group, Mapping):
        return Group(_per_answer(group, "the group"), _short(prompt))
    held = cast("Mapping[str, Any]", group)
    key = next((name for name in REWARDS if held.get(name) is not None), None)
    if key is None:
        raise InputError(
            f"The group has no rewards; its keys are {', '.join(sorted(map(str, held))[:12]) or 'none'}.",
            f"It needs one of {', '.join(REWARDS)}: one number for each answer.",
        )
    rewards = _per_answer(held[key], key)
    lengths = _lengths(held)
    return Group(
        rewards,
        _short(prompt) or _prompt(held),
        float("nan") if lengths is None or not lengths.size else float(lengths.mean()),
        _truncated(held, lengths, most_tokens),
    )


def is_flat(rewards: Floats) -> bool:
    """Whether all of `rewards` [K] are equal up to rounding; sums in 32 bits seldom come out the same twice."""
    if not rewards.size:
        return True
    return float(np.ptp(rewards)) <= ROUNDING * float(np.abs(rewards).max())


def _numbers(value: Any, what: str) -> Floats:
    """Return `value` as float64, shape kept; tensors of any device and type are brought over."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.detach().to(device="cpu", dtype=torch.float64).numpy()
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{what} holds no numbers ({type(error).__name__}).", "Give one reward for each answer."
        ) from None


def _per_answer(value: Any, key: str) -> Floats:
    """Return one reward for each answer; a reward for each token is summed."""
    found = _numbers(value, key)
    return found.reshape(-1) if found.ndim < 2 else found.reshape(found.shape[0], -1).sum(axis=1)


def _lengths(held: Mapping[str, Any]) -> Floats | None:
    for name in LENGTHS:
        if held.get(name) is not None:
            return _numbers(held[name], name).reshape(-1)
    mask = held.get("loss_mask")
    if mask is None:
        return None
    found = _numbers(mask, "loss_mask")
    return (found != 0).reshape(found.shape[0], -1).sum(axis=1).astype(np.float64) if found.ndim >= 2 else None


def _truncated(held: Mapping[str, Any], lengths: Floats | None, most_tokens: int | None) -> float:
    for name in TRUNCATED:
        if held.get(name) is not None:
            found = _numbers(held[name], name).reshape(-1)
            return float((found != 0).mean()) if found.size else float("nan")
    if lengths is None or most_tokens is None or not lengths.size:
        return float("nan")
    return float((lengths >= most_tokens).mean())


def _prompt(held: Mapping[str, Any]) -> str:
    for name in PROMPTS:
        value = held.get(name)
        if isinstance(value, (str, int)):
            return _short(str(value))
    ids, mask = held.get("input_ids"), held.get("loss_mask")
    if ids is None or mask is None:
        return ""
    tokens, own = _numbers(ids, "input_ids"), _numbers(mask, "loss_mask") != 0
    if tokens.ndim != 2 or own.shape != tokens.shape or not tokens.size or not own[0].any():
        return ""
    asked = tokens[0, : int(own[0].argmax())]
    attended = held.get("attention_mask")
    if attended is not None and tuple(attended.shape) == tokens.shape:
        asked = asked[_numbers(attended, "attention_mask")[0, : asked.size] != 0]  # without padding on the left
    return _digest(asked.astype("<i8").tobytes()) if asked.size else ""


def _short(prompt: str) -> str:
    """Return a prompt's name, or the digest of a long one: texts are not kept."""
    return prompt if len(prompt) <= LONGEST_NAME else _digest(prompt.encode("utf-8", "replace"))


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
