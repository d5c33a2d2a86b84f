"""torch, imported when it is first needed.

Its type stubs are partly unknown to a strict checker, so that here the module and its tensors are `Any`; shapes are in
the docstrings.
"""

from __future__ import annotations

from typing import Any, TypeAlias

Tensor: TypeAlias = Any
"""A torch tensor."""


def load_torch() -> Any:
    """Import torch and return it.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import torch
    except ImportError as error:
        from ...errors import missing_extra

        raise missing_extra("torch", "full", "Looking at a trainer") from error
    return torch
