"""The rule `evaluation-departs`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.departure import departs
from firstbreak.finding import Component, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """`evaluation-departs` has no thresholds of its own: the width of the bands stands in `firstbreak.departure`."""


SCORES = {
    "reward/eval_return_mean": synth.ramp(20, 400, 0.03, until=0.8),
    "episode/eval_length_mean": synth.ramp(20, 400, 0.03, until=0.8),
}
CUT = {
    "reward/eval_return_mean": synth.flat(-90, 0.03),
    "episode/eval_length_mean": synth.flat(900, 0.03),
    "policy/entropy": synth.after(0.4, synth.flat(3, 0.03), synth.ramp(0.69, 0.45, 0.02)),
}
CASES = (
    fires("evaluations are of another kind from the first on", lambda: synth.beside("PPO", CUT, usual=SCORES)),
    healthy("a run like the others", lambda: synth.beside("PPO", usual=SCORES)),
    near_miss(
        "the return of training left with them: it comes first",
        lambda: synth.beside("PPO", CUT | {"reward/episode_return_mean": synth.flat(-4000, 0.03)}, usual=SCORES),
    ),
    near_miss(
        "two metrics alone",
        lambda: synth.beside("PPO", {k: v for k, v in CUT.items() if k != "policy/entropy"}, usual=SCORES),
    ),
)


@rule(
    "EVA017",
    "evaluation-departs",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.EVALUATION,
    across_phases=True,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """Evaluations leave what healthy runs show while everything in the training loop is still as usual.

    What it means:
        Healthy runs of the same task were given with `--baseline`. At least three metrics left the band in which they
        keep it, for two places of the grid on end, and one of the evaluation (its score, its lengths) left before all
        others, or together with what it feeds. All links of the loop were still as usual.

    Why it matters:
        A yardstick that changed makes every comparison wrong, and the wrong checkpoint is kept.

    Usual causes:
        Another number of episodes, time limit, temperature or action mode; a normaliser that is not the training's;
        another environment version or test set.

    What to try:
        Evaluate one checkpoint with both protocols (`firstbreak eval`); compare their hashes.

    When it is harmless:
        When the run differs on purpose: another task, another scale, other settings. Settings that no healthy run has
        are listed with the evidence.

    References:
        Faults of the fault benchmark are placed in the same way: by the metric that leaves the band of healthy twins.
    """
    return departs(view, Link.EVALUATION_PROTOCOL)
