"""The rule `reward-pays-length`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import LEAST, TRUTH, began, moved, moved_odds, rises, stretches, together
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-pays-length`. Engineering defaults where no source is named."""

    z: float = 5.0
    """Standard errors by which both reward and length must have risen (inflated for autocorrelation)."""
    ratio: float = 1.3
    """Length over that of the opening. Engineering default."""
    correlation: float = 0.5
    """Rank correlation of reward and length over the rows."""
    hint_ratio: float = 1.5
    """Length over that of the opening for a hint where neither a score nor the cap says more."""
    cut_frac: float = 0.5
    """Share of cut responses, much above the opening's, from which growth is no longer a matter of better answers."""


GRPO = synth.like("GRPO")
LONG = {"seq/len_mean": synth.ramp(150, 330, 0.02), "reward/train_mean": synth.ramp(1.3, 2.6, 0.03)}
CUT = {"seq/truncated_fraction": synth.clipped(synth.ramp(0.1, 1.0, 0.02), 0, 1)}
CASES = (
    fires("length runs into the cap and pays", lambda: GRPO(LONG | CUT)),
    fires(
        "the same, accuracy measured and flat",
        lambda: GRPO(LONG | CUT | {"reward/true_objective": synth.constant(0.0)}),
    ),
    fires("longer and rewarded, nothing else known: a hint", lambda: GRPO(LONG)),
    healthy("length and reward grow a little", lambda: GRPO({"seq/len_mean": synth.ramp(180, 200, 0.03)})),
    near_miss(
        "longer answers are more often right",
        lambda: GRPO(LONG | {"reward/true_objective": synth.ramp(0.2, 0.7, 0.03)}),
    ),
    near_miss(
        "longer without any reward",
        lambda: GRPO({"seq/len_mean": synth.ramp(150, 250, 0.02), "reward/train_mean": synth.flat(0.3)}),
    ),
)


@rule(
    "RWD007",
    "reward-pays-length",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    needs=("seq/len_mean",),
    any_of=(("reward/train_mean", "reward/rollout_mean"),),
    when=("language",),
    min_points=16,
    across_phases=True,
    params=Params(),
    cases=CASES,
    implies=(
        "truncation-growing",
        "no-eos-from-start",
        "repetition-rising",
        "step-time-tail",
        "throughput-decay",
        "gpu-memory-growth",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Reward and response length rise together, and nothing shows that the answers got better.

    What it means:
        Both lie well above the run's opening and move together from row to row; the task's own score is missing or has
        not followed.

    Why it matters:
        A reward that prefers long text is met by longer text; most of the gain of such runs disappears at equal
        length.

    Usual causes:
        A reward model with a length preference; a reward summed over tokens; a format bonus that long text meets.

    What to try:
        Compare rewards within bins of equal length; run a short training with a length penalty and a private score.

    When it is harmless:
        Longer reasoning that is right more often. With a rising score the rule stays silent; without any score and
        without responses running into the cap it is a hint.

    References:
        Singhal et al. 2023, "A long way to go: investigating length correlations in RLHF", arXiv 2310.03716.
    """
    length, reward = view.get("seq/len_mean"), view.get("reward/train_mean", "reward/rollout_mean")
    assert length is not None
    assert reward is not None
    if min(len(length), len(reward)) < 2 * LEAST:
        return None
    longer, gain = moved(length), moved(reward)
    if longer.z < params.z or gain.z < params.z or longer.recent < params.ratio * longer.reference:
        return None
    measured = [p for p in (view.get(n) for n in TRUTH) if p is not None and len(p) >= LEAST]
    if together(length, reward) < params.correlation or any(rises(p) for p in measured):
        return None
    capped = runs_into_cap(view, params)
    if not capped and not measured and longer.recent < params.hint_ratio * longer.reference:
        return None
    if capped and measured:
        severity = Severity.ERROR if len(reward) >= 30 else Severity.WARNING
    else:
        doubled = longer.recent >= 2 * longer.reference
        severity = Severity.WARNING if capped or (measured and doubled and len(reward) >= 30) else Severity.INFO
    return Detection(
        message=f"length {longer.reference:.4g} to {longer.recent:.4g} tokens as reward gains {gain.difference:.3g}",
        onset=began(view, length),
        metric=length.metric,
        evidence={
            "length_opening_tokens": longer.reference,
            "length_recent_tokens": longer.recent,
            "length_z": longer.z,
            "reward_z": gain.z,
            "rank_correlation": together(length, reward),
            "runs_into_cap": capped,
        },
        severity=severity,
    )


def runs_into_cap(view: RunView, params: Params) -> bool:
    """Whether the share of cut responses has grown to a large one."""
    cut = view.get("seq/truncated_fraction")
    if cut is None or len(cut) < 2 * LEAST:
        return False
    change = moved_odds(cut)
    return change.z >= 4 and change.difference >= 1 and median(stretches(cut.value)[1]) >= params.cut_frac
