"""`Pieces` of an on-policy pair of TorchRL: a collector, an estimator and a loss such as `ClipPPOLoss` or `A2CLoss`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....probes.adapters.torchrl import step_on
from ..pieces import Batch, Pieces
from ..torch_types import Tensor, load_torch
from .torchrl import Made, Pair
from .torchrl_rows import Columns


class OnPolicy(Pair):
    """One collector and on-policy loss, and how to take hold of them."""

    def __init__(self, made: Made) -> None:
        super().__init__(made)
        self.steps = self._collected().shape[0]

    def pieces(self) -> Pieces:
        """Return what can be taken hold of."""
        parts, loss, optimisers = self.parts, self.loss, self.optimisers
        return Pieces(
            algorithm="PPO" if loss is None or hasattr(loss, "clip_epsilon") else "A2C",
            actor=parts.policy,
            critics=[] if parts.value is None else [parts.value],
            optimisers=optimisers,
            rollout=self.rollout,
            minibatch=self.minibatch,
            losses=None if loss is None else self.losses,
            update=None if loss is None or not optimisers else lambda batch: step_on(parts, self.rows.of(batch)),
            log_prob=self.log_prob,
            act=self.act,
            value=None if parts.value is None else self.rows.value,
            advantages=self.columns.advantages if self.columns.usable else None,
            iterate=self.iterate,
            witnessed=self.seen(self.steps),
            predict=self.predict,
            name=self.kind,
            settings=self.settings(),
        )

    @property
    def columns(self) -> Columns:
        """The estimator on columns of numbers."""
        return Columns(self.parts)

    def settings(self) -> dict[str, Any]:
        """The canonical settings that the loss and the estimator tell."""
        loss, estimator = self.parts.loss, self.columns.estimator
        found = self.shared_settings()
        if estimator is not None and hasattr(estimator, "lmbda"):
            found["gae_lambda"] = float(estimator.lmbda)
        names = {"clip_range": "clip_epsilon", "value_coef": "critic_coeff", "entropy_coef": "entropy_coeff"}
        for name, own in names.items():
            value = getattr(loss, own, None)
            if value is not None and not isinstance(value, Mapping):
                found[name] = float(value)
        if not getattr(loss, "entropy_bonus", True):
            found["entropy_coef"] = 0.0
        found["normalises_advantage"] = bool(getattr(loss, "normalize_advantage", False))
        return found

    def _collected(self) -> Any:
        """The next batch of the collector as [T, N], its advantages computed."""
        batch = next(self.batches)
        with load_torch().no_grad():
            if self.parts.advantage is not None:
                self.parts.advantage(batch)
        batch = batch.unsqueeze(0) if batch.batch_dims == 1 else batch
        return batch.transpose(0, 1)

    def rollout(self) -> Batch:
        """One batch of the collector under canonical keys."""
        return self.rows.canonical(self._collected())

    def minibatch(self) -> Batch:
        """The rows of a fresh rollout."""
        return {key: column.flatten(0, 1) for key, column in self.rollout().items()}

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """The entries `loss_*` of the loss."""
        found = self.parts.loss(self.rows.of(batch))
        names = {"loss_objective": "policy", "loss_critic": "value", "loss_entropy": "entropy", "loss_actor": "policy"}
        keys = [str(key) for key in found.keys()]  # noqa: SIM118 (a TensorDict)
        return {names.get(key, key): found[key] for key in keys if key.startswith("loss_")}
