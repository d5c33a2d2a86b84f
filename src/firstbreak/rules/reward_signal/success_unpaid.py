"""The rule `success-unpaid`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.view import RunView

SUCCESS, SILENT = "reward/success_rate", "group/zero_std_fraction"
ALL, NONE, KEPT = "group/all_solved_fraction", "group/none_solved_fraction", "group/kept_fraction"


@dataclass(frozen=True)
class Params:
    """Thresholds of `success-unpaid`."""

    frac: float = 0.02
    """Share of all groups by which the counts must miss each other: more than averages over ranks or rounding. The
    pigeonhole itself allows none. Engineering default."""
    rows: int = 3
    """Rows that must show it, not on end: a batch without mixed groups cannot. Engineering default."""
    share: float = 0.1
    """Least share of the rows that show it, so that a few odd ones do not convict a long run. Engineering default."""


GRPO = synth.like("GRPO")
BLIND = {
    SUCCESS: synth.clipped(synth.flat(0.4, 0.1), 0, 1),
    SILENT: synth.clipped(synth.flat(0.8, 0.05), 0, 1),
    ALL: synth.clipped(synth.flat(0.05, 0.1), 0, 1),
    NONE: synth.clipped(synth.flat(0.2, 0.1), 0, 1),
}
CASES = (
    fires("four in five groups hold right and wrong answers and earn one reward", lambda: GRPO(BLIND)),
    fires(
        "from the middle on",
        lambda: GRPO(BLIND | {SILENT: synth.clipped(synth.jump(0.25, 0.8, noise=0.05), 0, 1)}),
    ),
    healthy(
        "silent groups are all right or all wrong",
        lambda: GRPO(BLIND | {SILENT: synth.clipped(synth.flat(0.2, 0.05), 0, 1)}),
    ),
    near_miss(
        "as many are silent, all of them wrong",
        lambda: GRPO(
            BLIND
            | {
                SUCCESS: synth.clipped(synth.flat(0.08, 0.1), 0, 1),
                NONE: synth.clipped(synth.flat(0.9, 0.02), 0, 1),
                ALL: synth.constant(0.0),
            }
        ),
    ),
    near_miss(
        "silent at partial credit: no success is among them",
        lambda: GRPO(BLIND | {SUCCESS: synth.clipped(synth.flat(0.1, 0.1), 0, 1)}),
    ),
    near_miss(
        "silent groups are counted before a filter",
        lambda: GRPO(BLIND | {KEPT: synth.clipped(synth.flat(0.2, 0.1), 0, 1)}),
    ),
)


@rule(
    "RWD039",
    "success-unpaid",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    needs=(SUCCESS, SILENT, ALL),
    when=("groups",),
    min_points=3,
    across_phases=True,
    implies=(
        "zero-std-groups",
        "wrong-groups-grow",
        "reward-flat",
        "reward-noisy",
        "advantage-collapse",
        "pass-at-k-falls",
        "heldout-regression",
        "proxy-divergence",
        "return-collapse",
    ),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """Right and wrong answers to one prompt earn the same: the reward does not see what the log counts as success.

    What it means:
        A group in which every answer earns the same can hold successes only if all of its answers are right. So no
        more answers succeed than there are in groups that differ or are all right. The log counts more.

    Why it matters:
        Nothing pulls the policy towards success; it learns whatever else the reward pays, or noise.

    Usual causes:
        Reference answers that belong to other prompts (shifted, shuffled, badly joined); a verifier that compares with
        the wrong field; a component that is computed but not summed; success and reward read from different code.

    What to try:
        Print prompt, answer, reference answer and reward of ten answers that are counted as right.

    When it is harmless:
        When success and silent groups are counted over different samples, as with a filter that drops groups. Where a
        logged share of kept groups or the setting of the filter says so, the rule does not look.

    References:
        The pigeonhole principle; the rule reads off three counts of one batch.
    """
    if filtered(view):
        return Skip("groups are filtered: the counts are not of the same samples")
    success, silent, right = view.get(SUCCESS), view.get(SILENT), view.get(ALL)
    assert success is not None
    assert silent is not None
    assert right is not None
    step = np.intersect1d(np.intersect1d(success.step, silent.step), right.step)
    if step.size < params.rows:
        return Skip("success and groups are not logged in the same rows")
    wins, quiet, solved = (p.value[np.isin(p.step, step)] for p in (success, silent, right))
    odd = wins - (1 - quiet + solved) > params.frac
    if odd.sum() < max(params.rows, params.share * odd.size):
        return None
    first = int(np.flatnonzero(odd)[0])
    return Detection(
        message=f"{median(wins[odd]):.0%} of answers succeed, {median(quiet[odd]):.0%} of groups earn a single reward",
        onset=view.onset(float(step[max(first - 1, 0)]), float(step[first])),
        metric=SILENT,  # the answers differ as they should: it is what they earn that does not
        evidence={"rows": int(odd.sum()), "success_frac": median(wins[odd]), "silent_frac": median(quiet[odd])},
    )


def filtered(view: RunView) -> bool:
    """Whether groups are dropped before they are counted."""
    kept = view.get(KEPT)
    asked = str(view.config("dynamic_sampling", "")).lower() in ("true", "1")
    return asked or (kept is not None and len(kept) > 0 and kept.min < 1)
