"""Importance ratios, KLs, sampler against trainer, staleness: canonical names. Masks [B, L] say which tokens count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

import torch
from torch import Tensor

from .measures import Numbers, numbers


def effective_share(weight: Tensor) -> Tensor:
    """Effective sample size over the sample size (Kong 1992), of weights [N]."""
    exact = weight.double()
    return (exact.mean() ** 2 / (exact**2).mean()).clamp(max=1.0)  # rounding alone can pass 1


def moved_measures(log_ratio: Tensor) -> Numbers:
    """How far an update moved the policy, from the log ratios [N] after it; KL by k1 and k3.

    No largest KL: k3 of a single token is no KL of anything.
    """
    return numbers(
        {
            "policy/kl_old": (log_ratio.expm1() - log_ratio).mean(),
            "policy/kl_k1": -log_ratio.mean(),
        }
    )


def ratio_measures(ratio: Tensor) -> Numbers:
    """Importance ratios [N] as they enter the loss of one step."""
    return numbers(
        {
            "policy/ratio_mean": ratio.mean(),
            "policy/ratio_min": ratio.min(),
            "policy/ratio_max": ratio.max(),
            "policy/ratio_var": ratio.var(correction=0),
            "policy/ess": effective_share(ratio),
        }
    )


def over_steps(steps: Sequence[Mapping[str, float]]) -> Numbers:
    """The mean of each measure over the steps of an update that have it; of extremes the extreme."""
    names = dict.fromkeys(name for step in steps for name in step)
    found = {name: fmean(step[name] for step in steps if name in step) for name in names}
    for name, extreme in (("policy/ratio_min", min), ("policy/ratio_max", max)):
        if name in found:
            found[name] = extreme(step[name] for step in steps if name in step)
    if "policy/ratio_mean" in steps[0]:
        found["policy/ratio_first_minibatch"] = steps[0]["policy/ratio_mean"]
    return found


def clip_measures(ratio: Tensor, advantage: Tensor, low: float, high: float, dual: float | None) -> Numbers:
    """Shares of the ratios [N] outside the clip range, by side; of those that clipping holds back; dual clip."""
    below, above = ratio < 1 - low, ratio > 1 + high
    measures = {
        "policy/clip_fraction": (below | above).float().mean(),
        "policy/clip_fraction_low": below.float().mean(),
        "policy/clip_fraction_high": above.float().mean(),
        "policy/clip_binding_low_frac": (below & (advantage < 0)).float().mean(),
        "policy/clip_binding_high_frac": (above & (advantage > 0)).float().mean(),
    }
    if dual is not None:
        measures["policy/clip_fraction_dual"] = ((ratio > dual) & (advantage < 0)).float().mean()
    return numbers(measures)


def reference_measures(log_prob: Tensor, ref_log_prob: Tensor, mask: Tensor) -> Numbers:
    """KL(policy || reference) of tokens that the policy drew: per token by k3, per sequence by k1."""
    difference = torch.where(mask, ref_log_prob - log_prob, 0.0)
    return numbers(
        {
            "policy/kl_ref": (difference.expm1() - difference)[mask].mean(),
            "policy/kl_ref_seq": -difference.sum(1).mean(),
        }
    )


# ---- sampler against trainer --------------------------------------------------------------------------------------


def mismatch_measures(trainer: Tensor, sampler: Tensor) -> Numbers:
    """Log-probs [N] of the same tokens under the same weights, by the trainer and by the sampler."""
    gap = trainer - sampler
    measures: dict[str, Tensor | float] = {
        "async/logprob_mismatch": gap.abs().mean(),
        "async/logprob_mismatch_max": gap.abs().max(),
        "async/prob_mismatch": (trainer.exp() - sampler.exp()).abs().mean(),
        "async/mismatch_kl": (gap.expm1() - gap).mean(),
    }
    both = torch.stack([trainer, sampler]).double().exp()
    if float(both.var(1).min()) > 1e-12:
        measures["async/prob_corr"] = torch.corrcoef(both)[0, 1].clamp(-1.0, 1.0)
    return numbers(measures)


def behaviour_measures(log_weight: Tensor, cap: float) -> Numbers:
    """Weights pi_prox / pi_behave from their logarithms [N], before the cap."""
    weight = log_weight.exp()
    high = (weight > cap).float().mean()
    return numbers(
        {
            "async/behave_ratio_mean": weight.mean(),
            "async/behave_ratio_min": weight.min(),
            "async/behave_ratio_max": weight.max(),
            "async/behave_ratio_ess": effective_share(weight),
            "async/behave_clip_fraction": high,
            "async/behave_clip_fraction_high": high,
            "async/behave_clip_fraction_low": 0.0,
        }
    )


def staleness_measures(version: Tensor, mask: Tensor, now: int) -> Numbers:
    """Lag of the sampled tokens' versions [B, L] behind the trainer's, and how many versions one response spans."""
    lag = (now - version).masked_fill(~mask, 0)
    last = torch.where(mask, version, -1).amax(1)
    first = torch.where(mask, version, now + 1).amin(1)
    return numbers(
        {
            "async/staleness_mean": lag[mask].float().mean(),
            "async/staleness_max": lag[mask].max(),
            "async/staleness_min": lag[mask].min(),
            "async/stale_fraction": (lag.amax(1) >= 1).float().mean(),
            "async/partial_span_mean": (last - first + 1).float().mean(),
        }
    )
