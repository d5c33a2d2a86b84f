"""Real trainings on a GPU: the adapters work there, change nothing, and say what they say on a CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from firstbreak.monitor import Monitor
from tests.gpu import trainings
from tests.gpu.trainings import SUBJECTS

MEASURED = {
    "sb3 PPO": {"optim/grad_norm", "critic/explained_variance", "policy/kl_old", "optim/outside_change_frac"},
    "sb3 A2C": {"optim/grad_norm", "critic/explained_variance", "optim/outside_change_frac"},
    "sb3 DQN": {"optim/grad_norm", "critic/q_mean", "optim/outside_change_frac"},
    "sb3 SAC": {"optim/actor_grad_norm", "critic/q_mean", "optim/outside_change_frac"},
    "sb3 TD3": {"optim/actor_grad_norm", "critic/q_mean", "optim/outside_change_frac"},
    "torchrl PPO": {"optim/grad_norm", "critic/explained_variance", "policy/kl_old"},
    "rsl_rl PPO": {"optim/grad_norm", "critic/explained_variance"},
    "trl GRPO": {
        "policy/loss_residual_frac",
        "sample/unlike_policy_z",
        "reward/golden_mean",
        "optim/second_moment",
        "seq/prompt_loss_frac",
        "policy/ref_logprob_recomputed_gap",
        "optim/gradient_altered_frac",
    },
}


@pytest.mark.filterwarnings("default")  # what the frameworks deprecate is no matter of these tests
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_watched_training_is_the_same_and_the_monitor_makes_no_mistake(name: str, tmp_path: Path):
    framework = name.split(maxsplit=1)[0]
    pytest.importorskip({"sb3": "stable_baselines3"}.get(framework, framework))
    train, algorithm = SUBJECTS[name]
    plain = train(algorithm, tmp_path / "plain", None)
    rows: list[dict[str, Any]] = []
    with Monitor(tmp_path / "watched", algorithm=algorithm) as monitor:
        logged = monitor.log
        monitor.log = lambda metrics, *a, **k: (rows.append(dict(metrics)), logged(metrics, *a, **k))[1]  # type: ignore[method-assign]
        watched = train(algorithm, tmp_path / "watched", monitor)
    assert monitor.faults == []
    assert all(weight.device.type == trainings.DEVICE for weight in watched)
    assert all(torch.equal(one, two) for one, two in zip(plain, watched, strict=True))
    assert not MEASURED[name] - {key for row in rows for key in row}
    assert not [alarm for alarm in monitor.alarms if alarm.finding.severity == "error"]
