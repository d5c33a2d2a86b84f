"""Advantages and value targets of a TorchRL batch, and whether they are what the rewards beside them make."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor
from torchrl.objectives.value import GAE

from ....tensors.advantages import LEAST_ADVANTAGE, advantages, return_correlation
from ....tensors.critic import value_fit
from ....tensors.quantities import Quantities


def estimates(batch: Any, keys: Any, made: Any) -> dict[str, float]:
    """Raw advantages, and values against the returns that they are fitted to.

    Args:
        batch: After the first epoch, when advantages and targets lie in it.
        keys: The loss module's names.
        made: What made the advantages, None where that is not known.
    """
    found = {name: batch.get(getattr(keys, name, name), None) for name in ("advantage", "value_target", "value")}
    quantities = Quantities()
    if found["advantage"] is not None:
        quantities.add(advantages(found["advantage"]))
    if found["value_target"] is not None:
        target = found["value_target"]
        quantities.add({"critic/target_mean": target.mean(), "critic/target_max": target.max()})
        quantities.add({"critic/target_min": target.min()})
        if found["value"] is not None:
            quantities.add(value_fit(found["value"], target))
            if found["advantage"] is not None:
                quantities.add(return_correlation(found["advantage"], target, found["value"]))
    quantities.add(residual(batch, made))
    return quantities.numbers()


def residual(batch: Any, made: Any) -> dict[str, Tensor]:
    """Return how far advantages [*, T] are from those that rewards, values and ends in the batch make.

    A_t = r_t + gamma (1 - terminated_t) V'_t - V_t + gamma lambda (1 - done_t) A_{t+1} (Schulman et al. 2016, arXiv
    1506.02438, equations 11 and 16), V' being of what followed, which TorchRL stores. Only where its own `GAE` made
    them, and as it made them.
    """
    if type(made) is not GAE or made.average_gae or made.auto_reset_env:
        return {}
    own, steps = made.tensor_keys, int(batch.shape[-1])
    done = batch.get(("next", own.done), None)
    found = [
        *(batch.get(name, None) for name in (own.advantage, own.value)),
        *(batch.get(("next", name), None) for name in (own.value, own.reward)),
        *(done, batch.get(("next", own.terminated), done)),
    ]
    raw = found[0]
    if steps < 2 or any(part is None or part.shape != raw.shape for part in found):
        return {}
    if batch.get(own.steps_to_next_obs, None) is not None:
        return {}
    with torch.no_grad():
        time = batch.ndim - 1
        later = raw.narrow(time, 1, steps - 1).float()
        a, v, follow, reward, over, ended = (cast(Tensor, part).narrow(time, 0, steps - 1).float() for part in found)
        discount, decay = (cast(Tensor, getattr(made, name)) for name in ("gamma", "lmbda"))
        missing = reward + discount * ((1 - ended) * follow + decay * (1 - over) * later) - v - a
        return {"advantage/gae_residual": _rms(missing) / (_rms(raw.float()) + LEAST_ADVANTAGE * _rms(v))}


def _rms(x: Tensor) -> Tensor:
    return x.square().mean().sqrt()
