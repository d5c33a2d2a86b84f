"""How a TRL trainer draws responses: at which temperature, and whether it stops where the tokenizer says they end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import torch
from torch import Tensor

COUNTED_PAST_END = "seq/counted_past_end_frac"


def sampling_temperature(trainer: Any) -> dict[str, float]:
    """Return the temperature in force where responses are drawn, and the one that the loss divides its logits by.

    TRL takes both from one setting, but `generation_kwargs` and changes of the generation's settings reach only the
    first. Greedy decoding counts as 0. With a vLLM whose samples are weighted by their own log-probabilities the second
    is left out, since that weight mends a difference.
    """
    drawn = _drawn(trainer)
    if drawn is None:
        return {}
    scored = getattr(trainer, "temperature", None)
    mended = getattr(trainer, "use_vllm", False) and getattr(trainer, "vllm_importance_sampling_correction", False)
    found = {"sample/temperature": drawn}
    return found if scored is None or mended else {**found, "sample/temperature_scored": float(scored)}


def _drawn(trainer: Any) -> float | None:
    if getattr(trainer, "use_vllm", False):
        engine = getattr(trainer, "vllm_generation", None)
        over = cast("Mapping[str, Any]", getattr(engine, "generation_kwargs", None) or {})
        value = over.get("temperature", getattr(engine, "temperature", None))
        return None if value is None else float(value)
    settings = getattr(trainer, "generation_config", None)
    if settings is None:
        return None
    if not getattr(settings, "do_sample", False):
        return 0.0
    value = getattr(settings, "temperature", None)
    return 1.0 if value is None else float(value)


def past_end(ids: Tensor, pad: int, end: int) -> Tensor:
    """Return the share of responses [B, T] that go on after the token `end`; padding at their end is no response.

    Args:
        ids: Token ids, padded on the right.
        pad: The padding, which may be the token `end` itself.
        end: What the tokenizer calls the end of a text.
    """
    places = torch.arange(1, ids.shape[1] + 1, device=ids.device)
    last = (places * (ids != pad)).amax(1, keepdim=True)
    return ((ids == end) & (places < last)).any(1).float().mean()


def counted_past_end(ids: Tensor, mask: Tensor, trainer: Any) -> dict[str, Tensor]:
    """Return the share of responses [B, T] of which tokens count after the end at which the sampler stops.

    Nothing is drawn there: what follows is the padding of a batch. Nothing is returned where another process draws, or
    several turns may lie in one response.
    """
    settings = getattr(trainer, "generation_config", None)
    ends: Any = getattr(settings, "eos_token_id", None)
    if ends is None or getattr(trainer, "use_vllm", False) or getattr(trainer, "tools", None):
        return {}
    several = torch.as_tensor(ends, device=ids.device).reshape(-1)
    ended = torch.isin(ids, several).int()
    past = (ended.cumsum(1) - ended) > 0
    return {COUNTED_PAST_END: (past & (mask > 0)).any(1).float().mean()}


def truncation(trainer: Any) -> dict[str, float]:
    """Return the mass of tokens from which responses are drawn, and the least share of the likeliest one, as in force.

    TRL scores responses over the whole vocabulary whatever these are, so that a narrow choice is a policy that nobody
    scores. Nothing is returned where nothing is drawn (greedy decoding), or where a vLLM does it whose own
    log-probabilities weigh the samples.
    """
    if getattr(trainer, "use_vllm", False):
        if getattr(trainer, "vllm_importance_sampling_correction", False):
            return {}
        engine = getattr(trainer, "vllm_generation", None)
        over = cast("Mapping[str, Any]", getattr(engine, "generation_kwargs", None) or {})
        found = {name: over.get(name, getattr(engine, name, None)) for name in ("top_p", "min_p")}
    else:
        settings = getattr(trainer, "generation_config", None)
        if settings is None or not getattr(settings, "do_sample", False):
            return {}
        found = {name: getattr(settings, name, None) for name in ("top_p", "min_p")}
    return {f"sample/{name}": float(value) for name, value in found.items() if value is not None}
