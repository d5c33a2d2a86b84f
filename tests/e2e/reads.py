"""A stub for a GPU: counts, by line of firstbreak's code, what would make the host wait for one.

Values read on the host, shapes that hang on values, and tensors that are made of numbers for a device (a copy to it
that waits). What is on the host by construction is counted as well, since here all is.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

WAITING = ("_local_scalar_dense", "nonzero", "masked_select", "is_nonzero", "equal", "_unique2", "repeat_interleave")
OWN = "/src/firstbreak/"
DEPTH = 12
"""Frames above an operation in which its line is looked for: those of PyTorch lie between."""


class Reads(TorchDispatchMode):
    """Counts while it is entered."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.lines: Counter[str] = Counter()
        for name in ("cpu", "tolist", "numpy"):
            patch.setattr(Tensor, name, self._counted(getattr(Tensor, name), lambda _: True))
        for name in ("tensor", "as_tensor"):
            patch.setattr(torch, name, self._counted(getattr(torch, name), _sent))

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func._schema.name.removeprefix("aten::")
        masked = name == "index" and any(isinstance(i, Tensor) and i.dtype is torch.bool for i in args[1])
        if name in WAITING or masked:
            self._note()
        return func(*args, **(kwargs or {}))

    def _counted(self, make: Callable[..., Any], waits: Callable[[dict[str, Any]], bool]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            if waits({"given": args[0] if args else None, **kwargs}):
                self._note()
            return make(*args, **kwargs)

        return counted

    def _note(self) -> None:
        frame: FrameType | None = sys._getframe(2)
        for _ in range(DEPTH):
            if frame is None:
                return
            path = frame.f_code.co_filename
            if OWN in path:
                self.lines[f"{path.split(OWN)[1]}:{frame.f_code.co_name}"] += 1
                return
            if "/torch/" not in path and path != __file__:
                return
            frame = frame.f_back


def _sent(call: dict[str, Any]) -> bool:
    """Whether a tensor is made of numbers for a device that is named by another tensor, and so may be a GPU."""
    return isinstance(call.get("device"), torch.device) and not isinstance(call["given"], Tensor)
