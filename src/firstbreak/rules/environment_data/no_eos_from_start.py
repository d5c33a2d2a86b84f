"""The rule `no-eos-from-start`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN, TRUTH, ended, from_start, rises
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `no-eos-from-start`. Engineering defaults where no source is named."""

    truncated_frac: float = 0.9
    """Share of responses without an end-of-sequence token. A model with the right template ends most answers
    itself. Engineering default."""
    rows: int = 3
    """Rows that must show it in a run that goes on."""
    of_rows: float = 0.9
    """Share of rows that must show it: a row of few responses scatters."""
    known: int = 4
    """Points of a score or success rate from which on it is asked. Engineering default."""
    patience: int = 30
    """Rows without a rising reward after which the hint becomes a warning (length of a drift test)."""


GRPO = synth.like("GRPO")
CASES = (
    fires(
        "nothing ever stops, reward flat",
        lambda: GRPO(
            {
                "seq/truncated_fraction": synth.clipped(synth.flat(0.98, 0.01), 0, 1),
                "reward/train_mean": synth.walk(0.1, 0.02),
            }
        ),
    ),
    fires(
        "nothing ever stops nor succeeds, the reward rises",
        lambda: GRPO(
            {
                "seq/truncated_fraction": synth.clipped(synth.flat(0.98, 0.01), 0, 1),
                "reward/train_mean": synth.ramp(-3.5, -3.0, 0.02),
                "reward/success_rate": synth.constant(0.0),
            }
        ),
    ),
    healthy("few truncated", lambda: GRPO({})),
    near_miss(
        "a third is cut at the start, as with base models",
        lambda: GRPO({"seq/truncated_fraction": synth.clipped(synth.ramp(0.35, 0.02, 0.05), 0, 1)}),
    ),
    near_miss(
        "everything is cut late in the run only",
        lambda: GRPO({"seq/truncated_fraction": synth.clipped(synth.ramp(0.3, 1.0, 0.02), 0, 1)}),
    ),
)


@rule(
    "ENV005",
    "no-eos-from-start",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    needs=("seq/truncated_fraction",),
    when=("language",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("reward-flat", "reward-noisy"),
)
def detect(view: RunView, params: Params) -> Answer:
    """From the first row on, almost no response ends by itself.

    What it means:
        At least nine in ten responses reach the length limit, in the first rows and in nine of ten since.

    Why it matters:
        Either the cap is far too small or the model never produces its stop token; both hide what the model can do.

    Usual causes:
        Chat template missing in training; wrong end-of-sequence token; a base model without instruction format; cap
        too small.

    What to try:
        Decode one prompt and one response as the trainer sees them; evaluate the model through the training path.

    When it is harmless:
        Text of fixed length (continuations) is always cut. With a rising score (or, where none is logged, a rising
        reward) this is only a hint; without a single success it is an error.

    References:
        AReaL, "Diagnosing RL performance". Yu et al. 2025, arXiv 2503.14476.
    """
    cut = view.get("seq/truncated_fraction")
    assert cut is not None
    if not len(cut) or not (len(cut) >= params.rows or ended(view)):
        return None
    beyond = cut.value >= params.truncated_frac
    if not beyond[: params.rows].all() or beyond.mean() < params.of_rows:
        return None
    usual = median(cut.value)
    reward = view.get(*TRAIN)
    waited = len(cut) >= params.patience or (ended(view) and len(cut) < params.rows)
    truths = [points for name in TRUTH if (points := view.get(name)) is not None and len(points) >= params.known]
    # A reward that rises beside a score that does not is no sign that answers may be cut.
    stuck = waited and not (any(map(rises, truths)) if truths else rises(reward))
    hopeless = stuck and bool(truths) and all(points.max <= 0 for points in truths)
    return Detection(
        message=f"{usual:.0%} of responses never end, from the first row on ({len(cut)} rows)",
        onset=from_start(view, cut),
        metric=cut.metric,
        evidence={"truncated_frac": usual, "rows": len(cut)},
        severity=Severity.ERROR if hopeless else Severity.WARNING if stuck else Severity.INFO,
    )
