"""The rule `all-truncated`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import ended, from_start
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `all-truncated`. Engineering defaults where no source is named."""

    truncated_frac: float = 0.97
    """Share of responses cut at the limit from which hardly any answer is ever finished. Engineering default: 3 %
    finished answers are one in 32."""
    rows: int = 3
    """Rows that must all show it before an alarm in a run that goes on; a log that ends earlier is judged as it is."""


GRPO = synth.like("GRPO")
SHORT = synth.like("GRPO", n=1)
CAPPED = synth.like("GRPO", drop=("seq/truncated_fraction",), config={"max_response_tokens": 256})
DEAD = {
    "reward/train_mean": synth.constant(0.0),
    "reward/train_std": synth.constant(0.0),
    "group/zero_std_fraction": synth.constant(1.0),
    "seq/truncated_fraction": synth.constant(1.0),
    "seq/len_mean": synth.constant(256.0),
    "optim/grad_norm": synth.constant(0.0),
}
CASES = (
    fires("cap cuts every answer, no reward", lambda: GRPO(DEAD)),
    fires("the same, one row", lambda: SHORT(DEAD)),
    fires("every response gets the same penalty", lambda: GRPO(DEAD | {"reward/train_mean": synth.constant(-1.0)})),
    fires(
        "every length equals the cap", lambda: CAPPED({k: s for k, s in DEAD.items() if k != "seq/truncated_fraction"})
    ),
    healthy("few truncated", lambda: GRPO({})),
    near_miss(
        "always cut but rewarded (fixed-length text)", lambda: GRPO({"seq/truncated_fraction": synth.constant(1.0)})
    ),
    near_miss(
        "no reward yet, answers are finished", lambda: GRPO(DEAD | {"seq/truncated_fraction": synth.constant(0.1)})
    ),
    near_miss(
        "cut at first, then learns",
        lambda: GRPO(
            {
                "seq/truncated_fraction": synth.clipped(synth.ramp(1.0, 0.1, 0.02, until=0.4), 0, 1),
                "reward/train_mean": synth.clipped(synth.ramp(0.01, 0.6, 0.02), 0.001, 1),
            }
        ),
    ),
)


@rule(
    "ENV003",
    "all-truncated",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    any_of=(("seq/truncated_fraction", "seq/len_mean"), ("reward/train_mean", "reward/rollout_mean")),
    when=("language",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "zero-std-groups",
        "reward-constant",
        "reward-flat",
        "grad-norm-zero",
        "task-too-hard",
        "no-eos-from-start",
        "episodes-at-time-limit",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Nearly every response is cut at the length limit, and none of them earns anything that differs.

    What it means:
        Responses end at the cap instead of at an end-of-sequence token, and the reward is the same for all.

    Why it matters:
        The scorer never sees a finished answer. Without differences in reward there is no gradient, so the run
        cannot get out of this by itself.

    Usual causes:
        Response limit too small for the task; missing chat template or stop token, so that nothing ever stops.

    What to try:
        Generate 50 prompts with four times the cap: finished, scored answers convict the cap; endless ones the
        template or the stop token.

    When it is harmless:
        Tasks that score text of fixed length are cut on purpose; their rewards differ and the rule stays silent.

    References:
        Yu et al. 2025, "DAPO", arXiv 2503.14476, section on overlong responses.
    """
    reward = view.get("reward/train_mean", "reward/rollout_mean")
    assert reward is not None
    cut = view.get("seq/truncated_fraction")
    share = cut.min if cut is not None and len(cut) else least_at_cap(view)
    cut = cut if cut is not None and len(cut) else view.get("seq/len_mean")
    if share is None or cut is None:
        return Skip("the share of cut responses is not known", ("seq/truncated_fraction", "config max_response_tokens"))
    if not len(reward) or not (len(cut) >= params.rows or ended(view)):
        return None
    if share < params.truncated_frac or reward.max != reward.min or differs(view):
        return None
    if reward.max != 0 and not view.has("reward/train_std") and not view.has("group/zero_std_fraction"):
        return Skip("a constant reward needs its spread to be judged", ("reward/train_std", "group/zero_std_fraction"))
    return Detection(
        message=f"at least {share:.0%} of responses are cut at the limit and all earn {reward.last:.3g}",
        onset=from_start(view, cut),
        metric=cut.metric,
        evidence={"truncated_frac": share, "reward": reward.last, "rows": len(cut)},
    )


def least_at_cap(view: RunView) -> float | None:
    """Return a lower bound of the share of responses at the cap, from their mean length; None when no cap is known.

    With a mean of m and a cap c, at least 1 - (c - m) of integer lengths are c, where m > c - 1.
    """
    length, cap = view.get("seq/len_mean"), view.number("max_response_tokens")
    if length is None or not len(length) or cap is None:
        return None
    return max(0.0, 1 - (cap - length.min)) if length.max <= cap else None


def differs(view: RunView) -> bool:
    """Whether any logged spread of the reward, or any gradient, says that responses were told apart."""
    for name in ("reward/train_std", "group/reward_std_mean", "optim/grad_norm"):
        points = view.get(name)
        if points is not None and len(points) and points.max > 0:
            return True
    silent = view.get("group/zero_std_fraction")
    return silent is not None and len(silent) > 0 and silent.min < 1
