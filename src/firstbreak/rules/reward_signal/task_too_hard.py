"""The rule `task-too-hard`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import LEAST, ended, from_start, progress, rises, starts_late
from firstbreak.stats import median
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `task-too-hard`. Engineering defaults where no source is named."""

    silent_frac: float = 0.9
    """Share of groups without any success. With a success rate p per response and groups of 8, 0.9 means p of about
    1.3 % (0.9 = (1 - p)^8)."""
    done_share: float = 0.5
    """Share of the configured steps after which waiting for the first success is a warning; before it is a hint."""
    hint_rows: int = 16
    """Rows from which it is worth a hint in a run that goes on."""
    cut_frac: float = 0.9
    """Share of cut responses from which truncation is the nearer explanation."""


GRPO = synth.like("GRPO")
FEW = synth.like("GRPO", n=3)
HARD = {
    "reward/train_mean": synth.constant(0.0),
    "reward/train_std": synth.constant(0.0),
    "group/zero_std_fraction": synth.constant(1.0),
    "group/none_solved_fraction": synth.constant(1.0),
}
CASES = (
    fires("nothing ever succeeds", lambda: GRPO(HARD)),
    fires("the same in three rows", lambda: FEW(HARD)),
    fires(
        "silent groups at the lowest reward",
        lambda: GRPO(
            {
                "reward/train_mean": synth.clipped(synth.walk(0.002, 0.002), 0, 1),
                "group/zero_std_fraction": synth.clipped(synth.flat(0.97, 0.01), 0, 1),
                "reward/train_min": synth.constant(0.0),
            }
        ),
    ),
    healthy("learns", lambda: GRPO({})),
    near_miss(
        "hard at first, then learns",
        lambda: GRPO(
            {
                "reward/train_mean": synth.clipped(synth.ramp(0.0, 0.6, 0.02, begin=0.02), 0, 1),
                "group/zero_std_fraction": synth.clipped(synth.ramp(0.95, 0.3, 0.02, until=0.5), 0, 1),
            }
        ),
    ),
    near_miss(
        "nothing is ever finished: truncation", lambda: GRPO(HARD | {"seq/truncated_fraction": synth.constant(1.0)})
    ),
    near_miss(
        "silent because all is solved",
        lambda: GRPO({"reward/train_mean": synth.constant(1.0), "group/zero_std_fraction": synth.constant(1.0)}),
    ),
)


@rule(
    "RWD016",
    "task-too-hard",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    any_of=(("group/none_solved_fraction", "group/zero_std_fraction"), ("reward/train_mean", "reward/rollout_mean")),
    when=("groups",),
    across_phases=True,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("zero-std-groups", "reward-constant", "reward-flat", "grad-norm-zero", "reward-noisy"),
)
def detect(view: RunView, params: Params) -> Answer:
    """From the start almost no response succeeds, so almost no group holds a difference.

    What it means:
        At least nine in ten groups have no success at all in every row since the start, and the reward is at its
        floor.

    Why it matters:
        Without a success nothing can be reinforced. The rare one that happens is drowned in noise.

    Usual causes:
        The starting model cannot do the task; the answer format is unknown to it; the scorer rejects right answers.

    What to try:
        Evaluate the starting model through the training path; sample 3/p responses to see a success of probability p.
        If it can do a simpler version: curriculum or filtered prompts. If not: supervised warm start or another base
        model.

    When it is harmless:
        Some runs find the first success late; before half of the configured steps this is a hint.

    References:
        AReaL, "Diagnosing RL performance" (reward rises on the test set only). Yu et al. 2025, arXiv 2503.14476.
    """
    reward = view.get("reward/train_mean", "reward/rollout_mean")
    none, silent = view.get("group/none_solved_fraction"), view.get("group/zero_std_fraction")
    assert reward is not None
    shown = none if none is not None and len(none) else silent
    if shown is None or not len(shown) or not len(reward) or starts_late(shown):
        return None
    cut = view.get("seq/truncated_fraction")
    if shown.min < params.silent_frac or (cut is not None and len(cut) and cut.last >= params.cut_frac):
        return None
    # Silence alone may mean that all is solved: the reward must be known to lie at its floor.
    if shown is silent and not at_floor(view, reward):
        return None
    if rises(reward, 3.0) or (len(shown) < params.hint_rows and not ended(view)):
        return None
    share = progress(view)
    late = ended(view) or (share is not None and share >= params.done_share)
    # A few rows convict only when there is no success at all in them.
    late = late and (len(shown) >= LEAST or (shown.min == 1 and reward.max == reward.min))
    return Detection(
        message=f"at least {shown.min:.0%} of the groups hold no success since the start ({len(shown)} rows)",
        onset=from_start(view, shown),
        metric=shown.metric,
        evidence={"silent_frac_min": shown.min, "reward_median": median(reward.value), "rows": len(shown)},
        severity=Severity.WARNING if late else Severity.INFO,
    )


def at_floor(view: RunView, reward: Points) -> bool:
    """Whether the mean reward is the lowest there is, up to a tenth of successes.

    A share p of binary successes has mean p and standard deviation sqrt(p (1 - p)): a third of it means p of 0.1.
    """
    lowest, spread = view.get("reward/train_min"), view.get("reward/train_std")
    base = view.number("reward_min")
    if base is None:
        base = lowest.min if lowest is not None and len(lowest) else 0.0
    excess = median(reward.value) - base
    return excess <= 0 or (spread is not None and len(spread) > 0 and excess <= median(spread.value) / 3)
