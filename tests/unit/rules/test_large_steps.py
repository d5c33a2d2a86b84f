"""A run that has taken large steps all along: when its `kl-overshoot` is a note, and when an error."""

from __future__ import annotations

import pytest

from firstbreak import synth
from firstbreak.engine import run_rules
from firstbreak.finding import Severity
from firstbreak.registry import find_rule
from firstbreak.synth import Shape

PPO = synth.like("PPO")
KL, RETURN = "policy/kl_old", "reward/episode_return_mean"
LEARNS = synth.ramp(20, 200, 0.02)
LARGE = synth.spikes(0.2, 1.3, at=(0.6, 0.7, 0.8), noise=0.01)


def severity(kl: Shape, returns: Shape | None) -> Severity:
    """Return how grave the finding is in a run of PPO that logs this return, or none."""
    run = synth.like("PPO", drop=(RETURN,))({KL: kl}) if returns is None else PPO({KL: kl, RETURN: returns})
    (outcome,) = run_rules(run, [find_rule("kl-overshoot")])
    return outcome.findings[0].severity


def test_it_is_a_note_while_the_return_is_kept() -> None:
    assert severity(LARGE, LEARNS) is Severity.INFO


def test_without_a_return_it_is_an_error() -> None:
    assert severity(LARGE, None) is Severity.ERROR


@pytest.mark.parametrize(
    ("kl", "returns"),
    [
        (LARGE, synth.after(0.6, synth.flat(30.0), LEARNS)),
        (LARGE, synth.flat(20.0, 0.02)),
        (synth.spikes(0.2, 12.0, at=(0.6,), noise=0.01), LEARNS),
        (synth.spikes(0.02, 1.3, at=(0.6, 0.7, 0.8), noise=0.01), LEARNS),
        (synth.jump(0.2, 1.3, at=0.02), LEARNS),
    ],
    ids=["the return is gone", "nothing was gained", "a leap beyond all others", "small steps before", "no past"],
)
def test_it_is_an_error_otherwise(kl: Shape, returns: Shape) -> None:
    assert severity(kl, returns) is Severity.ERROR
