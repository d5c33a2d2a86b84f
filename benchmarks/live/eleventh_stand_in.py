"""The tenth live campaign's code serves the eleventh's subjects: for a while its names stand for ours.

So what plants a fault, and what builds a trainer, is the sealed code of the tenth list itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def standing_in(module: Any, **ours: Any) -> Iterator[None]:
    """Let names of `module`, which must be there, stand for what is given, until the block is left."""
    theirs = {name: getattr(module, name) for name in ours}
    for name, value in ours.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for name, value in theirs.items():
            setattr(module, name, value)
