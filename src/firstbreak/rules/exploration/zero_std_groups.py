"""The rule `zero-std-groups`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.environment_data.prompts_lengthened import unless_harder
from firstbreak.rules.exploration.echo_trap import lost_since
from firstbreak.rules.reward_signal import HELD_OUT, rises
from firstbreak.stats import median, persistent_onset, step_change
from firstbreak.stats.level import level
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `zero-std-groups`: engineering defaults, except where a source is named."""

    most: float = 0.5
    """Share of silent groups above which more than half the batch teaches nothing. Engineering default: at pass rate
    p and group size G the expected share is p^G + (1-p)^G."""
    nearly_all: float = 0.9
    """Share at which there is no signal left."""
    points: int = 10
    """Consecutive newest points for an error."""
    mostly: float = 0.75
    """Share below which silent groups that were there from the start are a hint: the other groups do teach."""
    drift_points: int = 30
    """Points for a warning: whether the reward rises must be known."""
    shortfall: float = 0.25
    """Distance of the recent reward from the best that excludes "solved"."""
    z: float = 3.0
    """The same in standard errors, without which groups that fell silent by and by are a note: the best of single
    batches is mostly luck. Engineering default."""


GRPO = synth.like("GRPO")
ONE = synth.like("GRPO", n=1, config={"group_size": 2})
SILENT = synth.clipped(synth.after(0.5, synth.constant(1.0), synth.ramp(0.2, 0.9)), 0, 1)
FALLEN = synth.after(0.5, synth.flat(0.05, 0.1), synth.ramp(0.1, 0.6, 0.03, until=0.5))

REWARDS = ("reward/train_mean", "reward/rollout_mean", "reward/final_mean")

SHORT = 8
"""A log with fewer rows than this can only be judged as a whole, once it has ended."""


def silent_share(pass_rate: float, group: int) -> float:
    """Expected share of groups of `group` responses that are all right or all wrong at `pass_rate`."""
    return pass_rate**group + (1 - pass_rate) ** group


CASES = (
    fires("all silent, reward fallen", lambda: GRPO({"group/zero_std_fraction": SILENT, "reward/train_mean": FALLEN})),
    fires(
        "one row of a run with small groups",
        lambda: ONE({"group/zero_std_fraction": synth.constant(0.77), "reward/train_mean": synth.constant(0.18)}),
    ),
    healthy("a third silent", lambda: GRPO({})),
    fires(
        "all silent from the first update on, at a high reward",
        lambda: GRPO({"group/zero_std_fraction": synth.constant(1.0), "reward/train_mean": synth.constant(0.98)}),
    ),
    near_miss("solved: all silent, reward at its ceiling", lambda: GRPO({"group/zero_std_fraction": SILENT})),
    fires(
        "more than half silent, yet the reward was learned: a hint",
        lambda: GRPO(
            {
                "group/zero_std_fraction": synth.clipped(synth.flat(0.58, 0.2), 0, 1),
                "reward/train_mean": synth.clipped(
                    synth.after(0.3, synth.walk(0.45, 0.13, 0.0), synth.ramp(0.1, 0.45, 0.1, until=0.3)), 0, 1
                ),
            }
        ),
    ),
    near_miss(
        "half silent, reward rising",
        lambda: GRPO(
            {"group/zero_std_fraction": synth.flat(0.6, 0.03), "reward/train_mean": synth.ramp(0.1, 0.9, 0.03)}
        ),
    ),
)


