"""What a TorchRL loss module reports, and what can be measured beside it on the minibatch it was given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import torch
from tensordict import TensorDictBase
from torch import Tensor

from .....errors import InputError
from ....tensors.advantages import follow
from ....tensors.critic import twin_q, values_apart
from ....tensors.quantities import Quantities
from ....tensors.ratios import importance_ratios
from ..in_force import DISCOUNT, plain, rates
from ..refusing import insist_on
from ..settings_in_force import LOSS_WEIGHT, NORMALISED
from ..weights.at_rest import AtRest
from ..weights.gradients import GradientNorm, Judge, WeightChange
from ..weights.target_moves import TargetMoves
from ..weights.untouched import untouched
from .hooks import networks
from .policy import holding_weights, inside

ROWS = 512
"""Rows of the first minibatch on which networks are looked at again. Engineering choice."""
REPORTED = {
    "loss_objective": "policy/loss",
    "loss_actor": "policy/loss",
    "loss_critic": "critic/loss",
    "loss_qvalue": "critic/loss",
    "loss_value": "critic/loss",
    "loss": "critic/loss",
    "loss_alpha": "sac/alpha_loss",
    "alpha": "sac/alpha",
    "entropy": "policy/entropy",
    "kl_approx": "policy/kl_k1",
    "clip_fraction": "policy/clip_fraction",
    "value_clip_fraction": "critic/clip_fraction",
    "ESS": "policy/ess",
    "explained_variance": "critic/explained_variance",
}
"""Keys of the loss modules under canonical names."""

SETTINGS = {
    "clip_epsilon": "policy/clip_range", "entropy_coeff": "policy/ent_coef", "critic_coeff": LOSS_WEIGHT,
    "normalize_advantage": NORMALISED,
}  # fmt: skip
"""Attributes of the loss modules under canonical names."""


class LossWatch:
    """Collects the outputs of a loss module since the last row, and gradient norms before clipping.

    It hangs on public hooks: of the module's `forward`, of autograd and of the optimiser. Everything stays on its
    device until `row`.

    Args:
        loss: A `torchrl.objectives.LossModule`.
        optimisers: What steps its parameters. With one the norm is `optim/grad_norm`; by name, `actor` and `critic`
            give `optim/actor_grad_norm` and `optim/critic_grad_norm`.
        allow: Asked before each step with the gradient's norm; False leaves the step out.
        moved: Told at once of weights and settings that somebody else moved, see `AtRest`.
    """

    def __init__(
        self,
        loss: Any,
        optimisers: dict[str, torch.optim.Optimizer],
        allow: Judge | None = None,
        moved: Callable[[Mapping[str, float]], object] | None = None,
    ) -> None:
        insist_on(loss, "register_forward_hook", "a `torchrl.objectives.LossModule`")
        if not isinstance(cast(Any, optimisers), Mapping):
            raise InputError(f"optimisers is of type {type(optimisers).__name__}.", 'By name: {"": optimiser}')
        self.loss, self._optimisers = loss, dict(optimisers)
        self._quantities = Quantities()
        self.faults: list[str] = []
        """What could not be measured, each once; training goes on."""
        self._first: TensorDictBase | None = None
        self._change: WeightChange | None = None
        self._handle = loss.register_forward_hook(self._seen)
        # Before the gradients: a verdict on what was moved leaves this very step out.
        self._resting = AtRest(optimisers.values(), moved, networks(loss))
        self._gradients = {name: GradientNorm(optimiser, allow) for name, optimiser in optimisers.items()}
        self._targets = TargetMoves(_target_weights(loss))

    def row(self) -> dict[str, float]:
        """Means over the minibatches since the last row, and the networks as they stand on the first of them."""
        for name, gradient in self._gradients.items():
            norms = gradient.take()
            if norms:
                label = "optim/grad_norm" if name in {"", "policy"} else f"optim/{name}_grad_norm"
                self._quantities.add({label: torch.stack(norms).mean()})
        if self._first is not None:
            self._quantities.add(self._tried(self._moved, self._first))
        if self._change is not None:
            moved, norm = self._change.take()
            self._quantities.add({"optim/weight_delta": moved / norm, "net/weight_norm": norm})
        self._quantities.add(self._resting.take())
        self._quantities.add(self._targets.take())
        self._first, self._change = None, None
        self.rest()
        row = self._quantities.numbers()
        return row | self._in_force() | self._resting.settings.row() if row else row

    def rest(self) -> None:
        """Say that from here to the next step of an optimiser nobody may move the weights."""
        self._resting.note()

    def remove(self) -> None:
        """Take all hooks away."""
        self._handle.remove()
        for gradient in self._gradients.values():
            gradient.remove()
        self._resting.remove()

    def _in_force(self) -> dict[str, float]:
        """Learning rates, the discount and the loss's own settings, as they stand."""
        parts = (getattr(self.loss, "_value_estimator", None), self.loss)
        discounts = (plain(getattr(part, "gamma", None)) for part in parts)
        discount = next((one for one in discounts if one is not None), None)
        found = {DISCOUNT: discount} | {name: _setting(self.loss, key) for key, name in SETTINGS.items()}
        return rates(self._optimisers) | {name: value for name, value in found.items() if value is not None}

    def _seen(self, _module: Any, args: tuple[Any, ...], output: Any) -> None:
        """The forward hook; a loss called with plain tensors returns a tuple, which is left alone."""
        if not isinstance(output, TensorDictBase):
            return
        for key, name in REPORTED.items():
            value = cast(Any, output).get(key, None)
            if value is not None:
                self._quantities.average({name: value.detach().mean()})
        if self._first is None and args and isinstance(args[0], TensorDictBase):
            self._first = cast(Any, args[0]).detach().reshape(-1)[:ROWS].clone()
            self._change = WeightChange(self._policy_weights())
            self._quantities.add(self._tried(self._fresh, self._first))

    def _tried(self, measure: Callable[[Any], dict[str, Tensor]], rows: Any) -> dict[str, Tensor]:
        """Measure on rows; networks that cannot be asked about single rows leave a fault and no number."""
        try:
            return measure(rows)
        except Exception as error:  # in a hook of `forward` it would stop training
            text = f"LossWatch: {type(error).__name__}: {error}"
            self.faults += [] if text in self.faults else [text]
            return {}

    def _policy_weights(self) -> list[Tensor]:
        actor: Any = getattr(self.loss, "actor_network_params", None)
        values = self.loss.parameters() if actor is None else actor.values(True, True)
        return [w for w in values if isinstance(w, Tensor) and w.requires_grad]

    def _fresh(self, rows: Any) -> dict[str, Tensor]:
        """Before any step: the ratio, 1 by definition, and stored values against the critic's, alike by definition."""
        return self._first_ratio(rows) | self._valued(rows)

    def _first_ratio(self, rows: Any) -> dict[str, Tensor]:
        """The mean ratio; actions near the bounds of a squashed policy, whose own is rounded, count as 1."""
        scored = self._scored(rows)
        if scored is None:
            return {}
        policy, now, old = scored
        exact = inside(policy, rows.get(self.loss.tensor_keys.action))
        measures = importance_ratios(torch.where(exact, now, old) if exact.shape == now.shape else now, old)
        return {"policy/ratio_first_minibatch": measures["policy/ratio_mean"]}

    def _valued(self, rows: Any) -> dict[str, Tensor]:
        critic: Any = getattr(self.loss, "critic_network", None)
        key = getattr(getattr(self.loss, "tensor_keys", None), "value", None)
        stored = None if key is None else rows.get(key, None)
        if critic is None or not isinstance(stored, Tensor):
            return {}
        with untouched(self.loss), holding_weights(self.loss, "critic_network"):
            return values_apart(stored, critic(rows.select(*critic.in_keys, strict=False)).get(key))

    def _moved(self, rows: Any) -> dict[str, Tensor]:
        """Policy and critics after the update, on the rows it began with."""
        return self._ratios(rows) | self._q_values(rows)

    def _ratios(self, rows: Any) -> dict[str, Tensor]:
        scored = self._scored(rows)
        if scored is None:
            return {}
        _, now, old = scored
        with torch.no_grad():
            measures = dict(importance_ratios(now, old))
            better = rows.get(getattr(self.loss.tensor_keys, "advantage", "advantage"), None)
            if isinstance(better, Tensor) and better.numel() == now.numel():
                better = better.flatten()
                normalised = bool(getattr(self.loss, "normalize_advantage", False))
                measures |= follow(better - better.mean() if normalised else better, old, now)
            return measures

    def _scored(self, rows: Any) -> tuple[Any, Tensor, Tensor] | None:
        """The policy on rows [N], and log-probabilities [N] of their actions: its own, and the stored ones."""
        keys = getattr(self.loss, "tensor_keys", None)
        old_key = getattr(keys, "sample_log_prob", None)
        old = None if old_key is None else rows.get(old_key, None)
        actor = cast(Any, getattr(self.loss, "actor_network", None))
        if not isinstance(old, Tensor) or not hasattr(actor, "get_dist"):
            return None
        with untouched(self.loss), holding_weights(self.loss, "actor_network"):
            policy = actor.get_dist(rows.select(*actor.in_keys, strict=False))
            return policy, policy.log_prob(rows.get(cast(Any, keys).action)).flatten(), old.flatten()

    def _q_values(self, rows: Any) -> dict[str, Tensor]:
        """Both critics on the stored actions; in turn, as each has its own weights."""
        network, weights = getattr(self.loss, "qvalue_network", None), getattr(self.loss, "qvalue_network_params", None)
        if network is None or weights is None or not weights.batch_size:
            return {}
        values: list[Tensor] = []
        with untouched(self.loss):
            for one in weights.unbind(0):
                with one.to_module(network):
                    found = network(rows.select(*network.in_keys, strict=False))
                values.append(found.get("state_action_value").flatten())
        return twin_q(values[0], values[1]) if len(values) > 1 else {"critic/q_mean": values[0].mean()}


def _target_weights(loss: Any) -> list[Tensor]:
    """The weights of delayed value networks, which TorchRL keeps as buffers; none where targets are not delayed."""
    return [w for name, w in loss.named_buffers() if name.startswith("target_") and "value" in name.partition(".")[0]]


def _setting(loss: Any, name: str) -> float | None:
    value = getattr(loss, name, None)
    return float(value) if isinstance(value, bool) else plain(value)
