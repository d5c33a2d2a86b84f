"""Which settings of a TRL trainer that are in force are no longer those that the run began with.

Arguments say what was wished for; what is in force lies in the trainer, its generation settings, its tokenizer and its
optimiser, and code that runs beside may change it. Counted are settings that moved and then stood still: one that goes
on moving is a schedule. Learning rates, which have schedules, are not among them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from ..weights.optimiser_settings import OF_GROUP, SCHEDULE

REWARD, SAMPLE = "reward/settings_changed", "sample/settings_changed"
POLICY, DATA = "policy/settings_changed", "data/settings_changed"
OF_LOSS = (
    "loss_type", "scale_rewards", "importance_sampling_level", "mask_truncated_completions", "top_entropy_quantile",
    "beta", "epsilon_low", "epsilon_high", "num_iterations", "multi_objective_aggregation", "off_policy_mask_threshold",
)  # fmt: skip
ARGS_OF_LOSS = ("max_grad_norm", "gradient_accumulation_steps", "steps_per_generation", "delta", "num_iterations")
OF_DATA = ("num_generations", "max_completion_length", "max_prompt_length", "pad_token_id", "eos_token_id", "tools")
OF_TOKENIZER = (
    "chat_template", "padding_side", "truncation_side", "model_max_length", "eos_token_id", "pad_token_id",
    "bos_token_id", "add_bos_token", "add_eos_token",
)  # fmt: skip
LENGTHS = ("max_new_tokens", "min_new_tokens", "max_length", "min_length", "eos_token_id", "pad_token_id")
"""Settings of generation that are about where a response ends."""
ASIDE = ("transformers_version", "_from_model_config", "use_cache", "output_scores", "return_dict_in_generate")


class Setup:
    """Compares the settings in force at each update with those of the first."""

    def __init__(self, trainer: Any) -> None:
        self.trainer = trainer
        self._first: dict[tuple[str, str], str] = {}
        self._last: dict[tuple[str, str], str] = {}
        self._moves: dict[tuple[str, str], int] = {}

    def row(self, optimizer: Any) -> dict[str, float]:
        """Return how many settings are not what they were, by the link that they belong to."""
        known = self._in_force(optimizer)
        now = {(metric, name): _plain(value) for metric, found in known.items() for name, value in found.items()}
        self._first = self._first or now
        moved = {place for place, text in now.items() if self._last.get(place, text) != text}
        self._moves |= {place: self._moves.get(place, 0) + 1 for place in moved}
        self._last = now
        row = {metric: 0.0 for metric, found in known.items() if found}
        for place, text in now.items():
            other = self._first.get(place, text) != text
            row[place[0]] += other and place not in moved and self._moves.get(place, 0) < SCHEDULE
        return row

    def _in_force(self, optimizer: Any) -> dict[str, dict[str, Any]]:
        trainer, args = self.trainer, getattr(self.trainer, "args", None)
        processor = getattr(trainer, "processing_class", None)
        tokenizer = getattr(processor, "tokenizer", processor)
        generation = _generation(trainer)
        lengths = {name: value for name, value in generation.items() if name in LENGTHS}
        functions = cast("list[Any]", getattr(trainer, "reward_funcs", None) or [])
        weights: Any = getattr(trainer, "reward_weights", None)
        paid = weights.tolist() if hasattr(weights, "tolist") else weights
        return {
            REWARD: {"weights": paid, "funcs": [id(function) for function in functions]} if functions else {},
            SAMPLE: {f"generation.{name}": value for name, value in generation.items() if name not in LENGTHS}
            | _fields(trainer, ("temperature", "top_p", "top_k", "min_p", "repetition_penalty")),
            POLICY: _fields(trainer, OF_LOSS)
            | {f"args.{name}": value for name, value in _fields(args, ARGS_OF_LOSS).items()}
            | _groups(optimizer),
            DATA: _fields(trainer, OF_DATA)
            | {f"tokenizer.{name}": value for name, value in _fields(tokenizer, OF_TOKENIZER).items()}
            | {f"generation.{name}": value for name, value in lengths.items()},
        }


def _fields(subject: Any, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(subject, name) for name in names if hasattr(subject, name)}


def _generation(trainer: Any) -> dict[str, Any]:
    """Return the settings with which responses are drawn; of a vLLM what the trainer hands to it."""
    if getattr(trainer, "use_vllm", False):
        engine = getattr(trainer, "vllm_generation", None)
        names = "temperature", "top_p", "top_k", "min_p", "repetition_penalty", "generation_kwargs"
        return _fields(engine, names) | _fields(engine, ("max_new_tokens",))
    settings = getattr(trainer, "generation_config", None)
    found = cast("Mapping[str, Any]", vars(settings) if settings is not None else {})
    return {name: value for name, value in found.items() if name not in ASIDE}


def _groups(optimizer: Any) -> dict[str, Any]:
    inner = getattr(optimizer, "optimizer", optimizer)
    groups = cast("list[dict[str, Any]]", getattr(inner, "param_groups", None) or [])
    return {f"group{i}.{n}": group[n] for i, group in enumerate(groups) for n in OF_GROUP if n in group}


def _plain(value: Any) -> str:
    """Return a text that is the same for the same value; objects count by their type only."""
    return json.dumps(value, sort_keys=True, default=lambda other: type(other).__name__)
