"""What is in force in a TRL trainer where its arguments say something: clip, KL term, betas, what sampling may do."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from ..in_force import plain

CLIP_LOW, CLIP_HIGH = "policy/clip_low_off", "policy/clip_high_off"
KL_OFF = "policy/kl_coef_off"
BETA1, BETA2 = "optim/beta1", "optim/beta2"
SET_BETA1, SET_BETA2 = "optim/beta1_set", "optim/beta2_set"
ALTERED, ELSEWHERE = "sample/unscored_settings", "seq/ended_elsewhere_frac"
NEUTRAL: dict[str, tuple[Any, ...]] = {
    "repetition_penalty": (1.0,), "min_new_tokens": (0,), "min_length": (0,), "no_repeat_ngram_size": (0,),
    "encoder_no_repeat_ngram_size": (0,), "encoder_repetition_penalty": (1.0,), "bad_words_ids": (),
    "suppress_tokens": (), "begin_suppress_tokens": (), "forced_bos_token_id": (), "forced_eos_token_id": (),
    "typical_p": (1.0,), "epsilon_cutoff": (0.0,), "eta_cutoff": (0.0,), "num_beams": (1,), "guidance_scale": (1.0,),
    "sequence_bias": (), "penalty_alpha": (0.0,), "exponential_decay_length_penalty": (), "top_h": (1.0,),
    "diversity_penalty": (0.0,), "prefix_allowed_tokens_fn": (), "logits_processor": (),
    "remove_invalid_values": (False,), "top_k": (0, -1),
}  # fmt: skip
"""Settings of generation that change what is drawn, and no score of it; with the values at which they do nothing."""
STOPS = ("stop", "stop_strings", "stop_token_ids", "eos_token_id")


def clip(trainer: Any) -> dict[str, float]:
    """Return how much more the clip and the KL coefficient in force are than those of the arguments; 0 where as set."""
    args = getattr(trainer, "args", None)
    low, high = plain(getattr(args, "epsilon", None)), plain(getattr(args, "epsilon_high", None))
    high = low if high is None else high
    found: dict[str, float] = {}
    for name, now, given in ((CLIP_LOW, "epsilon_low", low), (CLIP_HIGH, "epsilon_high", high)):
        value = plain(getattr(trainer, now, None))
        if value is not None and given:
            found[name] = value / given - 1
    now, given = plain(getattr(trainer, "beta", None)), plain(getattr(args, "beta", None))
    if now is not None and given:
        found[KL_OFF] = now / given - 1
    return found


def betas(optimizer: Any, trainer: Any) -> dict[str, float]:
    """Return Adam's betas in force, and those of the arguments."""
    inner = getattr(optimizer, "optimizer", optimizer)
    groups = cast("list[dict[str, Any]]", getattr(inner, "param_groups", None) or [{}])
    known: Any = groups[0].get("betas")
    args = getattr(trainer, "args", None)
    given = plain(getattr(args, "adam_beta1", None)), plain(getattr(args, "adam_beta2", None))
    if not isinstance(known, tuple | list) or len(cast("list[Any]", known)) != 2 or None in given:
        return {}
    if not str(getattr(getattr(args, "optim", ""), "value", getattr(args, "optim", ""))).startswith("adamw"):
        return {}
    one, two = (plain(value) for value in cast("list[Any]", known))
    values = (one, two, *given)
    names = (BETA1, BETA2, SET_BETA1, SET_BETA2)
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}


def unscored(trainer: Any) -> dict[str, float]:
    """Return how many settings of generation, that nobody gave, change what is drawn beside temperature and mass."""
    settings = getattr(trainer, "generation_config", None)
    if settings is None or getattr(trainer, "use_vllm", False) or not getattr(settings, "do_sample", False):
        return {}
    args = getattr(trainer, "args", None)
    given = cast("dict[str, Any]", getattr(args, "generation_kwargs", None) or {})
    count = 0
    for name, neutral in NEUTRAL.items():
        value = getattr(settings, name, None)
        wanted = given.get(name, getattr(args, name, None))
        empty = value is None or value in neutral or (isinstance(value, list | dict) and not value)
        count += not empty and value != wanted and not (name == "suppress_tokens" and _images(trainer))
    return {ALTERED: float(count)}


def ended_elsewhere(trainer: Any, ids: Tensor, mask: Tensor, pad: int) -> dict[str, Tensor]:
    """Return the share of responses [B, T] that stop before the cap at an ordinary token of the text.

    Nothing where the arguments name words or tokens to stop at, or where another process draws.
    """
    args, processor = getattr(trainer, "args", None), getattr(trainer, "processing_class", None)
    tokenizer: Any = getattr(processor, "tokenizer", processor)
    given = cast("dict[str, Any]", getattr(args, "generation_kwargs", None) or {})
    cap = getattr(getattr(trainer, "generation_config", None), "max_new_tokens", None)
    special = cast("list[int]", getattr(tokenizer, "all_special_ids", None) or [])
    if getattr(trainer, "use_vllm", False) or any(name in given for name in STOPS) or not cap or not special:
        return {}
    added = cast("dict[int, Any]", getattr(tokenizer, "added_tokens_decoder", None) or {})
    marks = torch.tensor([*special, *added, pad], device=ids.device)
    size = mask.sum(1)  # the padding may be sampled as well
    final = ids.gather(1, (size - 1).clamp(min=0)[:, None])[:, 0]
    short = (size < int(cap)) & (size > 0) & ~(ids == tokenizer.eos_token_id).any(1)
    return {ELSEWHERE: (short & ~torch.isin(final, marks)).float().mean()}


def _images(trainer: Any) -> bool:
    return hasattr(getattr(trainer, "processing_class", None), "image_processor")
