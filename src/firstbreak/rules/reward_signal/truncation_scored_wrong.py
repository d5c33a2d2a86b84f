"""The rule `truncation-scored-wrong`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import LEAST
from firstbreak.stats import median, rank_correlation
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `truncation-scored-wrong`: engineering defaults, except where a source is named."""

    level: float = 0.05
    """Share of cut responses. AReaL's guide to diagnosing performance sets this bound."""
    together: float = -0.7
    """Rank correlation of the row-to-row changes of reward and cut share. Calibrated on healthy trainings
    (2026-11-26): where answers must end in time to be right it reaches -0.60; where each cut one lost its point, -1."""
    rows: int = 24
    """Rows with both; the correlation of 24 independent pairs is beyond 0.7 once in 5,000."""


GRPO = synth.like("GRPO")
PENALISED = synth.like("GRPO", config={"missing_eos_penalty": 1.0})

CUT = "seq/truncated_fraction"
REWARDS = ("reward/train_mean", "reward/rollout_mean")
SHARE = synth.clipped(synth.flat(0.2, 0.3), 0, 1)


def swinging(base: float, swing: float) -> synth.Shape:
    """The same ups and downs around `base`, `swing` in size."""
    return lambda t, rng: base + swing * np.sin(97 * t)


CASES = (
    fires(
        "each cut answer is a lost point",
        lambda: GRPO({CUT: swinging(0.2, 0.08), "reward/train_mean": swinging(0.6, -0.07)}),
    ),
    healthy("few are cut", lambda: GRPO({})),
    near_miss("many cut, reward apart from it", lambda: GRPO({CUT: SHARE})),
    near_miss(
        "what does not end is to cost something",
        lambda: PENALISED({CUT: swinging(0.2, 0.08), "reward/train_mean": swinging(0.6, -0.07)}),
    ),
    near_miss("one row", lambda: GRPO({CUT: synth.spikes(0.01, 0.5, at=(0.5,))})),
)


def penalised(view: RunView) -> bool:
    """Whether the settings make an answer that does not end cost something."""
    penalty = view.number("missing_eos_penalty")
    return penalty is not None and penalty > 0


@rule(
    "RWD032",
    "truncation-scored-wrong",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    needs=(CUT,),
    any_of=(REWARDS,),
    when=("language",),
    min_points=24,
    implies=("reward-noisy",),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The reward goes up and down with the share of responses that were cut.

    What it means:
        From row to row the reward falls exactly when more responses hit the length limit: what is scored there is the
        limit, not the answer.

    Why it matters:
        A right beginning that was cut is punished like a wrong answer; the noise of it teaches brevity or nothing.

    Usual causes:
        A limit just above the usual length; cut responses scored 0 and trained on.

    What to try:
        Score the cut responses of one batch again with twice the limit; mask them or use a soft overlong penalty.

    When it is harmless:
        When hard prompts are both longer and wrong: compare within one prompt. Where the settings take something off
        for an answer that does not end (`missing_eos_penalty`) that is their purpose, and nothing is said.

    References:
        Yu et al. 2025 (DAPO), arXiv 2503.14476, section 3.4 (overlong filtering). AReaL, "Diagnosing RL performance".
    """
    if penalised(view):
        return Skip("missing_eos_penalty takes something off for each answer that is cut")
    cut, reward = view.get(CUT), view.get(*REWARDS)
    assert cut is not None
    assert reward is not None
    common = sorted(set(cut.step.tolist()) & set(reward.step.tolist()))
    if len(common) < params.rows or median(cut.value[-LEAST:]) < params.level:
        return None
    share = cut.value[np.isin(cut.step, common)]
    score = reward.value[np.isin(reward.step, common)]
    link = rank_correlation(np.diff(share), np.diff(score))
    if link > params.together:
        return None
    return Detection(
        message=f"reward and cut share move against each other from row to row: correlation {link:.2f}",
        onset=view.onset(common[0], common[len(common) // 2]),
        metric=CUT,
        evidence={"rank_correlation": link, "cut_frac": median(cut.value[-LEAST:]), "rows": len(common)},
    )
