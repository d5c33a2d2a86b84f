"""Real trainings on the processor: no line of the adapters reads more where a row holds more gradient steps.

What `tests/gpu/test_steps_on_a_gpu.py` counts on a GPU, by a stub.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from firstbreak.monitor import Monitor
from tests.e2e.reads import Reads
from tests.gpu import trainings
from tests.gpu.trainings import SUBJECTS
from tests.gpu.waits import grown

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings(
        "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning", "ignore::ResourceWarning"
    ),
]

ON_THE_HOST = {
    "monitor/adapters/sb3.py:_allowed",  # only where the gradient is on the host anyway
    "monitor/adapters/torchrl.py:_allowed",
    "monitor/adapters/parts/weights/steps_by_rule.py:_numbers",  # of weights on the host
    "monitor/adapters/parts/weights/steps_by_rule.py:_moved",
    "monitor/adapters/parts/weights/given_gradients.py:_entries",
    "monitor/adapters/parts/trl/own_scores.py:_alike",  # of numbers that are there
}


@pytest.mark.parametrize("name", ["trl GRPO", "sb3 DQN", "sb3 SAC", "torchrl PPO", "rsl_rl PPO"])
def test_more_gradient_steps_a_row_are_no_more_reads(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trainings, "DEVICE", "cpu")
    train, algorithm = SUBJECTS[name]
    seen: dict[int, Counter[str]] = {}
    rows: set[int] = set()
    reads = Reads(monkeypatch)
    for times in (1, 2):
        reads.lines = Counter()
        with Monitor(tmp_path / f"watched{times}", algorithm=algorithm) as monitor, reads:
            train(algorithm, tmp_path / str(times), monitor, times)
        assert monitor.faults == []
        seen[times] = reads.lines
        rows.add(monitor.rows)
    assert len(rows) == 1
    assert len(seen[1]) > 2  # it counts
    assert {line: counts for line, counts in grown(seen[1], seen[2]).items() if line not in ON_THE_HOST} == {}
