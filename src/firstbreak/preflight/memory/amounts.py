"""Bytes in words."""

from __future__ import annotations

from .plan import GIB


def gib(size: float) -> str:
    """Return a number of bytes in GiB, in MiB below a tenth of one."""
    return f"{size / GIB:.1f} GiB" if size >= 0.1 * GIB else f"{size / (1 << 20):.0f} MiB"
