"""The doses at which each fault of ninth_pool.toml was tried in turn; one that is there or not has one."""

from __future__ import annotations

DOSES: dict[str, tuple[float, ...]] = {
    "bound-too-tight": (0.5, 0.15, 0.05),
    "loads-heavier": (1.5, 2.5, 4),
    "action-smoothed": (0.8, 0.95),
    "sensor-stuck": (1, 3),
    "values-wrapped": (1.5, 0.5),
    "shared-with-evaluation": (0.1, 0.4),
    "loss-bound-tighter": (0.6, 0.3),
    "ids-shifted": (1, 3),
    "template-longer": (2, 8),
    "reward-smoothed": (0.9, 0.99),
    "effort-paid": (1, 3),
    "diversity-paid": (1, 3, 10),
    "private-noise": (3, 30),
    "pulled-to-first": (0.003, 0.03),
    "weights-clamped": (0.3, 0.1, 0.03),
    "dropout-on": (0.3, 0.7),
    "targets-cut": (3, 1),
    "noise-never-reset": (0.01, 0.03, 0.1),
    "curiosity-too-large": (1, 3),
    "spread-floor": (-0.5, 0.5),
    "words-banned": (1, 3),
    "torn-weights": (3, 12),
    "logits-clamped": (1, 0.3),
    "weights-pruned": (0.5, 0.9),
    "activations-coarse": (0.5, 1.5),
    "restarts-from-first": (200, 50),
    "torn-rows": (1, 4, 16),
    "restarts-unsaid": (0.03, 0.15),
}
"""What a dose means is said in ninth.toml."""


def doses_of(fault: str) -> tuple[float, ...]:
    """Return the doses of a fault, from small to large."""
    return DOSES.get(fault, (1,))
