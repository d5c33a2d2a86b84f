"""The rule `nonfinite-metric`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `nonfinite-metric`: engineering defaults, except where a source is named."""

    rows: int = 3
    """Rows after which a metric that was never finite counts as broken; before, it may simply not exist yet."""
    silence: int = 20
    """The same where no other metric of the update is finite either: learning may not have begun."""
    rare: float = 0.05
    """Share of non-finite gradient norms that a mixed-precision scaler makes and skips by design."""


PPO = synth.like("PPO")
GRPO = synth.like("GRPO")
NAN = float("nan")

SHORT = 8
"""A log with fewer rows than this can only be judged as a whole, once it has ended."""
CHAIN: tuple[tuple[str, ...], ...] = (
    ("policy/logit_abs_max", "policy/logprob_mean", "policy/action_std", "policy/entropy", "policy/ratio_mean"),
    ("policy/ratio_max", "policy/kl_old", "policy/kl_k1", "policy/kl_ref", "policy/kl_ref_seq", "policy/mmd"),
    ("critic/value_mean", "critic/q_mean", "critic/q2_mean", "critic/target_mean", "critic/td_error_mean"),
    ("advantage/mean", "advantage/abs_max"),
    ("policy/loss", "critic/loss", "policy/loss_total", "sac/alpha_loss", "optim/loss_total"),
    ("optim/grad_norm", "optim/actor_grad_norm", "optim/critic_grad_norm", "critic/grad_norm"),
    ("net/weight_norm", "optim/weight_delta", "critic/weight_delta", "sac/alpha"),
)
"""The order of computation: policy outputs, ratios, critic, advantage, losses, gradients, parameters.

Left out are metrics that are undefined at times: explained variance of constant returns, spreads of one element,
averages over no episode, lengths of no response. Rewards have their own rule.
"""

CASES = (
    fires(
        "loss turns NaN and stays",
        lambda: PPO(
            {
                "policy/loss": synth.after(0.5, synth.constant(NAN), synth.flat(-0.01)),
                "optim/grad_norm": synth.after(0.52, synth.constant(NAN), synth.flat(0.6)),
            }
        ),
    ),
    fires(
        "infinite KL", lambda: GRPO({"policy/kl_ref": synth.after(0.7, synth.constant(float("inf")), synth.flat(0.02))})
    ),
    fires("never finite", lambda: PPO({"critic/loss": synth.constant(NAN)})),
    healthy("all finite", lambda: PPO({})),
    near_miss(
        "no episode finished: only return and length are NaN",
        lambda: PPO({"reward/episode_return_mean": synth.constant(NAN), "episode/length_mean": synth.constant(NAN)}),
    ),
    near_miss(
        "explained variance of constant returns",
        lambda: PPO({"critic/explained_variance": synth.after(0.6, synth.constant(NAN), synth.ramp(0, 0.9))}),
    ),
    near_miss(
        "first rows before the first update",
        lambda: PPO({"policy/loss": synth.after(0.015, synth.flat(-0.01), synth.constant(NAN))}),
    ),
)


@rule(
    "NUM001",
    "nonfinite-metric",
    link=Link.NUMERICS,
    component=Component.LOSS,
    severity=Severity.ERROR,
    params=Params(),
    cases=CASES,
    static=True,
    across_phases=True,
    implies=(
        "grad-norm-explosion",
        "loss-explosion",
        "steps-skipped",
        "metrics-frozen",
        "return-collapse",
        "reward-flat",
        "policy-frozen",
        "reward-nonfinite",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """A quantity of the computation is NaN or infinite.

    What it means:
        The first metric in the order of computation that is not finite is named: policy outputs, ratio, loss,
        gradient, parameters, then everything.

    Why it matters:
        Once parameters are not finite every later number is void.

    Usual causes:
        Logarithm of 0; division by an empty count; overflow of fp16; a saturated squashed policy; a bad reward.

    What to try:
        Replay the failed batch from the last good checkpoint with finite checks on every tensor.

    When it is harmless:
        Averages over nothing (no finished episode, spread of one element, explained variance of constant returns) are
        not judged; nor are rare infinite gradient norms under a loss scaler.

    References:
        Micikevicius et al. 2018, arXiv 1710.03740 (loss scaling).
    """
    updated = any(p is not None and len(p) for stage in CHAIN for p in map(view.get, stage))
    broken = [(p, rank) for rank, stage in enumerate(CHAIN) for p in _broken(view, stage, updated, params)]
    if not broken:
        return None
    first, _ = min(broken, key=lambda item: (item[0].first_nonfinite, item[1]))
    before = first.step[first.step < first.first_nonfinite]
    kind = "infinite" if first.first_inf == first.first_nonfinite else "NaN"
    ended = view.hi >= view.log.last_step and view.log.state != "running"
    lasting = any(
        (not p.step.size or p.step[-1] < p.first_nonfinite) and (p.nonfinite >= 2 or ended) for p, _ in broken
    )
    others = f", then {len(broken) - 1} more" if len(broken) > 1 else ""
    where = f"{view.clock} {first.first_nonfinite:.6g}"
    what = f"is {kind} from {where} on" if lasting else f"was {kind} at {where}"
    return Detection(
        message=f"{first.metric} {what}{others}",
        onset=view.onset(float(before[-1]) if before.size else first.first_nonfinite, first.first_nonfinite),
        metric=first.metric,
        evidence={"first": first.metric, "nonfinite_points": first.nonfinite, "metrics": len(broken)},
        severity=None if lasting else Severity.WARNING,
    )


def _broken(view: RunView, stage: tuple[str, ...], updated: bool, params: Params) -> list[Points]:
    """Points of the metrics of one stage that are not finite where they should be."""
    found: list[Points] = []
    for metric in stage:
        points = view.get(metric)
        if points is None or not points.nonfinite:
            continue
        started = bool(points.step.size) and points.step[0] < points.first_nonfinite
        whole = points.total == len(points.source) < SHORT and view.log.state != "running"
        rows = params.rows if updated else params.silence
        never = not points.step.size and (points.total >= rows or whole)
        scaled = "grad_norm" in metric and view.has("optim/loss_scale")
        if scaled and points.nonfinite <= params.rare * points.total + 1:
            continue
        if never or started:
            found.append(points)
    return found
