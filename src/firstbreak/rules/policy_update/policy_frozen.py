"""The rule `policy-frozen`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.critic.explained_variance_negative import at_best
from firstbreak.rules.policy_update import loudest_at_rest
from firstbreak.stats import median
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `policy-frozen`; engineering defaults where no source is named."""

    kl_nats: float = 1e-8
    """KL per update up to which nothing moved: a mean of some hundred log-ratios of two equal float32 policies is off
    by 6e-8 (half an ulp of 1) over ten; a step of any use is above 1e-5. Of the benchmark's development half no
    healthy run has five such updates on end, even up to 1e-7."""
    updates: int = 5
    """Consecutive updates at rest."""
    never: int = 8
    """Updates at rest from the first on, at a learning rate of exactly 0, that make it an error."""
    sure_frac: float = 0.1
    """Share of its opening to which entropy, or the gradient norm, falls where a certain policy is the reason."""
    hardly_kl: float = 1e-5
    """KL per update up to which a policy hardly moves: a step of any use is above that (see `kl_nats`). Engineering
    default."""
    hardly_rows: int = 30
    """Rows from the first on in which no KL is larger, nothing is clipped and the entropy rests (length of a drift
    test)."""
    rests: float = 1e-3
    """Range of the entropy, as a share of its opening, within which it rests: any policy that learns at all moves it
    by more within that many updates (as in `entropy-at-rest`)."""
    lr_share: float = 0.01
    """A learning rate below this share of its peak explains the rest (end of a schedule)."""


SPREAD = "policy/ratio_var"
RETURN = ("reward/episode_return_mean", "reward/episode_return", "reward/raw_episode_return", "reward/train_mean")
SETTINGS = {"n_epochs": 10, "n_minibatches": 4}
PPO = synth.like("PPO", config=SETTINGS)
STILL = {
    "policy/kl_old": synth.constant(0.0),
    "policy/clip_fraction": synth.constant(0.0),
    "policy/loss": synth.flat(0, 1e-8),
}

CASES = (
    fires(
        "nothing but rounding",
        lambda: PPO(STILL | {"policy/kl_old": synth.clipped(synth.flat(2e-9, 1.0), -9e-9, 9e-9)}),
    ),
    fires(
        "ratios stay at 1 through several steps while a bonus for entropy moves the policy",
        lambda: PPO({"policy/kl_old": synth.flat(1e-5, 0.2), SPREAD: synth.constant(1e-14)}),
    ),
    near_miss(
        "one step a batch: no ratio can leave 1",
        lambda: synth.like("PPO", config={"n_epochs": 1, "n_minibatches": 1})(
            {"policy/kl_old": synth.flat(1e-5, 0.2), SPREAD: synth.constant(1e-14)}
        ),
    ),
    near_miss("small steps that add up", lambda: PPO(STILL | {"policy/kl_old": synth.flat(1e-6, 0.2)})),
    fires(
        "a rate a thousand times too small",
        lambda: PPO(
            STILL | {"policy/kl_old": synth.flat(3e-8, 0.3), "policy/entropy": synth.ramp(0.69315, 0.6931, 1e-6)}
        ),
    ),
    near_miss(
        "steps of next to no use, and yet a reward that rises: fine-tuned with care",
        lambda: PPO(STILL | {"policy/kl_old": synth.flat(3e-8, 0.3), "policy/entropy": synth.ramp(0.69, 0.66, 1e-6)}),
    ),
    fires("never moves, many epochs", lambda: PPO(STILL)),
    fires(
        "stops half-way",
        lambda: synth.like("PPO")(
            {
                "policy/kl_old": synth.after(0.5, synth.constant(0.0), synth.flat(0.01)),
                "reward/episode_return_mean": synth.jump(200, 60, at=0.5),
            }
        ),
    ),
    fires("learning rate 0 from the start", lambda: PPO(STILL | {"optim/lr": synth.constant(0.0)})),
    fires(
        "learning rate 0 from the start, however many updates a batch has",
        lambda: synth.like("PPO")(STILL | {"optim/lr": synth.constant(0.0)}),
    ),
    fires(
        "stops in doubt on a return as good as ever",
        lambda: PPO({"policy/kl_old": synth.after(0.5, synth.constant(0.0), synth.flat(0.01))}),
    ),
    fires("weights at rest", lambda: synth.like("A2C")({"optim/weight_delta": synth.constant(0.0)})),
    fires(
        "the critic learns, the policy does not",
        lambda: PPO({**STILL, "optim/weight_delta": synth.flat(0.02, 0.3)}),
    ),
    healthy("moves", lambda: PPO({})),
    near_miss("learning rate at its end", lambda: PPO({**STILL, "optim/lr": synth.ramp(3e-4, 0.0, 0.0, until=0.02)})),
    near_miss("one update per batch", lambda: synth.like("PPO", config={"n_epochs": 1, "n_minibatches": 1})(STILL)),
    near_miss(
        "solved: a certain policy has no gradient",
        lambda: PPO(
            {
                "policy/kl_old": synth.after(0.85, synth.constant(0.0), synth.flat(0.01)),
                "policy/entropy": synth.geometric(0.69, 1e-4, until=0.8),
                "reward/episode_return_mean": synth.ramp(20, 500, 0.01, until=0.6),
            }
        ),
    ),
    near_miss("small steps", lambda: PPO({"policy/kl_old": synth.clipped(synth.flat(2e-5, 0.3), 1e-6, 1)})),
)


