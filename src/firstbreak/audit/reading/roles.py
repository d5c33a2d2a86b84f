"""Which column of a dump plays which role, by the names that frameworks, data sets and people use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...errors import unknown_name
from ...preflight.data.fields import ALIASES as DATA

NAMES: dict[str, tuple[str, ...]] = {
    "prompt": (*DATA["prompt"], "prompts", "input_prompt", "user_prompt", "task_prompt", "queries", "goal",
               "task_description"),
    "response": (*DATA["completion"], "completions", "responses", "outputs", "output_response", "output_text",
                 "model_output", "model_response", "prediction", "predicted", "decoded_response"),
    "messages": (*DATA["messages"], "history", "full_messages", "message_log", "dialog", "dialogue"),
    "episode": ("trajectory", "steps", "events", "episode", "transitions", "actions"),
    "reward": ("reward", "rewards", "total_reward", "final_reward", "task_reward", "train_reward", "raw_reward",
               "episode_reward", "episode_return", "return", "score", "scores"),
    "human": ("human", "human_score", "human_rating", "human_label", "human_reward", "human_preference", "annotation",
              "annotator_score", "expert_score", "gold_score", "gold_reward", "independent_score", "rating", "label"),
    "answer": (*DATA["answer"], "gts", "gt", "label", "labels", "golden_answer", "reference", "correct_answer"),
    "group": ("group", "group_id", "prompt_id", "prompt_idx", "uid", "question_id", "problem_id", "example_id",
              "data_id", "task_id", "instance_id"),
    "step": ("step", "global_step", "train_step", "training_step", "trainer_step", "rollout_id", "iteration",
             "update"),
    "advantage": ("advantage", "advantages", "adv"),
    "stop_reason": ("stop_reason", "finish_reason", "stop_reasons", "finish_reasons", "stop_condition",
                    "termination_reason", "status"),
    "truncated": ("truncated", "is_truncated", "clipped", "overlong", "hit_max_tokens", "aborted"),
    "length": ("length_tokens", "response_length", "completion_length", "response_len", "completion_len",
               "response_tokens_count", "num_response_tokens", "num_completion_tokens", "completion_tokens",
               "output_tokens", "num_tokens", "n_tokens", "gen_len", "length", "tokens"),
    "total_length": ("seqlen", "seq_len", "total_length", "total_len"),
    "prompt_length": (*DATA["prompt_length"], "input_lengths", "num_prompt_tokens", "prompt_tokens"),
    "ids": ("token_ids", "input_ids", "tokens", "sequences", "ids"),
    "prompt_ids": ("prompt_ids", "prompt_token_ids", "prompt_tokens"),
    "response_ids": ("response_ids", "completion_ids", "response_token_ids", "completion_token_ids",
                     "response_tokens", "output_ids", "output_token_ids", "completion_tokens"),
    "retokenised": ("retokenised", "retokenized", "retokenised_ids", "retokenized_ids", "reencoded_ids"),
    "loss_mask": (*DATA["loss_mask"], "loss_masks", "action_mask", "mask"),
    "logprobs": ("generation_logprobs", "rollout_log_probs", "rollout_logprobs", "sampling_logprobs",
                 "behave_logprobs", "old_logprobs", "logprobs", "log_probs", "completion_logprobs"),
    "versions": ("versions", "version", "policy_version", "weight_version", "weight_versions", "model_version"),
    "first_version": ("head_version", "first_version", "version_start", "start_version"),
    "last_version": ("tail_version", "last_version", "version_end", "end_version"),
    "success": ("success", "solved", "is_success", "task_success", "resolved", "env_success", "goal_reached",
                "state_success", "is_solved"),
    "unsafe": ("unsafe", "is_unsafe", "harmful", "is_harmful", "should_refuse", "prompt_unsafe", "toxic_prompt"),
    "category": ("category", "task", "task_name", "env", "env_name", "env_class", "data_source", "dataset", "domain",
                 "language", "lang", "subject", "tag", "source"),
}  # fmt: skip
"""Role -> column names, the usual one first. A name may serve two roles; what its cells hold decides."""

IDENTITIES = frozenset(
    {"id", "idx", "index", "row", "sample_idx", "sample_id", "sample_index", "request_id", "rollout_id", "seed", "rank",
     "worker", "time", "timestamp", "created", "created_at", "datetime", "__index_level_0__", "uuid", "session_id",
     "trace_id", "episode_id", "turn", "epoch"}
)  # fmt: skip
"""Numbers under these names tell rows apart; they measure nothing."""
MOST_COLUMNS = 400
"""Columns of a row that are looked at."""


def roles_of(names: Iterable[str], columns: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return role -> the columns that may play it, best first; `columns` (role -> column) leaves no choice.

    Args:
        names: The columns of a row.
        columns: What the user said.
    """
    there: dict[str, str] = {}
    for name in names:
        there.setdefault(name.lower(), name)
        if len(there) >= MOST_COLUMNS:
            break
    fixed = {role: there[column.lower()] for role, column in columns.items() if column.lower() in there}
    taken = set(fixed.values())
    roles: dict[str, tuple[str, ...]] = {role: (column,) for role, column in fixed.items()}
    for role, usual in NAMES.items():
        if role not in columns:
            free = tuple(there[name] for name in usual if name in there and there[name] not in taken)
            if free:
                roles[role] = free
    return roles


def looks_like_samples(names: frozenset[str]) -> bool:
    """Whether columns of these names can hold samples: a response, a conversation, an episode or response tokens."""
    there = {name.lower() for name in names}
    if not there.isdisjoint(NAMES["messages"]) or not there.isdisjoint(NAMES["response_ids"]):
        return True
    said = there & {*NAMES["response"], *NAMES["episode"], *NAMES["ids"]}
    return any((there - {one}) & {*NAMES["prompt"], *NAMES["reward"]} for one in said)


def check(columns: Mapping[str, str]) -> None:
    """Refuse roles that do not exist.

    Raises:
        UnknownNameError: `columns` names one.
    """
    for role in columns:
        if role not in NAMES:
            raise unknown_name("role of a column", role, NAMES)
