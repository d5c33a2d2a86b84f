"""The rule `freshness-departs`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.departure import departs
from firstbreak.finding import Component, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """`freshness-departs` has no thresholds of its own: the width of the bands stands in `firstbreak.departure`."""


FRESH = {"async/staleness_mean": synth.flat(1, 0.05)}
STALE = {
    "async/staleness_mean": synth.flat(9, 0.05),
    "policy/kl_ref": synth.after(0.4, synth.flat(0.6, 0.05), synth.clipped(synth.ramp(0.0, 0.05, 0.05), 0, 1)),
    "policy/entropy": synth.after(0.4, synth.flat(3, 0.03), synth.geometric(1.2, 0.5, 0.03)),
}
CASES = (
    fires("samples are nine versions old from the first row on", lambda: synth.beside("GRPO", STALE, usual=FRESH)),
    healthy("a run like the others", lambda: synth.beside("GRPO", usual=FRESH)),
    near_miss(
        "the reward left with it: it comes first",
        lambda: synth.beside("GRPO", STALE | {"reward/train_mean": synth.flat(-5, 0.03)}, usual=FRESH),
    ),
    near_miss(
        "one metric alone",
        lambda: synth.beside("GRPO", {"async/staleness_mean": STALE["async/staleness_mean"]}, usual=FRESH),
    ),
)


@rule(
    "DAT018",
    "freshness-departs",
    link=Link.DATA_FRESHNESS,
    component=Component.ROLLOUT,
    across_phases=True,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The freshness of the data leaves what healthy runs show while the links before it are still as usual.

    What it means:
        Healthy runs of the same task were given with `--baseline`. At least three metrics left the band in which they
        keep it, for two places of the grid on end, and one of freshness (age of samples, versions, replay, mismatch of
        sampler and trainer) left before all others, or together with what it feeds. The links before it were still as
        usual.

    Why it matters:
        Data of another policy than the one that is trained makes each update an answer to a question nobody asked.

    Usual causes:
        Weights that reach the sampler late or not at all; another size or sampling of the replay; batches that are
        repeated; a queue that fills.

    What to try:
        Compare the versions stamped on the samples with the trainer's own, and the fingerprint of the sampler's
        weights after each sync.

    When it is harmless:
        When the run differs on purpose: another task, another scale, other settings. Settings that no healthy run has
        are listed with the evidence.

    References:
        Faults of the fault benchmark are placed in the same way: by the metric that leaves the band of healthy twins.
    """
    return departs(view, Link.DATA_FRESHNESS)