def updates_per_batch(view: RunView) -> float | None:
    """Optimiser steps made on one batch of experience, from the configuration or from the update counter.

    None when neither says. With 1 the importance ratio is 1 at the only step and nothing can be clipped.
    """
    epochs, minibatches = view.number("n_epochs"), view.number("n_minibatches")
    size, steps = view.number("batch_size"), view.number("n_steps")
    if minibatches is None and size and steps:
        minibatches = max(steps * (view.number("n_envs") or 1.0) / size, 1.0)
    if epochs is not None and (epochs > 1 or minibatches is not None):
        return epochs * (minibatches or 1.0)
    iterations = view.number("num_iterations")
    if iterations is not None:
        window, accumulated = view.number("steps_per_generation"), view.number("gradient_accumulation")
        return iterations * (max(window / accumulated, 1.0) if window and accumulated else 1.0)
    counter = view.get("optim/n_updates")
    if counter is not None and len(counter) > 1 and view.algorithm in ("PPO", "RLHF-PPO"):
        return max(median(np.diff(counter.value)), 1.0)
    return None


def certain(view: RunView, params: Params) -> bool:
    """Whether a policy without doubt explains the rest: entropy or gradient are gone, or neither is logged."""
    shown = [p for p in map(view.get, ("policy/entropy", "optim/grad_norm")) if p is not None and len(p)]
    return not shown or any(abs(p.last) <= params.sure_frac * abs(p.first) or p.last < 0 for p in shown)


def hardly(view: RunView, kl: Points, params: Params) -> Detection | None:
    """Return that the policy of a run has hardly moved since its first row, although there was a reward to follow."""
    entropy, clipped, reward = view.get("policy/entropy"), view.get("policy/clip_fraction"), view.get(*RETURN)
    if entropy is None or reward is None or len(reward) < 2 or reward.max == reward.min:
        return None
    rests = np.ptp(entropy.value) <= params.rests * abs(entropy.first)
    clips = clipped is not None and len(clipped) > 0 and clipped.max > 0
    if min(len(kl), len(entropy)) < params.hardly_rows or not rests or clips or kl.max > params.hardly_kl:
        return None
    moved = float(np.ptp(entropy.value) / abs(entropy.first))
    return Detection(
        message=f"KL per update {median(kl.value):.1g} nats; entropy moved by {moved:.1g} of itself in {len(kl)} rows",
        onset=view.onset(kl.step[0]),
        metric=loudest_at_rest(view, kl).metric,
        evidence={"kl_nats": median(kl.value), "entropy_moved_frac": moved, "updates": len(kl)},
    )


