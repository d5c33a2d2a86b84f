"""The Q networks inside a TorchRL loss as modules of their own.

A `LossModule` keeps one stateless network and several sets of weights for it: online and target ones, twins stacked in
one tensor. The checks want to hold a network: to ask it, to disturb its weights, to replace what it answers. Each
`view` is a copy of the stateless network whose weights lie in the same memory as one set; what it is made to answer
holds inside the loss, too, wherever the loss calls its network with that set of weights.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, cast

from ..torch_types import Tensor, load_torch

NUDGE_FRAC = 1e-3
"""TorchRL starts targets as exact copies of the online networks, and views are told apart by their weights: targets are
moved by this fraction of each tensor's size once, far less than a few steps of training would."""
KINDS = (("qvalue_network", "state_action_value"), ("value_network", "action_value"))
KINDS_OF_DDPG = (("value_network", "state_action_value"),)


@dataclass
class Networks:
    """The online and the target networks of one loss, and which of their weights are parts of which stored tensor."""

    online: list[Any]
    targets: list[Any]
    stacks: dict[int, list[Tensor]] = field(default_factory=dict[int, "list[Tensor]"])
    """Id of a tensor of the loss -> its parts, as parameters of the views."""


def networks_of(loss: Any, observed: str, *, ddpg: bool) -> Networks | None:
    """The Q networks of `loss`; None where it keeps none under TorchRL's names.

    Args:
        loss: a `LossModule`.
        observed: key of the observation.
        ddpg: whether its `value_network` takes actions.
    """
    for name, key in KINDS_OF_DDPG if ddpg else KINDS:
        params = getattr(loss, f"{name}_params", None)
        if params is None or not hasattr(loss, name):
            continue
        found = Networks([], [])
        shared, count = getattr(loss, name), int(params.shape[0]) if params.batch_dims else None
        target = dict(loss.named_children()).get(f"target_{name}_params")
        if target is not None:
            _nudge(target)
        for place in range(count or 1):
            at = None if count is None else place
            found.online.append(_view(shared, params, at, (observed, key), found.stacks))
            if target is not None:
                found.targets.append(_view(shared, target, at, (observed, key), found.stacks))
        return found
    return None


def _nudge(params: Any) -> None:
    torch = load_torch()

    draw = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for tensor in params.values(True, True):
            if tensor.is_floating_point():
                size = float(tensor.abs().mean()) or 1.0
                tensor.data.add_(NUDGE_FRAC * size * torch.randn(tensor.shape, generator=draw))


def _view(shared: Any, params: Any, place: int | None, keys: tuple[str, str], stacks: dict[int, list[Tensor]]) -> Any:
    """A module over set number `place` of `params` (None: they are not stacked); `shared` is the loss's network."""
    torch = load_torch()

    observed, answered = keys
    net = deepcopy(shared)
    weights: list[tuple[tuple[str, ...], Tensor]] = []
    for path, stored in params.items(True, True):
        names = cast("tuple[str, ...]", path if isinstance(path, tuple) else (path,))
        trains = bool(stored.requires_grad)
        part = torch.nn.Parameter(stored.data if place is None else stored.data[place], requires_grad=trains)
        _put(net, names, part)
        stacks.setdefault(id(stored), []).append(part)
        weights.append((names, part))

    class View(torch.nn.Module):
        """One set of weights."""

        def __init__(self) -> None:
            torch.nn.Module.__init__(self)
            self.net = net

        def forward(self, obs: Tensor, *action: Tensor) -> Tensor:
            """Values [B, actions] of `obs`, or [B, 1] of `obs` and `action`."""
            return net(_rows(observed, obs, *action))[answered]

        def register_forward_hook(self, hook: Callable[..., Any], **more: Any) -> Any:
            """Let `hook` (module, inputs, output) say what the loss's network answers with these weights."""
            del more
            writer = _writer(shared, answered)

            def answer(module: Any, args: Any, rows: Any) -> Any:
                del module, args
                here = torch.stack([(_got(shared, names) == part).all() for names, part in weights]).all()
                own, given = rows[answered], (rows[observed], rows.get("action", None))
                said = hook(self, tuple(one for one in given if one is not None), own)
                rows.set(answered, torch.where(here, said, own))
                return rows

            return writer.register_forward_hook(answer)

    return View()


def _writer(network: Any, key: str) -> Any:
    """The innermost part of `network` that writes the entry `key`."""
    writers = [m for m in network.modules() if key in (getattr(m, "out_keys", None) or ())]
    return next(m for m in writers if not any(m is not other and other in set(m.modules()) for other in writers))


def _rows(observed: str, obs: Tensor, *action: Tensor) -> Any:
    from tensordict import TensorDict

    entries = {observed: obs, **({"action": action[0]} if action else {})}
    return TensorDict(entries, batch_size=[len(obs)])


def _got(module: Any, names: tuple[str, ...]) -> Tensor:
    for name in names:
        module = getattr(module, name)
    return module


def _put(module: Any, names: tuple[str, ...], weight: Tensor) -> None:
    owner = _got(module, names[:-1])
    for held in (owner._parameters, owner._buffers):
        held.pop(names[-1], None)
    owner.register_parameter(names[-1], weight)
