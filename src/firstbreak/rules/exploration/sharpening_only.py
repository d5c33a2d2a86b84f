"""The rule `sharpening-only`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import HELD_OUT, rises
from firstbreak.stats import linear_trend, median, monotone_z
from firstbreak.stats.level import opening
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `sharpening-only`: engineering defaults, except where a source is named."""

    spent_frac: float = 0.3
    """Share of the opening token entropy. Cui et al. 2025 (arXiv 2505.22617) see nine tenths of the gain bought with
    nearly all of the entropy."""
    drop: float = 0.03
    """Fall of pass@k along its line, as a fraction of problems. Engineering default."""
    z: float = -3.0
    """z of that line."""
    evaluations: int = 6
    """Evaluations needed for it."""


GRPO = synth.like("GRPO")

TRIES, ENTROPY = "reward/eval_pass_at_k", "policy/entropy"
SPENT = {ENTROPY: synth.geometric(1.2, 0.1, 0.05)}

CASES = (
    fires("reward up, pass@k down, entropy spent", lambda: GRPO({**SPENT, TRIES: synth.ramp(0.7, 0.6, 0.01)})),
    healthy("both rise", lambda: GRPO({TRIES: synth.ramp(0.6, 0.75, 0.02)})),
    near_miss(
        "single tries fall as well",
        lambda: GRPO({**SPENT, TRIES: synth.ramp(0.7, 0.4, 0.01), "reward/eval_mean": synth.ramp(0.5, 0.2, 0.01)}),
    ),
    near_miss("entropy spent, pass@k kept", lambda: GRPO({**SPENT, TRIES: synth.flat(0.7, 0.02)})),
    near_miss("pass@k falls with plenty of entropy", lambda: GRPO({TRIES: synth.ramp(0.7, 0.6, 0.01)})),
)


@rule(
    "EXP019",
    "sharpening-only",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.INFO,
    needs=(TRIES, ENTROPY),
    any_of=(("reward/train_mean", "reward/rollout_mean"),),
    when=("language",),
    min_points=6,
    across_phases=True,
    implies=("pass-at-k-falls", "token-entropy-collapse", "zero-std-groups"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The reward rises on entropy that is being used up, while fewer problems can be solved at all.

    What it means:
        Single tries get better because the policy repeats what it already could; with many tries it now solves less.

    Why it matters:
        The ceiling sinks while the curve climbs: when the entropy is gone, both stop. Most runs that reward right
        answers do so (Yue et al. 2025), and what is asked for does get better: a note, no fault.

    Usual causes:
        Symmetric clipping, too high a learning rate, prompts that are too easy, no anchor to the reference.

    What to try:
        Clip higher, filter solved prompts, anchor by KL; compare pass@k of start and now at temperature 1.

    When it is harmless:
        When only single tries will ever count.

    References:
        Cui et al. 2025, arXiv 2505.22617. Yue et al. 2025, arXiv 2504.13837.
    """
    tries, entropy = view.get(TRIES), view.get(ENTROPY)
    reward = view.get("reward/train_mean", "reward/rollout_mean")
    assert tries is not None
    assert entropy is not None
    start = opening(entropy.value)
    if start <= 0 or len(entropy) < 8 or len(tries) < params.evaluations or not rises(reward):
        return None
    spent = median(entropy.value[-5:]) / start
    single = view.get(*HELD_OUT)
    if single is not None and (
        monotone_z(single.value) <= params.z or linear_trend(single.step, single.value).z <= params.z
    ):
        return None  # single tries get worse as well: the policy is not sharpened, it is lost
    line = linear_trend(tries.step, tries.value)
    if spent > params.spent_frac or line.change > -params.drop or line.z > params.z:
        return None
    return Detection(
        message=f"pass@k fell from {line.start:.3g} to {line.end:.3g} on {spent:.0%} of the opening entropy",
        onset=view.onset(float(tries.step[0]), float(tries.step[len(tries) // 2])),
        metric=TRIES,
        evidence={"entropy_share_frac": spent, "start_frac": line.start, "end_frac": line.end, "z": line.z},
    )
