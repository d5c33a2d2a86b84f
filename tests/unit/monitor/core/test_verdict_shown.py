"""How a verdict reads when a loop prints it."""

from __future__ import annotations

import pytest

from firstbreak import Monitor
from firstbreak.monitor.verdict import Verdict


def test_a_verdict_prints_as_one_line() -> None:
    assert str(Verdict()) == "continue"
    with Monitor(algorithm="PPO", act={"kl-overshoot": "stop_training"}) as monitor:
        verdict = monitor.log({"policy/kl_old": 3.0}, step=0)
    assert str(verdict) == "stop_training (kl-overshoot: KL per update reached 3 nats (limit 1))"


@pytest.mark.parametrize("key", ["x\x1b[31m", "x\u202e"])
def test_what_a_key_holds_reaches_no_terminal(key: str) -> None:
    with Monitor(algorithm="PPO") as monitor:
        for step in range(30):
            verdict = monitor.log({key: float("nan"), "policy/kl_old": float("nan")}, step=step)
            assert str(verdict).isprintable()
