"""The record: what a monitor saw, in local files that a crash cannot corrupt.

`Recorder` writes, the reader `record` reads; `fingerprint` and `parameter_hash` make repeats and drifting ranks show.
"""

from __future__ import annotations

from .hashing import fingerprint, parameter_hash
from .recorder import Recorder

__all__ = ["Recorder", "fingerprint", "parameter_hash"]
