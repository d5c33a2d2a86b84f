"""The rule `critic-loss-not-its-targets`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, Skip, Status, fires, healthy, near_miss, rule
from firstbreak.series import Floats, Mask
from firstbreak.stats import median
from firstbreak.view import RunView

LOSS, EXPECTED = "critic/loss", "critic/loss_expected"


@dataclass(frozen=True)
class Params:
    """Thresholds of `critic-loss-not-its-targets`; engineering defaults where no source is named."""

    factor: float = 2.5
    """Loss over the one that is expected, in each of `lasts` rows. Sound runs of DQN, TD3 and SAC reached 1.7 in four
    rows on end (eight runs, 2026-11-26)."""
    lasts: int = 4
    """Rows in a row that must show it at least."""
    odds: float = 1e-3
    """Chance that is left that so many rows on end show it as rows before did: a sample of one batch without the few
    rows that make most of the loss is far below the mean of many batches. Engineering default."""
    rows: int = 16
    """Rows of the opening, in which both must have been alike."""
    alike: float = 1.7
    """Factor either way within which the usual ratio of the opening must lie: where a loss of another kind is trained,
    nothing is said."""


SAC = synth.like("SAC")


def of_few(t: Floats, rng: np.random.Generator) -> Floats:
    """A loss of which more and more comes from a few rows of the buffer, which one batch in two holds in the end."""
    return np.where(rng.random(t.size) < 1 - 0.5 * t, 0.2, 0.02)


CASES = (
    fires(
        "targets of other rows from the middle on",
        lambda: SAC({LOSS: synth.jump(0.2, 1.4, noise=0.05), EXPECTED: synth.jump(0.2, 0.35, noise=0.04)}),
    ),
    healthy("alike", lambda: SAC({LOSS: synth.flat(0.2, 0.04), EXPECTED: synth.flat(0.2, 0.04)})),
    near_miss(
        "both grow: the values do",
        lambda: SAC({LOSS: synth.geometric(0.2, 20.0, 0.2), EXPECTED: synth.geometric(0.2, 20.0, 0.2)}),
    ),
    near_miss(
        "a loss of another kind from the start",
        lambda: SAC({LOSS: synth.flat(2.0, 0.2), EXPECTED: synth.flat(0.2, 0.04)}),
    ),
    near_miss("few rows make most of the loss", lambda: SAC({LOSS: synth.flat(0.15, 0.1), EXPECTED: of_few})),
    near_miss(
        "a large loss in one row",
        lambda: SAC({LOSS: synth.spikes(0.2, 3.0, at=(0.5,)), EXPECTED: synth.flat(0.2, 0.01)}),
    ),
)


@rule(
    "CRT048",
    "critic-loss-not-its-targets",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    needs=(LOSS, EXPECTED),
    when=("q_function",),
    min_points=20,
    params=Params(),
    cases=CASES,
    # No recorded fault was found by it (611 live runs of faults and twins, 2026-11-26), nor targets of other rows that
    # were planted in DQN: rows of sound runs are a hundred times apart as well, seven of eight tenfold.
    status=Status.PREVIEW,
    implies=("value-loss-explosion", "critic-gradient-explosion", "values-jump", "return-collapse", "smooth-decline"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The loss that the critic is trained on is several times the one that its networks and the replay buffer give.

    What it means:
        Beside training, targets are worked out by the book on a sample of the buffer. Both losses were alike; now the
        one of the training code is larger, in more rows on end than the share of such rows before explains.

    Why it matters:
        The critic is fitted to something else than the values of what it sees.

    Usual causes:
        Targets that belong to other rows of the batch; ends that are ignored; a discount, a scale or a bonus that only
        the training code knows; a target network that was exchanged within an update.

    What to try:
        Take one batch; print rewards, ends, the next values and the targets that the training code makes of them.

    When it is harmless:
        A loss that was changed on purpose, or samples that are no longer drawn evenly.

    References:
        Mnih et al. 2015, doi:10.1038/nature14236; Haarnoja et al. 2018, arXiv 1812.05905, equation 5.
    """
    loss, expected = view.get(LOSS), view.get(EXPECTED)
    assert loss is not None
    assert expected is not None
    step, here, there = np.intersect1d(loss.step, expected.step, return_indices=True)
    if step.size <= params.rows + params.lasts:
        return Skip("too few rows that hold both losses")
    with np.errstate(all="ignore"):
        ratio = np.nan_to_num(loss.value[here] / expected.value[there], nan=1.0, posinf=1.0)
    usual = median(ratio[: params.rows])
    if not 1 / params.alike <= usual <= params.alike:
        return Skip("the critic is trained on a loss of another kind")
    place = unlike_before(ratio >= params.factor, params)
    if place is None:
        return None
    now = median(ratio[place:])
    return Detection(
        message=f"the critic is trained on a loss {now:.3g} times that of its own targets; it was {usual:.2g} times",
        onset=view.onset(float(step[place - 1]), float(step[place])),
        metric=LOSS,
        evidence={"ratio": now, "usual_ratio": usual},
    )


def unlike_before(above: Mask, params: Params) -> int | None:
    """Return where rows [n] that are `above` begin and go on for longer than the share of such rows before explains.

    Rows of which a share p are above are so m times on end with probability p^m, at as many places as there are rows.
    """
    ends = np.flatnonzero(np.diff(np.concatenate([[False], above, [False]]).astype(int)))
    for start, stop in zip(ends[::2], ends[1::2], strict=True):
        begin = max(int(start), params.rows)
        share = (1 + np.count_nonzero(above[:start])) / (1 + begin)
        if int(stop) - begin >= max(params.lasts, np.log(params.odds / begin) / np.log(share)):
            return begin
    return None
