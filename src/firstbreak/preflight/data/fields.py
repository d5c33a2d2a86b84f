"""Which column of a data file plays which role, by the names that data sets and trainers use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from ...errors import InputError, unknown_name

ALIASES: dict[str, tuple[str, ...]] = {
    "prompt": ("prompt", "question", "query", "instruction", "problem", "prompt_text", "input_text", "input"),
    "context": ("context", "input", "passage", "document", "choices", "options"),
    "chosen": ("chosen", "chosen_response", "response_chosen", "preferred", "preferred_response", "accepted", "y_w",
               "winner"),
    "rejected": ("rejected", "rejected_response", "response_rejected", "dispreferred", "non_preferred", "y_l",
                 "loser"),
    "answer": ("answer", "ground_truth", "reward_model.ground_truth", "solution", "gold", "target", "final_answer",
               "reference_answer", "expected", "expected_output", "gt_answer"),
    "completion": ("completion", "response", "output", "generation", "generated_text"),
    "score_chosen": ("score_chosen", "chosen_score", "chosen_rating", "rating_chosen", "chosen_reward",
                     "reward_chosen"),
    "score_rejected": ("score_rejected", "rejected_score", "rejected_rating", "rating_rejected", "rejected_reward",
                       "reward_rejected"),
    "input_ids": ("input_ids", "token_ids", "tokens"),
    "labels": ("labels", "label_ids"),
    "attention_mask": ("attention_mask",),
    "loss_mask": ("loss_mask", "completion_mask", "response_mask", "assistant_masks", "assistant_mask",
                  "token_loss_mask"),
    "tool_mask": ("tool_mask", "tool_output_mask", "observation_mask", "env_mask"),
    "prompt_length": ("prompt_length", "prompt_len", "input_length"),
    "messages": ("messages", "conversations", "conversation", "chat"),
}  # fmt: skip
"""Role -> column names, the usual one first. A dot reaches into a nested object."""

TEXTS = ("prompt", "context", "chosen", "rejected", "answer", "completion")
NUMBERS = ("score_chosen", "score_rejected", "prompt_length")
TOKENS = ("input_ids", "labels", "attention_mask", "loss_mask", "tool_mask")
ENOUGH = ("prompt", "chosen", "input_ids", "messages", "completion")
"""One of these must be there for a row to be a sample of anything."""


def roles_of(names: Iterable[str], columns: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return role -> column for the `names` of a file; `columns` (role -> column) overrides the aliases.

    Raises:
        InputError: no column is known to hold prompts, answers or tokens.
        UnknownNameError: `columns` names a role or a column that does not exist.
    """
    there = {name.lower(): name for name in names}
    roles: dict[str, str] = {}
    for role, column in (columns or {}).items():
        if role not in ALIASES:
            raise unknown_name("role of a column", role, ALIASES)
        if column.lower() not in there:
            raise unknown_name("column", column, there.values())
        roles[role] = there[column.lower()]
    for role, aliases in ALIASES.items():
        free = [there[a] for a in aliases if a in there and there[a] not in roles.values()]
        if role not in roles and free:
            roles[role] = free[0]
    if not any(role in roles for role in ENOUGH):
        shown = ", ".join(repr(name[:40]) for name in list(there.values())[:12])
        raise InputError(
            f"No column holds prompts, answers or tokens under a known name; there are {shown}.",
            "Rename one to prompt, chosen, completion, messages or input_ids, or name its role: --column prompt=NAME.",
        )
    return roles


def names_in(row: Mapping[str, Any]) -> list[str]:
    """Return the column names of a row, those of objects one level down written `outer.inner`."""
    names: list[str] = []
    for key, value in row.items():
        names.append(str(key))
        if isinstance(value, dict):
            names += [f"{key}.{inner}" for inner in cast("dict[str, Any]", value)]
    return names


def value_at(row: Mapping[str, Any], column: str) -> Any:
    """Return the value in `column` of a row, None when there is none."""
    if column in row:
        return row[column]
    outer, dot, inner = column.partition(".")
    nested = row.get(outer)
    return cast("dict[str, Any]", nested).get(inner) if dot and isinstance(nested, dict) else None
