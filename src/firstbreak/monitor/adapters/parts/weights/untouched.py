"""Measuring without a trace: random numbers, training mode and gradients are as they were afterwards."""

from __future__ import annotations

import random
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
import torch


@contextmanager
def untouched(*modules: Any) -> Generator[None]:
    """Measure with `modules` in evaluation mode; afterwards they and every random generator are as before.

    Evaluation mode keeps the running statistics of batch normalisation and draws no dropout.
    """
    state: Any = np.random.get_state()  # the generator that the frameworks use
    python = random.getstate()
    parts = [part for module in modules for part in module.modules() if part.training]
    with cast(Any, torch.random).fork_rng(devices=_devices(modules)), torch.no_grad():
        try:
            for part in parts:
                part.training = False
            yield
        finally:
            for part in parts:
                part.training = True
            np.random.set_state(state)
            random.setstate(python)


def _devices(modules: tuple[Any, ...]) -> list[int]:
    """The graphics cards whose generators a forward pass may use."""
    devices = {p.device for module in modules for p in module.parameters() if p.device.type == "cuda"}
    return sorted(device.index or 0 for device in devices)