@rule(
    "POL003",
    "policy-frozen",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    any_of=(("policy/kl_old", "optim/weight_delta"),),
    when=("on_policy", "policy_gradient"),
    min_points=5,
    params=Params(),
    cases=CASES,
    implies=("reward-flat", "metrics-frozen"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Updates are made, but the policy does not move.

    What it means:
        The KL between old and new policy is 0 to rounding (or the weights do not change) although several gradient
        steps are made on each batch and the learning rate is not 0; or, from the first row on, it is so small that the
        entropy stays where it began. Or no importance ratio leaves 1: what moves the policy then is not the advantage.

    Why it matters:
        Nothing is being learned; every later metric repeats the untrained or the last policy.

    Usual causes:
        A learning rate far too small; old log-probabilities recomputed with the current weights; actor missing from
        the optimiser; gradient cut; a policy so certain that its gradient vanishes; the sampler running another copy
        of the weights.

    What to try:
        Compare the weights before and after one update; then the log-probability of one stored action.

    When it is harmless:
        With one update per batch the logged KL is 0 by construction; at the end of a learning-rate schedule; on a
        solved task, where a certain policy has no gradient left.

    References:
        Schulman et al. 2017, arXiv 1707.06347. Huang et al. 2022, "The 37 implementation details of PPO".
    """
    lr = view.get("optim/lr")
    if lr is not None and len(lr) and lr.max > 0 and lr.last <= params.lr_share * lr.max:
        return None
    delta, kl = view.get("optim/weight_delta"), view.get("policy/kl_old")
    steps = updates_per_batch(view)
    # Weights of a critic move, too: between several steps on one batch the KL is the policy's own.
    of_policy = kl is not None and len(kl) >= params.updates and steps is not None and steps > 1
    moved = kl if of_policy or delta is None or len(delta) < params.updates else delta
    if moved is None or len(moved) < params.updates:
        return None
    still = np.abs(moved.value) <= (params.kl_nats if moved is kl else 0.0)
    if not still[-params.updates :].all():
        if not of_policy:
            return None
        if (barely := hardly(view, moved, params)) is not None:
            return barely
        # What moves the policy is then no ratio: it may be an entropy bonus.
        moved = view.get(SPREAD)
        if moved is None or len(moved) < params.updates:
            return None
        still = np.abs(moved.value) <= 2 * params.kl_nats  # KL is half the variance of a ratio near 1
        if not still[-params.updates :].all():
            return None
    before = np.flatnonzero(~still)
    start = int(before[-1]) + 1 if before.size else 0
    if start > 0 and at_best(view) and certain(view, params):
        return None
    unmoved = start == 0 and lr is not None and len(lr) > 0 and lr.max == 0
    if moved is kl and start == 0 and not of_policy and not unmoved:
        return by_construction(view)
    return at_rest(view, moved, start, unmoved, params)


def by_construction(view: RunView) -> Skip:
    """Say that a KL of 0 may be that of a single update; health is withheld where the entropy stands as well."""
    entropy = view.get("policy/entropy")
    return Skip(
        "KL is 0 throughout, as it is with one update per batch",
        ("optim/weight_delta", "config n_epochs"),
        withholds=entropy is not None and len(entropy) > 1 and entropy.max == entropy.min,
    )


def at_rest(view: RunView, moved: Points, start: int, unmoved: bool, params: Params) -> Detection:
    """Describe that `moved` is 0 from row `start` on; `unmoved`: at a rate that never was anything but 0."""
    count = int(moved.value.size - start)
    what = {"policy/kl_old": "KL of the update", SPREAD: "variance of the ratios"}.get(moved.metric, "weight change")
    return Detection(
        message=f"{what} is 0 at the last {count} updates",
        onset=view.onset(moved.step[max(start - 1, 0)], moved.step[start]),
        # Weights that do not move at all say it by themselves.
        metric=(moved if start or moved.metric == "optim/weight_delta" else loudest_at_rest(view, moved)).metric,
        evidence={"updates": count, "last": moved.last},
        severity=Severity.ERROR if unmoved and count >= params.never else None,
    )
