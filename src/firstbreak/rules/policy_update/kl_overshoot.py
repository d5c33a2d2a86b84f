"""The rule `kl-overshoot`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `kl-overshoot`; engineering defaults where no source is named."""

    bound_nats: float = 1.0
    """KL in nats per action that one update may never reach. A hard bound: at 1 nat the new policy gives typical old
    actions e^-1 of their old probability, so the surrogate that PPO optimises says nothing about it any more
    (Schulman et al. 2017, arXiv 1707.06347, section 3)."""
    target_factor: float = 5.0
    """How many times `target_kl` counts as overshoot where the run states one. SB3 stops an update at 1.5 times the
    target, so a logged mean above 5 times it means that stopping came too late. Engineering default."""
    updates: int = 2
    """Consecutive logged updates above `target_factor`; one update above `bound_nats` is enough."""
    calm: int = 20
    """Updates after a single one above `bound_nats` that must all keep below a tenth of it, and over which the return
    must be no worse than over as many before, for it to be a warning: it was survived. Engineering default."""
    usual: float = 0.05
    """Median of all updates before the first above `bound_nats`, over the latter, from which on the run has always
    taken large steps and learned with them. Of the recorded live lists (one to seven) and the development half, runs
    with a fault lay at 0.039 at most, three of the healthy draws at 0.068, 0.084 and 0.2; their policies of continuous
    actions had narrowed to 0.1 to 0.4 of their first width, so that the same step is more nats."""
    leap: float = 50.0
    """Times that median which no update may reach: a step that far beyond all others was not come to by degrees. Those
    three lay at 16 to 32. Engineering default."""
    history: int = 20
    """Updates that must have gone before to know what is usual."""
    degrees: float = 10.0
    """Times the largest earlier update that one alone beyond `bound_nats` may be, to have come by degrees. Healthy
    trainings of the ninth and tenth draw came from 0.54 to 1.7 and from 0.14 to 1.2, once, and learned on. Of the
    recorded faults those that came at once lay at 25 and more; those below went on so."""
    next_nats: float = 0.5
    """What the update after it may not reach then: what drives the policy away goes on doing so. Recorded faults that
    came by degrees went on with 0.73 or more, but for one with 0.38; those two trainings with 0.09 and 0.11."""
    few: int = 10
    """Updates that must have gone before to know what is large."""
    recent: int = 10
    """Returns whose median is taken: at the start, before the first update above `bound_nats`, and now."""
    least: int = 5
    """Of them, where fewer than twice as many are known."""
    errors: float = 2.0
    """Standard errors of that difference, beyond which the return had gained anything."""
    lost: float = 0.5
    """Share of what the return had gained by then, that must be gone for it to be an error in such a run. Engineering
    default."""


PPO = synth.like("PPO")
RETURN = ("reward/episode_return_mean", "reward/episode_return", "reward/raw_episode_return")
ONCE = synth.spikes(0.01, 1.2, at=(0.4,))
DEGREES = synth.after(0.42, synth.spikes(0.01, 1.2, at=(0.5,)), synth.spikes(0.01, 0.5, at=(0.4,)))
LARGE = {"policy/kl_old": synth.spikes(0.2, 1.3, at=(0.6, 0.7, 0.8), noise=0.01)}

CASES = (
    fires("huge step at the first update", lambda: PPO({"policy/kl_old": synth.jump(35.0, 8.0, at=0.1)})),
    fires("step size breaks mid-run", lambda: PPO({"policy/kl_old": synth.jump(0.01, 3.0, at=0.6)})),
    fires(
        "infinite at the first updates, then 0: the policy was lost at once",
        lambda: PPO({"policy/kl_old": synth.after(0.02, synth.constant(0.0), synth.constant(float("inf")))}),
    ),
    fires("one update, and the return is gone", lambda: PPO({"policy/kl_old": ONCE, RETURN[0]: synth.jump(200, 20)})),
    fires("one update, survived: a warning", lambda: PPO({"policy/kl_old": ONCE})),
    fires(
        "large steps all along, and it learns on: a note",
        lambda: PPO({**LARGE, RETURN[0]: synth.ramp(20, 200, 0.02)}),
    ),
    fires(
        "one update, come to by degrees, and it learns on: a note",
        lambda: PPO({"policy/kl_old": DEGREES, RETURN[0]: synth.ramp(20, 200, 0.02)}),
    ),
    fires(
        "the same, and the next as well",
        lambda: PPO(
            {"policy/kl_old": synth.after(0.51, synth.flat(0.8, 0.02), DEGREES), RETURN[0]: synth.ramp(20, 200)}
        ),
    ),
    fires(
        "large steps all along, and then the return is gone",
        lambda: PPO({**LARGE, RETURN[0]: synth.after(0.6, synth.ramp(20, 200, 0.02), synth.flat(30.0))}),
    ),
    healthy("KL near its target", lambda: PPO({})),
    near_miss(
        "infinite and stays so: the numbers broke",
        lambda: PPO({"policy/kl_old": synth.after(0.6, synth.constant(float("inf")), synth.flat(0.01))}),
    ),
    near_miss("one update at half a nat", lambda: PPO({"policy/kl_old": synth.spikes(0.01, 0.5, at=(0.4,))})),
)