@rule(
    "EXP011",
    "zero-std-groups",
    link=Link.EXPLORATION,
    component=Component.ADVANTAGE,
    severity=Severity.WARNING,
    needs=("group/zero_std_fraction",),
    when=("language",),
    params=Params(),
    cases=CASES,
    implies=("grad-norm-zero", "advantage-collapse", "reward-flat", "reward-std-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Most groups of responses earn one and the same reward, so they carry no advantage.

    What it means:
        A silent group is all right or all wrong. Above half of the groups the batch mostly wastes compute; near all
        of them nothing is learned.

    Why it matters:
        The gradient comes from the few groups left, or from none: the loss and the gradient norm fall to 0.

    Usual causes:
        Prompts too hard or too easy; groups too small; a policy that answers every prompt alike; a failing scorer.

    What to try:
        Split silent groups into all right and all wrong. Then larger groups, a difficulty filter, or a mended scorer.

    When it is harmless:
        When the groups are silent because all are solved: the reward then sits at its ceiling.

    References:
        Yu et al. 2025 (DAPO), arXiv 2503.14476, section 3.2 (dynamic sampling).
    """
    silent, reward = view.get("group/zero_std_fraction"), view.get(*REWARDS)
    assert silent is not None
    if not len(silent):
        return None
    whole = len(silent.source) < SHORT and view.log.state != "running"
    if not whole and len(silent) < params.points:
        return Skip(f"needs {params.points} points of the silent share", ("more points",))
    share = float(silent.value.mean()) if whole else level(silent.value).recent
    never = not whole and _never_any(view, silent, params)
    if share < params.most or (not never and _solved(view, reward, whole, params)):
        return None
    if reward is None or not len(reward):
        return Skip("silent groups are harmless when all are solved", REWARDS[:1])
    stand = level(reward.value)
    dead = not whole and bool((silent.value[-params.points :] >= params.nearly_all).all())
    if np.isnan(stand.shortfall) and dead:
        dead = stand.recent <= 0 and len(silent) >= 2 * params.points
    lasting = float(np.quantile(silent.value[-max(8, len(silent) // 8) :], 0.25)) >= params.most
    if not whole and not dead and (len(silent) < params.drift_points or not lasting):
        return None
    change = step_change(silent.step, silent.value)
    grew = change is not None and change.z > 4 and change.after >= params.most
    lost = np.isnan(stand.shortfall) or lost_since(reward.value, params.shortfall, params.z) is not None
    onset = (change.lo, change.hi) if change is not None and grew else (float(silent.step[0]), float(silent.step[0]))
    if dead and not never:  # an error begins where no signal is left, not where it began to get less
        onset = persistent_onset(silent.step, silent.value >= params.nearly_all, params.points) or onset
    return unless_harder(
        view,
        Detection(
            message=(
                f"{share:.0%} of groups carry no signal"
                f"{_split(view)}; reward {stand.recent:.3g}, best {stand.best:.3g}"
                f"{_expected(view, stand.recent) if whole else ''}"
            ),
            onset=view.onset(*onset),
            metric=silent.metric,
            evidence={"silent_frac": share, "reward": stand.recent, "best": stand.best},
            severity=_severity(share, dead and not never, whole or (grew and lost), grew, params),
        ),
        at=float("inf"),
    )


def _severity(share: float, dead: bool, news: bool, grew: bool, params: Params) -> Severity | None:
    """Return how much it matters, None for as much as usual. A share that was always there is the task's, no break.

    Nor is one that grew while the reward kept what it had: prompts that are settled, one way or the other.
    """
    if dead:
        return Severity.ERROR
    return None if news or (share >= params.mostly and not grew) else Severity.INFO


def _never_any(view: RunView, silent: Points, params: Params) -> bool:
    """Whether next to no group carried a signal from the first update on, and nothing says that all are right.

    A reward at its ceiling excuses groups that fell silent; a run that was never taught anything is worth a word.
    """
    if len(silent) < params.drift_points or view.has("group/all_solved_fraction"):
        return False
    quiet = silent.value >= params.nearly_all
    return bool(quiet.mean() >= params.nearly_all and quiet[: params.points].mean() >= 0.5)


def _solved(view: RunView, reward: Points | None, whole: bool, params: Params) -> bool:
    """Whether the groups are silent because they are right, or what is held out or the reward still climbs."""
    held = view.get(*HELD_OUT)
    if held is not None and rises(held, 1.0) and level(held.value).shortfall <= params.shortfall:
        return True
    right, wrong = view.get("group/all_solved_fraction"), view.get("group/none_solved_fraction")
    if right is not None and len(right):
        return median(right.value[-8:]) >= (median(wrong.value[-8:]) if wrong is not None and len(wrong) else 0.5)
    success = view.get("reward/success_rate")
    if success is not None and len(success) and median(success.value[-8:]) >= 0.95:
        return True
    if reward is None or not len(reward):
        return False
    stand = level(reward.value)
    top = view.number("reward_max")
    if stand.recent >= 0.95 * (1.0 if top is None and whole else top if top is not None else np.inf):
        return True
    if whole:
        return False
    if np.isnan(stand.shortfall):
        return stand.recent > 0
    return stand.rising or stand.shortfall <= params.shortfall


def _split(view: RunView) -> str:
    """How many of the newest groups are all right and all wrong, where that is logged."""
    parts: list[str] = []
    for name, word in (("group/all_solved_fraction", "right"), ("group/none_solved_fraction", "wrong")):
        points = view.get(name)
        if points is not None and len(points):
            parts.append(f"{median(points.value[-8:]):.0%} all {word}")
    return f" ({', '.join(parts)})" if parts else ""


def _expected(view: RunView, pass_rate: float) -> str:
    """What the pass rate and the group size predict, where both are known."""
    group = view.number("group_size")
    if group is None or group < 2 or not 0 <= pass_rate <= 1:
        return ""
    return f"; pass rate and groups of {group:.0f} predict {silent_share(pass_rate, int(group)):.0%}"
