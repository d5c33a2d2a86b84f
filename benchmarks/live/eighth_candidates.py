"""The doses at which each fault of eighth_pool.toml was tried in turn; one that is there or not has one."""

from __future__ import annotations

DOSES: dict[str, tuple[float, ...]] = {
    "divided-again": (10, 30, 255),
    "limit-shortened": (0.5, 0.15),
    "chance-wider": (3, 10),
    "begins-elsewhere": (2, 6),
    "axis-turned": (1, 3, 6),
    "reading-missing": (0.0003, 0.001, 0.003),
    "padded-on-the-right": (1, 3),
    "end-rewarded": (1, 3, 10),
    "units-smaller": (0.1, 0.03, 0.01),
    "answer-held": (5, 15, 50),
    "rate-below-nothing": (1, 3, 10),
    "actions-in-other-units": (3, 10),
    "repetition-penalised": (1.3, 4, 12),
    "statistics-of-another": (1, 3, 10),
    "averaged-with-a-stranger": (0.001, 0.003, 0.01),
}
"""What a dose means is said in eighth.toml."""


def doses_of(fault: str) -> tuple[float, ...]:
    """Return the doses of a fault, from small to large."""
    return DOSES.get(fault, (1,))
