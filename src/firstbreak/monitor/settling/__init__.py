"""Cheap probes that settle what metrics leave open, for any training loop.

Weight fingerprint at each sync, a run at learning rate 0, what each update moved, raw samples, and what doing nothing
earns. Each answers with a small frozen result that says what it means and what it cannot tell.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .do_nothing import BaselineScores, baseline_scores
    from .movement import Movement, MovementResult
    from .raw_samples import RawSamples
    from .sync import SyncCheck, SyncResult
    from .weights import Fingerprint, fingerprint
    from .zero_rate import ZeroRateResult, zero_learning_rate

__all__ = [
    "BaselineScores",
    "Fingerprint",
    "Movement",
    "MovementResult",
    "RawSamples",
    "SyncCheck",
    "SyncResult",
    "ZeroRateResult",
    "baseline_scores",
    "fingerprint",
    "zero_learning_rate",
]

_HOMES = {
    "BaselineScores": ".do_nothing",
    "baseline_scores": ".do_nothing",
    "Movement": ".movement",
    "MovementResult": ".movement",
    "RawSamples": ".raw_samples",
    "SyncCheck": ".sync",
    "SyncResult": ".sync",
    "Fingerprint": ".weights",
    "fingerprint": ".weights",
    "ZeroRateResult": ".zero_rate",
    "zero_learning_rate": ".zero_rate",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'firstbreak.monitor.settling' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name], __name__), name)
