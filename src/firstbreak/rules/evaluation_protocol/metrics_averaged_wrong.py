"""The rule `metrics-averaged-wrong`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import from_start
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `metrics-averaged-wrong`. Engineering defaults where no source is named."""

    rows: int = 3
    """Rows that must show it: an identity needs no statistics, three rows exclude a start-up artefact."""
    tolerance: float = 0.05
    """Relative distance of entropy times updates from ln(actions) that counts as equal."""


PPO = synth.like("PPO")
COUNTS = synth.like("PPO", config={"n_actions": 4, "n_epochs": 10, "n_minibatches": 16})
ZERO = {
    name: synth.after(0.5, synth.constant(0.0), synth.flat(0.1, 0.2))
    for name in ("policy/kl_old", "policy/clip_fraction", "policy/loss", "critic/loss")
}
CASES = (
    fires("all losses and KL print exactly 0 together", lambda: PPO(ZERO)),
    fires(
        "entropy is divided by the number of updates",
        lambda: COUNTS({"policy/entropy": synth.flat(1.3863 / 160, 0.005)}),
    ),
    healthy("sound metrics", lambda: COUNTS({"policy/entropy": synth.ramp(1.38, 0.9)})),
    near_miss("policy loss 0, value loss not", lambda: PPO({"policy/loss": synth.constant(0.0)})),
    near_miss("clip fraction 0 throughout", lambda: PPO({"policy/clip_fraction": synth.constant(0.0)})),
)


@rule(
    "EVA006",
    "metrics-averaged-wrong",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.LOGGING,
    any_of=(("policy/kl_old", "policy/clip_fraction", "policy/loss", "policy/entropy"),),
    when=("value_function",),
    params=Params(),
    cases=CASES,
    static=True,
)
def detect(view: RunView, params: Params) -> Answer:
    """Per-update metrics are averaged over the wrong number of updates.

    What it means:
        Losses, KL and clip fraction are all exactly 0 in the same rows, or the entropy at the start is the uniform
        policy's entropy divided by the number of minibatch updates.

    Why it matters:
        KL looks smallest exactly when updates were stopped because it was largest; every threshold on these numbers is
        off by that factor.

    Usual causes:
        Dividing by the planned instead of the made updates; dividing once too often; skipped updates logged as 0.

    What to try:
        Set epochs and minibatches to 1: the numbers must not change their size. Count the updates actually made.

    When it is harmless:
        Training does not depend on the logged averages, unless a schedule reads them.

    References:
        The maximum entropy of n actions is ln n. Huang et al. 2022, "The 37 implementation details of PPO".
    """
    loss = view.get("critic/loss")
    zeros = [
        p for p in (view.get(n) for n in ("policy/kl_old", "policy/loss", "policy/clip_fraction")) if p is not None
    ]
    if loss is not None and len(loss) >= params.rows and len(zeros) >= 2:
        steps: list[set[float]] = [set(p.step[p.value == 0.0].tolist()) for p in (loss, *zeros)]
        common: list[float] = sorted(s for s in steps[0] if all(s in other for other in steps[1:]))
        if len(common) >= params.rows:
            return Detection(
                message=f"KL, policy loss and value loss are all exactly 0 in {len(common)} rows",
                onset=view.onset(common[0]),
                metric=loss.metric,
                evidence={"rows": len(common), "first_at": common[0]},
            )
    entropy, actions = view.get("policy/entropy"), view.number("n_actions")
    epochs, parts = view.number("n_epochs"), view.number("n_minibatches")
    if entropy is None or actions is None or epochs is None or parts is None or len(entropy) < params.rows:
        return None
    updates, most = epochs * parts, float(np.log(max(actions, 1.0)))
    start = median(entropy.value[: params.rows])
    if updates < 4 or most <= 0 or abs(start * updates / most - 1) > params.tolerance:
        return None
    return Detection(
        message=f"entropy starts at {start:.3g} nats: ln({actions:.0f}) over the {updates:.0f} updates of a batch",
        onset=from_start(view, entropy),
        metric=entropy.metric,
        evidence={"entropy_nats": start, "ln_actions_nats": most, "updates": updates},
    )
