"""The gradient that a TRL trainer's settings ask of the loss, beside the one that it has.

The loss of GRPO is a sum over tokens with a published weight for each (Shao et al. 2024, arXiv 2402.03300, equation 3;
Yu et al. 2025, arXiv 2503.14476, equation 8; Liu et al. 2025, arXiv 2503.20783, section 3.2). Its derivative by each
token's log-probability therefore follows from ratios, advantages and settings, whatever the model: which tokens are
trained, with which sign, and how much each counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from .clipping import CLIPPED

RESIDUAL, SIZE = "policy/loss_residual_frac", "policy/loss_size_ratio"
ALONE = 0.02
"""Share of the expected gradient under which it is too small to be compared: all advantages are 0 but for rounding."""


def described(trainer: Any) -> bool:
    """Whether the settings say all of the loss's part in the log-probabilities: no mask, weight or level of its own."""
    args = getattr(trainer, "args", None)
    return (
        getattr(trainer, "loss_type", "") in CLIPPED
        and getattr(args, "importance_sampling_level", "token") == "token"
        and float(getattr(trainer, "top_entropy_quantile", 1.0) or 0.0) >= 1.0
        and getattr(trainer, "off_policy_mask_threshold", None) is None
        and not getattr(args, "use_liger_kernel", False)
        and not _writes_masks(trainer)
    )


def _writes_masks(trainer: Any) -> bool:
    """Whether parts of a response may be left out by design: answers of tools and environments."""
    return any(
        getattr(trainer, name, None) for name in ("tools", "rollout_func", "environments", "environment_factories")
    )


def own_mask(inputs: Mapping[str, Any], pad: int, skip_truncated: bool) -> Tensor:
    """Return which tokens are the response's [B, T]: all up to the last that the mask keeps, without a hole.

    A row without any is one that was left out by its length, if the settings say so, and else what is no padding.
    """
    ids, mask = inputs["completion_ids"], inputs["completion_mask"]
    places = torch.arange(1, ids.shape[1] + 1, device=ids.device)
    last = (places * (mask > 0)).amax(1, keepdim=True)
    if not skip_truncated:
        last = torch.where(last > 0, last, (places * (ids != pad)).amax(1, keepdim=True))
    return (places <= last).float()


def expected(new: Tensor, inputs: Mapping[str, Any], trainer: Any, mask: Tensor) -> Tensor | None:
    """Return the derivative [B, T] that settings and advantages ask for; None where something is missing.

    Args:
        new: Log-probabilities as the loss gets them [B, T].
        inputs: Of a micro-batch: advantages [B], old and reference log-probabilities [B, T] where they are used.
        trainer: With the settings in force.
        mask: Of the response's own tokens [B, T].
    """
    a, old, ref = (inputs.get(name) for name in ("advantages", "old_per_token_logps", "ref_per_token_logps"))
    beta = float(getattr(trainer, "beta", 0.0) or 0.0)
    if not isinstance(a, Tensor) or a.dim() != 1 or new.shape != mask.shape or (beta and ref is None):
        return None
    weight = _weights(inputs, trainer, mask)
    if weight is None:
        return None
    with torch.enable_grad():
        free = new.detach().float().requires_grad_()
        ratio = (free - (new.detach() if old is None else old).float()).exp()
        delta = getattr(trainer.args, "delta", None)
        bound = ratio.clamp(1 - trainer.epsilon_low, 1 + trainer.epsilon_high)
        plain = ratio if delta is None else ratio.clamp(max=delta)
        term = -torch.min(plain * a[:, None], bound * a[:, None])
        engine = inputs.get("importance_sampling_ratio")
        if engine is not None:  # of the engine that sampled: weighs each token, or each response
            term = term * engine.reshape(len(mask), -1)
        if beta:
            apart = torch.as_tensor(ref, device=free.device).float() - free
            pull = apart.exp() - apart - 1
            term = term + beta * (pull * ratio if getattr(trainer.args, "use_bias_correction_kl", False) else pull)
        (found,) = torch.autograd.grad((term * mask * weight).sum(), free)
    return found


def _weights(inputs: Mapping[str, Any], trainer: Any, mask: Tensor) -> Tensor | None:
    """Weight of each row's tokens [B, 1] or of all []: the divisor of the loss by its type."""
    kind, micro = trainer.loss_type, float(getattr(trainer, "current_gradient_accumulation_steps", 1) or 1)
    rows, tokens = len(mask), mask.sum(1, keepdim=True).clamp(min=1.0)
    if kind == "grpo":
        return 1.0 / (tokens * rows * micro)
    if kind == "bnpo":
        return 1.0 / (tokens.sum() * micro)
    if kind == "dr_grpo":
        return mask.new_full((), 1.0 / (rows * trainer.max_completion_length * micro))
    whole = inputs.get("num_items_in_batch")
    if whole is None:
        return None
    per = float(trainer.accelerator.num_processes) * float(trainer.args.steps_per_generation) / micro
    known = whole.to(mask.device) if isinstance(whole, Tensor) else mask.new_full((), float(whole))
    return per / known.float().clamp(min=1.0)


@torch.no_grad()
def compared(gradient: Tensor, wanted: Tensor) -> Tensor:
    """Sums [3] over a micro-batch: of the gradient's squares, of the expected one's, and of their products."""
    g, e = gradient.float(), wanted.float()
    return torch.stack([(g * g).sum(), (e * e).sum(), (g * e).sum()])


def residual(sums: Tensor) -> dict[str, Tensor]:
    """Share [] of the gradient that is not along the expected one, 0 to 1, and its length over that one's.

    Args:
        sums: What `compared` gives, added up.
    """
    own, want, both = sums
    aligned = both / (own * want).sqrt()
    return {RESIDUAL: (1 - aligned.clamp(min=0.0) ** 2).clamp(min=0.0).sqrt(), SIZE: (own / want).sqrt()}
