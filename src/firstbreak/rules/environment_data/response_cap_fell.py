"""The rule `response-cap-fell`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

LONGEST, CUT = "seq/len_max", "seq/truncated_fraction"


@dataclass(frozen=True)
class Params:
    """Thresholds of `response-cap-fell`. Engineering defaults."""

    rows: int = 8
    """Earlier rows that say how long the longest response usually is."""
    lasts: int = 3
    """Rows in a row that must show it."""
    left: float = 0.5
    """Share of the shortest of the earlier rows' longest responses that the longest now reaches at most."""
    cut_frac: float = 0.8
    """Share of responses that must be cut now: answers that grew short by themselves end."""


GRPO = synth.like("GRPO")
HALVED = synth.jump(512.0, 128.0, 0.6, 0.0)
MOST = synth.clipped(synth.jump(0.05, 0.95, 0.6, 0.02), 0, 1)
CASES = (
    fires("the cap is a quarter of what it was", lambda: GRPO({LONGEST: HALVED, CUT: MOST})),
    healthy("the same cap throughout", lambda: GRPO({})),
    near_miss("answers grow short at once, and end", lambda: GRPO({LONGEST: HALVED})),
    near_miss("answers grow into the same cap", lambda: GRPO({LONGEST: synth.constant(512.0), CUT: MOST})),
    near_miss(
        "a stage with a slightly smaller cap",
        lambda: GRPO({LONGEST: synth.jump(512.0, 384.0, 0.6, 0.0), CUT: MOST}),
    ),
)


@rule(
    "ENV025",
    "response-cap-fell",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    needs=(LONGEST, CUT),
    when=("language",),
    params=Params(),
    cases=CASES,
    implies=(
        "all-truncated",
        "truncation-growing",
        "length-lost",
        "length-collapse",
        "reward-is-length",
        "reward-redefined",
        "return-collapse",
        "reward-flat",
        "reward-std-collapse",
        "zero-std-groups",
        "response-collapse",
        "token-entropy-collapse",
        "heldout-regression",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """From one row to the next no response is longer than half of what it was, and most of them are cut there.

    What it means:
        The longest response fell abruptly and stays; nearly all responses reach the new length without an end.

    Why it matters:
        Answers are cut before they are given: the scorer judges beginnings.

    Usual causes:
        A limit that was changed or reloaded (a restart with other settings); an engine whose context length shrank;
        prompts that grew and left less room.

    What to try:
        Print the limit that the sampler works with; rescore a batch with the earlier one.

    When it is harmless:
        A stage with a shorter limit that you began on purpose.

    References:
        Yu et al. 2025, "DAPO", arXiv 2503.14476, section on overlong responses.
    """
    longest, cut = view.get(LONGEST), view.get(CUT)
    assert longest is not None
    assert cut is not None
    shared, at_longest, at_cut = np.intersect1d(longest.step, cut.step, return_indices=True)
    length, share = longest.value[at_longest], cut.value[at_cut]
    for place in range(params.rows, shared.size - params.lasts + 1):
        now = slice(place, place + params.lasts)
        before = float(length[place - params.rows : place].min())
        if np.all(length[now] <= params.left * before) and np.all(share[now] >= params.cut_frac):
            return Detection(
                message=f"the longest response fell from {before:.4g} to {length[place]:.4g}; "
                f"{share[place]:.0%} of all are cut there",
                onset=view.onset(float(shared[place - 1]), float(shared[place])),
                metric=LONGEST,
                evidence={"before": before, "now": float(length[place]), "cut_frac": float(share[place])},
            )
    return None
