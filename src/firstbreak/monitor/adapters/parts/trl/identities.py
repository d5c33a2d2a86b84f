"""What must hold in a TRL trainer by construction, whatever its task: loss, scores, draws and gradients, one object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from torch import Tensor

from ..obeying import harmless
from ..weights.kept_gradients import KeptGradients
from ..weights.stepping import APART
from .expected import compared, described, expected, own_mask, residual
from .in_force import clip, ended_elsewhere, unscored
from .own_scores import watched
from .sampling import counted_past_end

if TYPE_CHECKING:
    from ....core import Monitor

PULL = "policy/ent_coef_gradient"


class Identities:
    """Told by the tap of the loss what happens; `row` says how far the identities of this update are off.

    Args:
        trainer: The trainer that is looked at.
        monitor: Told where something could not be read.
    """

    def __init__(self, trainer: Any, monitor: Monitor) -> None:
        self.trainer, self.monitor = trainer, monitor
        self.scores = watched(trainer, monitor)
        self.entropies: Any = None
        """Of the micro-batch at hand, where the trainer computes them [B, T]."""
        self._sums: Tensor | None = None
        self._pulled: Tensor | None = None
        """Sum of the loss's derivatives by the entropies of this update's tokens."""
        self._found: dict[str, float] = {}
        self._kept: KeptGradients | None = None
        self._step = getattr(trainer, "training_step", None)
        if self._step is not None:
            trainer.training_step = self._stepping

    def before_loss(self) -> None:
        """Say that the loss of a micro-batch is about to be made."""
        with harmless(self.monitor, "follow the gradients"):
            if not self.trainer.model.training:
                return
            if self._kept is None and not self._spread():
                self._kept = KeptGradients(list(self.trainer.model.parameters()))
            if self._kept is not None:
                self._kept.before_loss()

    def follow_entropies(self) -> None:
        """Read off the derivatives of the loss by the entropies of the micro-batch at hand, where it has any."""
        entropies = self.entropies
        if not isinstance(entropies, Tensor) or not entropies.requires_grad or self.trainer.accelerator.scaler:
            return
        self._pulled = entropies.new_zeros(()) if self._pulled is None else self._pulled

        def pulled(gradient: Tensor) -> None:
            with harmless(self.monitor, "follow the gradient of the entropy"):
                self._pulled = gradient.sum().float() + (0.0 if self._pulled is None else self._pulled)

        cast(Any, entropies).register_hook(pulled)

    def followed(self, gradient: Tensor, logps: Tensor, inputs: Mapping[str, Any], pad: int) -> None:
        """Take the derivative of the loss by log-probabilities [B, T], and those."""
        if self.scores is not None:
            self.scores.in_the_loss(logps, inputs, pad, self.entropies)
        if getattr(self.trainer.accelerator, "scaler", None) is not None or not described(self.trainer):
            return
        skip = bool(getattr(self.trainer, "mask_truncated_completions", False))
        if gradient.shape != inputs["completion_ids"].shape:
            return
        wanted = expected(logps, inputs, self.trainer, own_mask(inputs, pad, skip))
        if wanted is not None:
            sums = compared(gradient, wanted)
            self._sums = sums if self._sums is None else self._sums + sums

    def generated(self, found: Mapping[str, Any], pad: int | None, _: Any, end: int | None) -> None:
        """Take a generated batch."""
        with harmless(self.monitor, "score responses by itself"):
            if pad is None or end is None:
                return
            if self.scores is not None:
                self._found |= self.scores.look(found, pad, end)
            if getattr(self.trainer, "rollout_func", None) is None and "tool_mask" not in found:
                ends = ended_elsewhere(self.trainer, found["completion_ids"], found["completion_mask"], pad)
                ends |= counted_past_end(found["completion_ids"], found["completion_mask"], self.trainer)
                self._found |= {name: float(share) for name, share in ends.items()}
            self._found |= unscored(self.trainer)

    def row(self) -> dict[str, float]:
        """Return what is off in this update, and forget it."""
        row, self._found = self._found, {}
        with harmless(self.monitor, "compare with what the settings ask for"):
            row |= clip(self.trainer)
            if self.scores is not None:
                row |= self.scores.row()
                self.scores.stepped()
            if self._kept is not None:
                row |= self._kept.row()
            if self._sums is not None:
                row |= {name: float(value) for name, value in residual(self._sums).items()}
            if self._pulled is not None:
                row[PULL] = 0.0 - float(self._pulled)
        self._sums = self._pulled = None
        return row

    def _stepping(self, *args: Any, **kwargs: Any) -> Any:
        result: Any = self._step(*args, **kwargs)  # type: ignore[misc]
        with harmless(self.monitor, "follow the gradients"):
            if self._kept is not None:
                self._kept.after_backward()
        return result

    def _spread(self) -> bool:
        kind = getattr(getattr(self.trainer, "accelerator", None), "distributed_type", "")
        return str(getattr(kind, "name", kind)).upper().split(".")[-1] in APART
