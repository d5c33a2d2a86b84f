"""How often a log is written must not change what `weight-norm-growth` says of the same training."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from firstbreak import synth
from firstbreak.finding import Severity
from firstbreak.registry import find_rule
from firstbreak.rules.numerics.weight_norm_growth import NORM
from tests.rules.runs import judge

Curve = Callable[[np.ndarray], np.ndarray]
COURSES: dict[str, tuple[Curve, Severity | None]] = {
    "a DQN that learns CartPole: twelvefold from where it began": (
        lambda t: 20 + 240 * (1 - np.exp(-3 * t)),
        Severity.INFO,
    ),
    "values run away": (lambda t: 20 * np.exp(4 * t), Severity.WARNING),
    "a sixth more": (lambda t: 20 + 3 * t, None),
}
STEPS = 50_000


@pytest.mark.parametrize("rows", [60, 240, 1920, 9600])
@pytest.mark.parametrize("name", COURSES)
def test_the_severity_is_the_same_however_many_rows_there_are(name: str, rows: int) -> None:
    course, expected = COURSES[name]

    def shape(t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return course(t) * (1 + 0.002 * rng.standard_normal(t.size))

    log = synth.run({NORM: shape}, n=rows, step=STEPS / rows, algorithm="DQN", clock="env_steps")
    findings = judge(find_rule("weight-norm-growth"), log).findings
    assert [f.severity for f in findings] == ([] if expected is None else [expected])
