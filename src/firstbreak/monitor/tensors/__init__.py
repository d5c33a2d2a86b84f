"""Quantities from tensors: computed where the tensors live, brought over in one transfer.

Each function takes tensors and returns canonical metric names with tensors of one number on the same device; none reads
a value. `Quantities` collects them, and its `numbers` makes the one transfer of a log call. Needs PyTorch.
"""

from __future__ import annotations

from ...errors import missing_extra

try:
    from .actions import action_statistics, invalid_actions, padding_in_loss
    from .adam import adam_moments
    from .advantages import advantages, follow, gae_residual, return_correlation
    from .critic import q_against_returns, q_bound, td_error, twin_q, value_fit
    from .distributions import categorical_entropy, categorical_kl, gaussian_kl, gaussian_spread, logit_extremes
    from .gradients import WeightChange, gradient_norms, loss_term_gradients
    from .groups import group_spread
    from .quantities import Measure, OnHost, Quantities
    from .ratios import importance_ratios
    from .representation import Activations, dormant_units, feature_rank
    from .token_loss import Responses, mixed_prompts, prompt_variety, shares, token_gradients
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise missing_extra("torch", "torchrl", "Measuring tensors") from error

__all__ = [
    "Activations",
    "Measure",
    "OnHost",
    "Quantities",
    "Responses",
    "WeightChange",
    "action_statistics",
    "adam_moments",
    "advantages",
    "categorical_entropy",
    "categorical_kl",
    "dormant_units",
    "feature_rank",
    "follow",
    "gae_residual",
    "gaussian_kl",
    "gaussian_spread",
    "gradient_norms",
    "group_spread",
    "importance_ratios",
    "invalid_actions",
    "logit_extremes",
    "loss_term_gradients",
    "mixed_prompts",
    "padding_in_loss",
    "prompt_variety",
    "q_against_returns",
    "q_bound",
    "return_correlation",
    "shares",
    "td_error",
    "token_gradients",
    "twin_q",
    "value_fit",
]
