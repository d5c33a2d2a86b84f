"""The rule `nonfinite-metric`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `nonfinite-metric`: engineering defaults, except where a source is named."""

    rows: int = 8
    """Rows after which a metric that was never finite counts as broken; before, it may simply not exist yet."""
    silence: int = 20
    """The same where no other metric of the update is finite either: learning may not have begun."""
    calm: int = 8
    """Finite points before the first that is not, or non-finite points, before a break is believed while the run goes
    on: loggers pad rows without an update with NaN."""
    padding: int = 3
    """Finite points after it, and NaN points in all, that look like padding or skipped batches."""
    rare: float = 0.05
    """Share of non-finite gradient norms that a mixed-precision scaler makes and skips by design."""


PPO = synth.like("PPO")
GRPO = synth.like("GRPO")
SAC = synth.like("SAC")
DECLARED = synth.like("PPO", custom={"custom/score": {"better": "higher"}})
NAN = float("nan")

SHORT = 8
"""A log with fewer rows than this can only be judged as a whole, once it has ended."""
CHAIN: tuple[tuple[str, ...], ...] = (
    ("policy/logit_abs_max", "policy/logprob_mean", "policy/entropy", "policy/ratio_mean"),
    ("policy/ratio_max", "policy/kl_old", "policy/kl_k1", "policy/kl_ref", "policy/kl_ref_seq", "policy/mmd"),
    ("critic/value_mean", "critic/q_mean", "critic/q2_mean", "critic/target_mean", "critic/td_error_mean"),
    ("advantage/mean", "advantage/abs_max"),
    ("policy/loss", "critic/loss", "policy/loss_total", "sac/alpha_loss", "optim/loss_total"),
    ("optim/grad_norm", "optim/actor_grad_norm", "optim/critic_grad_norm", "critic/grad_norm"),
    ("net/weight_norm", "optim/weight_delta", "critic/weight_delta", "optim/outside_change_frac", "sac/alpha"),
)
"""The order of computation: policy outputs, ratios, critic, advantage, losses, gradients, parameters.

Left out are metrics that are undefined at times: explained variance of constant returns, spreads of one element,
averages over no episode, lengths of no response. Rewards have their own rule.
"""
LOSSES = 4
"""Where the losses stand in the chain."""


def _padded(t: Floats, rng: np.random.Generator) -> Floats:
    """Three rows in four hold NaN, as loggers write rows without an update."""
    return np.where(np.arange(t.size) % 4 == 0, 20.0 + rng.standard_normal(t.size), np.nan)


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
    fires(
        "weights found to be NaN before an update",
        lambda: PPO({"optim/outside_change_frac": synth.after(0.6, synth.constant(NAN), synth.constant(0.0))}),
    ),
    fires(
        "a declared metric stops being finite",
        lambda: DECLARED({"custom/score": synth.after(0.6, synth.constant(NAN), synth.flat(0.5))}),
    ),
    healthy("all finite", lambda: PPO({})),
    near_miss(
        "a declared metric that is an average over nothing at times",
        lambda: DECLARED({"custom/score": synth.after(0.6, synth.flat(0.5), synth.constant(NAN))}),
    ),
    near_miss(
        "no episode finished: only return and length are NaN",
        lambda: PPO({"reward/episode_return_mean": synth.constant(NAN), "episode/length_mean": synth.constant(NAN)}),
    ),
    near_miss(
        "explained variance of constant returns",
        lambda: PPO({"critic/explained_variance": synth.after(0.6, synth.constant(NAN), synth.ramp(0, 0.9))}),
    ),
    near_miss("a metric that this policy does not have", lambda: PPO({"policy/kl_k1": synth.constant(NAN)})),
    near_miss("rows without an update padded with NaN", lambda: SAC({"policy/loss": _padded})),
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
        not judged; nor are rare infinite gradient norms under a loss scaler. Of metrics that the settings declare only
        one that stays so is.

    References:
        Micikevicius et al. 2018, arXiv 1710.03740 (loss scaling).
    """
    updated = any(p is not None and len(p) for stage in CHAIN for p in map(view.logged, stage))
    broken = [(p, rank) for rank, stage in enumerate(CHAIN) for p in _broken(view, stage, updated, params)]
    if not any(rank >= LOSSES for _, rank in broken):
        # What was never finite although losses are is undefined for this policy, not broken: NaN would have spread.
        broken = [(p, rank) for p, rank in broken if len(p)]
    if not broken:
        return _declared(view, params)
    first, _ = min(broken, key=lambda item: (item[0].first_nonfinite, item[1]))
    before = first.step[first.step < first.first_nonfinite]
    kind = "infinite" if first.first_inf == first.first_nonfinite else "NaN"
    ended = view.hi >= view.log.last_step and view.log.state != "running"
    lasting = any(not _after(p) and (p.nonfinite >= 2 or ended) for p, _ in broken)
    padded = all(_after(p) >= params.padding <= p.nonfinite and np.isnan(p.first_inf) for p, _ in broken)
    if padded and not lasting:
        return Skip("rows look padded with NaN, or batches are skipped", ("optim/step_skipped",))
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
        points = view.logged(metric)
        if points is None or not points.nonfinite:
            continue
        before = len(points) - _after(points)
        ended = view.hi >= view.log.last_step and view.log.state != "running"
        proven = max(before, points.source.proven)
        started = proven > 0 and (ended or max(proven, points.nonfinite) >= params.calm)
        whole = points.total == len(points.source) < SHORT and view.log.state != "running"
        rows = params.rows if updated else params.silence
        never = not points.step.size and (points.total >= rows or whole)
        scaled = "grad_norm" in metric and view.has("optim/loss_scale")
        if scaled and points.nonfinite <= params.rare * points.total + 1:
            continue
        if never or started:
            found.append(points)
    return found


def _declared(view: RunView, params: Params) -> Answer:
    """Judge the metrics that the user declared: as any may be an average over nothing, only what stays so counts."""
    for metric in sorted({s.metric for s in view.log.series if s.custom}):
        points = view.logged(metric)
        if points is None or len(points) < params.calm or points.nonfinite < params.calm or _after(points):
            continue
        return Detection(
            message=f"{metric[:60]} is not finite from {view.clock} {points.first_nonfinite:.6g} on",
            onset=view.onset(float(points.step[-1]), points.first_nonfinite),
            metric=metric,
            evidence={"first": metric, "nonfinite_points": points.nonfinite},
            severity=Severity.WARNING,
        )
    return None


def _after(points: Points) -> int:
    """Number of finite points after the first that is not finite."""
    return int(np.count_nonzero(points.step > points.first_nonfinite))
