"""Whether the actor of an actor-critic on Q-values learns through the critic: an identity, read off the graph.

The gradient of such an actor's loss is that of Q with respect to the action. It exists only where the critic is asked,
with gradients on, about an action that still hangs on the actor, and its answer hangs on that action. That is looked at
when the critic is called; nothing is computed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import torch
from torch import Tensor, nn

METRIC = "policy/action_gradient_frac"
NODES = 2000
"""Steps of a graph that are looked through at most for the action: a critic of four layers has thirty. In a larger one
it is taken to be there."""


class ActorGradient:
    """Counts the actor's steps, and those before which the critic was asked through the actor's own action.

    Args:
        critics: The networks that are called with an observation and an action.
        heads: Networks inside them that some losses call directly, with both in one tensor.
        optimiser: That of the actor. A step of it without such a question learns nothing of value.
    """

    def __init__(
        self, critics: Iterable[nn.Module], optimiser: torch.optim.Optimizer, heads: Iterable[nn.Module] = ()
    ) -> None:
        self._asked = self._asked_before = self._seen = self._inside = False
        self._steps = self._led = 0
        self._handles: list[Any] = [optimiser.register_step_post_hook(self._stepped)]
        for critic in critics:
            self._handles.append(critic.register_forward_pre_hook(self._called))
            self._handles.append(critic.register_forward_hook(self._answered, always_call=True))
        for head in heads:
            self._handles.append(head.register_forward_pre_hook(self._head_called))

    def take(self) -> dict[str, float]:
        """Return the share of the actor's steps since the last call that the critic led; nothing without a step."""
        steps, led = self._steps, self._led
        self._steps = self._led = 0
        return {METRIC: led / steps} if steps else {}

    def remove(self) -> None:
        """Take the hooks away."""
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def _called(self, module: nn.Module, given: tuple[Any, ...]) -> None:
        self._inside, self._asked_before = True, self._asked
        # The second argument is the action; an observation may carry a gradient of its encoder in any loss.
        self._note(given[1:2] or given)

    def _answered(self, module: nn.Module, given: tuple[Any, ...], answer: Any) -> None:
        self._inside = False
        if not self._asked_before and self._asked and not _hangs_on(answer, given[1:2] or given):
            self._asked = False  # a wrapper within the critic let the action go

    def _head_called(self, module: nn.Module, given: tuple[Any, ...]) -> None:
        if not self._inside:
            self._note(given)

    def _note(self, given: tuple[Any, ...]) -> None:
        if torch.is_grad_enabled():
            self._seen = True
            self._asked |= any(isinstance(one, Tensor) and one.requires_grad for one in given)

    def _stepped(self, *_: Any) -> None:
        # A critic that was not seen at work at all has been replaced, or is compiled: of it nothing is known.
        self._steps += self._seen
        self._led += self._asked
        self._asked = self._seen = self._inside = False


def _hangs_on(answer: Any, given: Iterable[Any]) -> bool:
    """Whether a gradient of `answer` goes through one of `given`, or nobody can tell."""
    wanted = {id(one): one for one in given if isinstance(one, Tensor) and one.requires_grad}
    nodes = {one.grad_fn for one in wanted.values() if one.grad_fn is not None}
    found = list(cast("tuple[object, ...]", answer)) if isinstance(answer, (tuple, list)) else [answer]
    tensors = [one for one in found if isinstance(one, Tensor)]
    if not tensors or len(tensors) < len(found):
        return True
    waiting: list[Any] = [one.grad_fn for one in tensors if one.grad_fn is not None]
    seen: set[Any] = set()
    while waiting:
        node = waiting.pop()
        if node in nodes or id(getattr(node, "variable", None)) in wanted or len(seen) > NODES:
            return True
        if node not in seen:
            seen.add(node)
            waiting += [before for before, _ in node.next_functions if before is not None]
    return False
