"""What the steps of a transformers trainer do to its weights, and the settings of its optimiser in force."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from .adam_bound import AdamBound
from .sampled_weights import SampledWeights, decay, held
from .trained_share import trained_share

APART = ("FSDP", "DEEPSPEED", "MEGATRON_LM", "XLA")
"""Kinds of training in which the optimiser holds other tensors than the model by design."""
NORM = "optim/max_grad_norm"


class Stepping:
    """Looks at the weights of `trainer` before and after each step; its answer comes with the next row."""

    def __init__(self, trainer: Any) -> None:
        self.trainer = trainer
        self._sample: SampledWeights | None = None
        self._bound = AdamBound()
        self._found: Mapping[str, Tensor] = {}

    def row(self, optimizer: Any) -> dict[str, float]:
        """Return what the last step did, and how the step ahead is set; to be called right before it."""
        found = {name: float(value) for name, value in self._found.items()}
        self._found = {}
        found = {name: value for name, value in found.items() if not math.isnan(value)}
        limit = getattr(self.trainer.args, "max_grad_norm", None)
        if limit:
            found[NORM] = float(limit)
        found |= decay(optimizer)
        weights = list(self.trainer.model.parameters())
        if not self._apart():
            found |= held(optimizer, weights) | trained_share(self.trainer.model)
            found |= self._bound.look(optimizer, self._betas())
        if self._sample is None:
            self._sample = SampledWeights(weight for weight in weights if weight.requires_grad)
        self._sample.before()
        return found

    def after(self) -> None:
        """Compare: the step is over."""
        if self._sample is not None:
            self._found = self._sample.after()

    def left_out(self) -> None:
        """Say that the step ahead will change nothing, as a verdict wanted it."""
        if self._sample is not None:
            self._sample.forget()

    def _betas(self) -> tuple[float, float] | None:
        one, two = (getattr(self.trainer.args, name, None) for name in ("adam_beta1", "adam_beta2"))
        return None if one is None or two is None else (float(one), float(two))

    def _apart(self) -> bool:
        kind = getattr(getattr(self.trainer, "accelerator", None), "distributed_type", "")
        return str(getattr(kind, "name", kind)).upper().split(".")[-1] in APART
