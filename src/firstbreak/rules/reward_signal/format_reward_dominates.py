"""The rule `format-reward-dominates`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import LEAST, began, moved, rises
from firstbreak.stats import linear_trend, median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `format-reward-dominates`. Engineering defaults where no source is named."""

    share: float = 0.8
    """Share of the total gain that comes from components about form. Engineering default."""
    rows: int = 30
    """Rows before the missing rise of the other components is stated."""
    form_words: tuple[str, ...] = (
        "format",
        "tag",
        "xml",
        "style",
        "json",
        "syntax",
        "template",
        "digit",
        "structure",
        "think",
    )
    """Words in a component's name that say it scores form."""
    task_words: tuple[str, ...] = (
        "accuracy",
        "correct",
        "exact",
        "answer",
        "solve",
        "verify",
        "math",
        "task",
        "outcome",
        "success",
    )
    """Words in a component's name that say it scores the task."""


GRPO = synth.like("GRPO")
FORM = {
    "reward/train_mean": synth.ramp(0.2, 1.1, 0.03, until=0.3),
    "reward/component@format_reward": synth.ramp(0.1, 1.0, 0.02, until=0.3),
}
CASES = (
    fires(
        "format saturates, accuracy flat",
        lambda: GRPO(FORM | {"reward/component@accuracy_reward": synth.walk(0.1, 0.01)}),
    ),
    healthy(
        "accuracy carries the gain",
        lambda: GRPO(
            {
                "reward/component@format_reward": synth.flat(0.9),
                "reward/component@accuracy_reward": synth.ramp(0.1, 0.7),
            }
        ),
    ),
    near_miss(
        "format first, accuracy follows",
        lambda: GRPO(FORM | {"reward/component@accuracy_reward": synth.ramp(0.1, 0.6, 0.03)}),
    ),
    near_miss(
        "nothing rises",
        lambda: GRPO(
            {"reward/component@format_reward": synth.flat(0.4), "reward/component@accuracy_reward": synth.flat(0.1)}
        ),
    ),
)


@rule(
    "RWD009",
    "format-reward-dominates",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    any_of=(("reward/train_mean", "reward/rollout_mean"),),
    when=("language",),
    min_points=30,
    across_phases=True,
    params=Params(),
    cases=CASES,
    implies=("length-collapse", "proxy-divergence"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Nearly all of the reward's gain comes from form, and the task's own component does not rise.

    What it means:
        Components named after format grew and levelled off; those named after correctness stayed where they were.

    Why it matters:
        Once the form is met, groups differ only by noise, and the curve looks like learning without any.

    Usual causes:
        Format bonus as large as the task's reward; accuracy too hard to be met by chance; not gated on correctness.

    What to try:
        Set the format component to zero for a short run, or pay it only together with a right answer.

    When it is harmless:
        Form is often learned first; with a rising task component the rule stays silent.

    References:
        Shao et al. 2024, "DeepSeekMath", arXiv 2402.03300 (rule-based rewards). Engineering defaults.
    """
    reward = view.get("reward/train_mean", "reward/rollout_mean")
    assert reward is not None
    parts = view.family("reward/component")
    form = [n for n, p in parts.items() if any(w in n.lower() for w in params.form_words) and len(p) >= params.rows]
    task = [parts[n] for n in parts if n not in form and any(w in n.lower() for w in params.task_words)]
    if not form or not task:
        return Skip("needs reward components named after form and after the task", ("reward/component",))
    gain = moved(reward)
    if gain.z < 5 or gain.difference <= 0 or any(rises(p) for p in task):
        return None
    if any(median(p.value[-LEAST:]) >= 0.9 for p in task):
        return None
    gains = {n: moved(parts[n]).difference for n in form}
    by_form = sum(max(g, 0.0) for g in gains.values())
    best = parts[max(form, key=lambda n: gains[n])]
    half = best.value.size // 2
    if by_form < params.share * gain.difference or linear_trend(best.step[half:], best.value[half:]).z > 2:
        return None
    return Detection(
        message=f"{min(by_form / gain.difference, 9.99):.0%} of the reward's gain is form, none of it the task",
        onset=began(view, best),
        metric=reward.metric,
        evidence={"form_gain": by_form, "reward_gain": gain.difference, "component": best.source.scope.component},
    )
