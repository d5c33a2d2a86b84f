"""Whether a network whose weights rest goes on answering as it did: the same states, the same answers.

What a network gives changes with its weights. A bound, a hook, another mode or another head, put in on the way, changes
it without them: no weight, no norm and no gradient shows that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, cast

import torch
from torch import Tensor

from .gaps import Gaps

METRIC = "policy/answers_moved_frac"
ROWS = 16
"""States that are asked about: one small forward pass. Engineering choice."""
LOWEST = -30.0
"""Logits count as no lower: those of actions that are masked are infinite."""

Ask = Callable[[Any], Tensor | None]


class SameAnswers:
    """Keeps what a network answers to some states, and asks again while its weights rest; draws no random number.

    Args:
        network: What is asked, in evaluation mode.
        ask: From states to answers [N, K]; None where it has none that can be compared.
        weights: What the answers may depend on: nothing is said once one of them was written to. None: all parameters
            and buffers of `network`.
    """

    def __init__(self, network: torch.nn.Module, ask: Ask, weights: Callable[[], list[Tensor]] | None = None) -> None:
        self._network, self._ask = network, ask
        self._weights = weights or (lambda: [*network.parameters(), *network.buffers()])
        self._kept: tuple[Any, Tensor, tuple[tuple[int, int], ...]] | None = None
        """The states, what was answered, and which weights it was answered with."""
        self._known = True
        self.gaps = Gaps(METRIC, settle=True)

    def note(self, states: Any) -> None:
        """Keep what is answered to `states`, of which nobody else may hold the memory."""
        self._kept = None
        found = self._answers(states)
        if found is not None:
            self._kept = states, found.clone(), self._stamp()

    def look(self) -> float | None:
        """Return by how much answers differ from those that were kept, as a share of their size.

        None where weights were written to since, or nothing is kept. A difference is asked about twice, and the smaller
        one counts: one odd answer is none that stays.
        """
        if self._kept is None:
            return None
        states, before, stamp = self._kept
        found = self._apart(states, before)
        if found == 0:
            return found
        if stamp != self._stamp():
            self._kept = None
            return None
        return min(found, self._apart(states, before))

    def tell(self) -> dict[str, float]:
        """Look; return what is worth a row of its own."""
        found = self.look()
        return {METRIC: found} if found is not None and self.gaps.add(found) else {}

    def _apart(self, states: Any, before: Tensor) -> float:
        now = self._answers(states)
        if now is None or now.shape != before.shape:
            self._kept = None
            return 0.0
        found = float(_norm(now - before) / _norm(before).clamp_min(1e-12))
        return found if math.isfinite(found) else 0.0  # what is no number is told elsewhere

    def _answers(self, states: Any) -> Tensor | None:
        if not self._known:
            return None
        self._known = False  # what fails once is not asked again
        with quietly(self._network):
            found = self._ask(states)
        self._known = found is not None
        return found

    def _stamp(self) -> tuple[tuple[int, int], ...]:
        """Which memory the weights lie in, and how often each was written to."""
        return tuple((weight.data_ptr(), weight._version) for weight in self._weights())


@contextmanager
def quietly(network: torch.nn.Module) -> Generator[None]:
    """Ask a network as `untouched` does, at a third of the cost: PyTorch's generators alone are put back."""
    parts = [part for part in network.modules() if part.training]
    cards = [card] if (card := _card(network)) is not None else []
    with cast(Any, torch.random).fork_rng(devices=cards), torch.no_grad():
        try:
            for part in parts:
                part.training = False
            yield
        finally:
            for part in parts:
                part.training = True


def _card(network: torch.nn.Module) -> int | None:
    """The graphics card that a network is on."""
    weight = next(network.parameters(), None)
    return None if weight is None or weight.device.type != "cuda" else weight.device.index or 0


def parameters_of(policy: Any) -> Tensor | None:
    """Return what a distribution is made of [N, K]: logits, or means and spreads; None of other kinds.

    >>> parameters_of(torch.distributions.Normal(torch.zeros(1), torch.ones(1)))
    tensor([[0., 1.]])
    """
    while hasattr(policy, "base_dist"):
        policy = policy.base_dist
    logits = getattr(policy, "logits", None)
    if isinstance(logits, Tensor):
        return logits.clamp(min=LOWEST).reshape(len(logits), -1)
    mean, spread = getattr(policy, "loc", None), getattr(policy, "scale", None)
    if not isinstance(mean, Tensor) or not isinstance(spread, Tensor):
        return None
    return torch.cat([mean.reshape(len(mean), -1), spread.reshape(len(mean), -1)], 1)


def _norm(numbers: Tensor) -> Tensor:
    return cast(Any, torch.linalg).vector_norm(numbers)