@rule(
    "POL001",
    "kl-overshoot",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    any_of=(("policy/kl_old", "policy/kl_k1"),),
    when=("policy_gradient",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "clip-fraction-high",
        "policy-frozen",
        "policy-jumps",
        "entropy-collapse",
        "token-entropy-collapse",
        "response-collapse",
        "zero-std-groups",
        "reward-std-collapse",
        "truncation-growing",
        "return-collapse",
        "return-below-start",
        "dynamics-changed",
        "action-response-changed",
        "reward-unforeseen",
        "observation-shift",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """One update moved the policy so far that the data it learned from no longer describes it.

    What it means:
        The KL divergence between the policy that collected the data and the policy after the update is beyond what
        any trust region allows.

    Why it matters:
        The clipped surrogate is only valid near the old policy. Past it the next rollouts come from a policy nobody
        checked; entropy and return usually follow within a few updates.

    Usual causes:
        Learning rate too high; too many epochs on one batch; advantages on a huge scale; log-probs of other actions
        than the stored ones; stale data.

    What to try:
        Replay one batch with a third of the learning rate; if KL falls about ninefold the step size is the cause.

    When it is harmless:
        KL to a reference model (RLHF) is meant to grow and is not judged here. A KL that is infinite and stays so is
        numerics' (`nonfinite-metric`). One such update that the return did not suffer from is a warning; it is a note
        if earlier ones had come near it and the next does not. Where the run has taken large steps all along it is a
        note until half of what the return had gained is lost.

    References:
        Schulman et al. 2017, arXiv 1707.06347, section 3. Huang et al. 2022, "The 37 implementation details of PPO".
    """
    kl = view.get("policy/kl_old", "policy/kl_k1")
    assert kl is not None
    lost = _infinite(kl, params)
    if lost is not None:
        return Detection(
            message=f"KL per update was infinite at {view.clock} {lost:.6g} (limit {params.bound_nats:.3g})",
            onset=view.onset(lost, lost),
            metric=kl.metric,
            evidence={"kl_max_nats": float("inf"), "at": lost, "limit_nats": params.bound_nats},
        )
    over = persistent_onset(kl.step, kl.value >= params.bound_nats, 1)
    limit = params.bound_nats
    target = view.number("target_kl")
    if over is None and target is not None and target > 0:
        limit = params.target_factor * target
        over = persistent_onset(kl.step, kl.value >= limit, params.updates)
    if over is None:
        return None
    severity, since = None, ""
    if limit == params.bound_nats and _survived(view, kl, params):
        severity, since = Severity.WARNING, ", once; the return is no worse since"
    if limit == params.bound_nats and _by_degrees(kl, params) and _kept(view, over[1], params):
        severity, since = Severity.INFO, ", once and by degrees; the policy keeps what it has learned"
    if limit == params.bound_nats and _all_along(kl, over[1], params) and _kept(view, over[1], params):
        severity, since = Severity.INFO, "; it has taken large steps all along and keeps what it has learned"
    return Detection(
        message=f"KL per update reached {kl.max:.3g} nats (limit {limit:.3g}){since}",
        onset=view.onset(*over),
        metric=kl.metric,
        evidence={"kl_max_nats": kl.max, "at": kl.max_at, "limit_nats": limit},
        severity=severity,
    )


def _survived(view: RunView, kl: Points, params: Params) -> bool:
    """Whether one update alone was too large, all since were small, and the return is no worse for it."""
    beyond = np.flatnonzero(kl.value >= params.bound_nats)
    returns = view.get(*RETURN)
    if beyond.size != 1 or returns is None:
        return False
    since, at = kl.value[beyond[0] + 1 :], kl.step[beyond[0]]
    before, after = returns.value[returns.step <= at][-params.calm :], returns.value[returns.step > at]
    if since.size < params.calm or since.max() >= 0.1 * params.bound_nats:
        return False
    return before.size > 0 and after.size >= params.calm and median(after[: params.calm]) >= median(before)


def _by_degrees(kl: Points, params: Params) -> bool:
    """Whether one update alone was too large, one before came near it, and the next did not; or it is not known yet."""
    beyond = np.flatnonzero(kl.value >= params.bound_nats)
    past, since = kl.value[: beyond[0]], kl.value[beyond[0] + 1 :]
    if beyond.size != 1 or past.size < params.few or kl.max > params.degrees * float(past.max()):
        return False
    return not since.size or float(since[0]) < params.next_nats * params.bound_nats


def _all_along(kl: Points, at: float, params: Params) -> bool:
    """Whether updates before step `at` were large as well."""
    past = kl.value[kl.step < at]
    if past.size < params.history:
        return False
    usual = median(past)
    return usual >= params.usual * params.bound_nats and kl.max < params.leap * usual


def _kept(view: RunView, at: float, params: Params) -> bool:
    """Whether the return had gained something by step `at` and has kept it."""
    returns = view.get(*RETURN)
    if returns is None:
        return False
    before, after = returns.value[returns.step <= at], returns.value[returns.step > at]
    if before.size < 2 * params.least:
        return False
    size = min(params.recent, before.size // 2)
    first, last, now = before[:size], before[-size:], after[-params.recent :]
    gained = median(last) - median(first)
    if gained <= params.errors * float(np.sqrt((first.var() + last.var()) / size)):
        return False
    return now.size < params.recent or median(now) > median(last) - params.lost * gained


def _infinite(kl: Points, params: Params) -> float | None:
    """Where the KL was infinite before it was finite again and before it was too large, or None."""
    if not np.isfinite(kl.first_inf) or not (kl.step > kl.first_inf).any():
        return None
    earlier = (kl.value >= params.bound_nats) & (kl.step < kl.first_inf)
    return None if earlier.any() else float(kl.first_inf)
