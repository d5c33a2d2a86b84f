"""The TD target of a row is made of that row alone, as the equation says."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..td_rows import GOING_ON, TERMINATED, TRUNCATED, chosen_online, right_bootstrap, targets


@check(
    "INV085",
    "td-target-mixes-rows",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Reduce over actions or twins only, never over the batch.",
    explained_by=(
        "td-target-ignores-target-network",
        "td-target-discount-wrong",
        "td-target-twin-minimum-missing",
        "td-target-truncated-cut",
        "td-loss-scores-other-action",
        "td-target-carries-gradient",
    ),
)
@skips
def look(bench: Bench) -> Answer:
    """The TD target of a row is made of that row alone, as the equation says.

    Measured: the bootstrap of every row, read off the gradient with known next values, against the equation.

    Why it hurts: rows borrow each other's values; the largest next value of the batch feeds everybody.

    Usual causes: a max over the batch, a reduction along the wrong axis, rewards or values clipped on the way.

    What to try: print the target of two rows alone and together.

    Harmless: with n-step, distributional or clipped targets, which have equations of their own.
    """
    found = bench.once(targets)
    if not found.even or not found.mixed.sure:
        return Skip("the rows of the TD loss cannot be told apart", withholds=not found.mixed.sure)
    right, got = right_bootstrap(bench, found), found.bootstrap
    rows = [*range(TRUNCATED.start, GOING_ON.stop)]
    wrong = float((got[rows] - right[rows]).abs().max())
    if bench.pieces.algorithm == "DQN":  # double DQN without a setting that says so
        double = found.expected(chosen_online(found.known, found.online), float(bench.setting("gamma")))
        wrong = min(wrong, float((got[rows] - double[rows]).abs().max()))
    if wrong <= found.error or float(got[TERMINATED].abs().max()) > found.error:
        return None
    spread = float(got[rows].max() - got[rows].min())
    if spread <= found.error:
        return Symptom(
            f"all {len(rows)} rows that go on have the same next value: a maximum is taken over the batch",
            "td_target",
            {"spread": spread, "largest_error": wrong},
        )
    return Symptom(
        f"the target is up to {wrong:.2g} away from r + gamma (1 - terminated) V(next)",
        "td_target",
        {"largest_error": wrong},
    )
