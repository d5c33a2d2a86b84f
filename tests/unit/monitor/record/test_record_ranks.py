"""Many ranks write without meeting; what goes wrong on one of them is found in their records."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from firstbreak.api import diagnose
from firstbreak.finding import Finding
from firstbreak.loading import load
from firstbreak.monitor.record import Recorder, fingerprint, parameter_hash

RANKS, UPDATES = 3, 60


def train(folder: Path, *, slow: int = -1, skips: int = -1, start: int = UPDATES // 2) -> dict[str, Finding]:
    """Train a linear model with averaged gradients on several ranks; return the findings by name."""
    rng = np.random.default_rng(0)
    recorders = [Recorder(folder, rank=rank, algorithm="A2C", clock="updates") for rank in range(RANKS)]
    weights = [np.zeros((8, 4), np.float32) for _ in range(RANKS)]
    counts = [0] * RANKS
    for update in range(1, UPDATES + 1):
        batches = [rng.standard_normal((16, 8)).astype(np.float32) for _ in range(RANKS)]
        gradients = [batch.T @ (batch @ w - 1) / 16 for batch, w in zip(batches, weights, strict=True)]
        mean = np.mean(gradients, axis=0, dtype=np.float32)
        for rank, recorder in enumerate(recorders):
            if not (rank == skips and update >= start):
                weights[rank] -= np.float32(0.05) * mean
                counts[rank] += 1
            row = {
                "time/update_s": 1.0 + 0.02 * rng.standard_normal() + 2.0 * (rank == slow and update >= start),
                "optim/n_updates": counts[rank],
                "optim/grad_norm": float(np.linalg.norm(gradients[rank])),
                "critic/loss": float(np.mean((batches[rank] @ weights[rank] - 1) ** 2)),
                "net/weight_hash": parameter_hash({"w": weights[rank]}),
            }
            recorder.metrics(row, update, 100.0 + update)
            recorder.batch(fingerprint(batches[rank]), update)
    for recorder in recorders:
        recorder.close()
    named = ("rank-straggler", "rank-skips-optimiser", "ranks-diverge", "batch-repeated")
    return {finding.name: finding for finding in diagnose(folder).findings if finding.name in named}


def test_ranks_that_stay_together_raise_nothing(tmp_path: Path) -> None:
    assert train(tmp_path) == {}
    assert {scope.rank for scope in load(tmp_path).scopes("net/weight_hash")} == {"", "1", "2"}


def test_a_straggler_is_named(tmp_path: Path) -> None:
    (found,) = train(tmp_path, slow=1).values()
    assert (found.name, found.scope.rank) == ("rank-straggler", "1")
    assert found.onset.lo <= UPDATES // 2 <= found.onset.hi
    assert "3" in found.message


def test_rank_0_can_be_the_straggler(tmp_path: Path) -> None:
    (found,) = train(tmp_path, slow=0).values()
    assert (found.name, found.scope.rank) == ("rank-straggler", "")
    assert found.message.startswith("Rank 0 ")


def test_a_rank_that_skips_the_optimiser_is_named_and_its_weights_leave(tmp_path: Path) -> None:
    found = train(tmp_path, skips=2)
    assert set(found) == {"rank-skips-optimiser", "ranks-diverge"}
    assert {finding.scope.rank for finding in found.values()} == {"2"}
    diverged = found["ranks-diverge"].onset
    assert (diverged.lo, diverged.hi) == (UPDATES // 2 - 1, UPDATES // 2)
    assert diagnose(tmp_path).causes[0].name == "ranks-out-of-step"


def test_ranks_started_from_different_weights_differ_from_the_first_row(tmp_path: Path) -> None:
    for rank in range(2):
        kept = Recorder(tmp_path, rank=rank, clock="updates")
        for update in range(1, 4):
            kept.metrics({"net/weight_hash": parameter_hash([np.full(3, rank + update)])}, update)
        kept.close()
    (found,) = [finding for finding in diagnose(tmp_path).findings if finding.name == "ranks-diverge"]
    assert (found.scope.rank, found.onset.hi, found.evidence["at"]) == ("1", 1, 1)
