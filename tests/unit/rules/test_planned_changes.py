"""What may be a plan is told as a note, and what cannot be one is an alarm."""

from __future__ import annotations

import numpy as np
import pytest

from firstbreak import synth
from firstbreak.api import diagnose
from firstbreak.finding import Severity
from firstbreak.rules.system_resources.step_time_tail import drawn

GRPO = synth.like("GRPO")
OFF, STEP = "policy/kl_coef_off", "time/step"


def severity(metric: str, shape: synth.Shape, name: str) -> Severity:
    return next(f.severity for f in diagnose(GRPO({metric: shape})).findings if f.name == name)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (synth.ramp(0.0, -0.9, 0.0), Severity.INFO),
        (synth.ramp(0.0, 3.0, 0.0), Severity.WARNING),
        (synth.jump(0.0, -1.0, 0.5, 0.0), Severity.WARNING),
        (synth.geometric(0.1, 500.0, 0.0), Severity.ERROR),
        (synth.jump(0.0, -3.0, 0.5, 0.0), Severity.ERROR),
    ],
    ids=["annealed", "grows", "switched off", "runs away", "turned round"],
)
def test_a_kl_coefficient_that_leaves_its_setting(shape: synth.Shape, expected: Severity):
    assert severity(OFF, shape, "kl-coef-not-as-set") is expected


@pytest.mark.parametrize("period", [4, None])
def test_slow_steps_at_one_distance_are_a_note(period: int | None):
    size = len(next(s for s in GRPO({}).series if s.metric == STEP))
    rng = np.random.default_rng(0)
    every = range(4, size, 4) if period else rng.choice(range(4, size), size // 4, replace=False)
    at = tuple(float(place) / size for place in every)
    expected = Severity.INFO if period else Severity.WARNING
    assert severity(STEP, synth.spikes(30, 600, at=at, noise=0.0), "step-time-tail") is expected


@pytest.mark.parametrize(("steps", "expected"), [(4, Severity.INFO), (5, Severity.WARNING)])
def test_a_few_slow_steps_are_a_note_where_the_settings_draw_a_batch_there(steps: int, expected: Severity):
    drawn_every = synth.like("GRPO", config={"steps_per_generation": steps, "num_iterations": 6})
    found = diagnose(drawn_every({STEP: drawn})).findings
    assert next(f.severity for f in found if f.name == "step-time-tail") is expected
