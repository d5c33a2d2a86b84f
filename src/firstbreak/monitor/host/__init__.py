"""What the host shows: memory, GPU, files, threads, and where the wall time goes. Standard library only."""

from __future__ import annotations

from .phases import Phases
from .sampler import HostSampler

__all__ = ["HostSampler", "Phases"]
