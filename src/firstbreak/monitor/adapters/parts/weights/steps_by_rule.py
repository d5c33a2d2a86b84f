"""Whether each step of an optimiser led where its own rule leads, and the next began there: for some entries.

What an optimiser does in a step follows from the weights before it, the state that it left and the settings in force.
Where the weights are elsewhere when the next step begins, something else wrote into them: within the step, after it, or
between two steps of one update, which nobody sees who looks between updates alone. Now and then it is asked, too,
whether the step was given the gradient that the loss left (`given_gradients`), and at each whether it found the state
that the last one left (`kept_state`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from .given_gradients import GivenGradient
from .kept_state import KeptState
from .optimiser_rules import Change, Numbers, rule_of

TENSORS, ENTRIES = 4, 18
"""Tensors of an optimiser that are looked at, and entries of each. Engineering choice: what writes into weights writes
into many, and reading them costs two microseconds."""
EVERY = 32
"""Steps from one that is recomputed to the next, which costs as much as ten looks at whether weights rest in between:
that is seen at each. Engineering choice."""
SLACK = 1e-3
"""Share of a step by which arithmetic in another order may miss it: that of fused steps stays below 1e-5."""
ROUNDING = 4.0
"""Units in the last place of a weight by which adding the step, and decay before it, may be off."""
KINDS = (torch.float32, torch.float64)
LARGEST = 1e6
"""Where a step is nothing, what is told is no more than this."""


class StepsByRule:
    """Looks at every step of optimisers that hold weights on a processor.

    On a graphics card each look would make the step wait, so that none is made there.

    Args:
        optimisers: Public are their hooks, `param_groups` and `state`.
        every: Steps from one that is recomputed to the next.
    """

    def __init__(self, optimisers: Iterable[torch.optim.Optimizer], every: int = EVERY) -> None:
        several = tuple(optimisers)
        held = Counter(id(w) for one in several for group in one.param_groups for w in group["params"])
        # What two optimisers train moves between two steps of the one by steps of the other.
        shared = {weight for weight, count in held.items() if count > 1}
        found = {id(one): Sample.of(one, every, shared) for one in several}
        self.samples = {number: sample for number, sample in found.items() if sample is not None}
        self._handles: list[Any] = [
            sample.optimiser.register_step_post_hook(self._after) for sample in self.samples.values()
        ]

    def before(self, optimiser: Any) -> bool:
        """Say that a step of `optimiser` is about to be made; return whether the last one led elsewhere."""
        sample = self.samples.get(id(optimiser))
        return False if sample is None else sample.begin()

    def look(self) -> bool:
        """Say the same of all where no step is about to be made: afterwards weights may be written into on purpose."""
        return sum(sample.judge() for sample in self.samples.values()) > 0

    def forget(self) -> None:
        """Say that weights are not where the last steps led for a reason that is known."""
        for sample in self.samples.values():
            sample.forget()

    def note(self) -> None:
        """Say that from here to the next step nobody may write into what optimisers remember."""
        for sample in self.samples.values():
            sample.state.note()

    def states(self, forget: bool = False) -> float | None:
        """Return by how much a state was not the one that a step left, at most since it was forgotten."""
        sizes = [sample.state.take(forget) for sample in self.samples.values()]
        return max((size for size in sizes if size is not None), default=None)

    def sizes(self, forget: bool = False) -> dict[int, float]:
        """Return by how much weights were elsewhere than a step led, at most since it was forgotten, by optimiser.

        Over the length of the step; 0 where they were there, nothing where nothing was looked at.
        """
        sizes = {number: sample.size(forget) for number, sample in self.samples.items()}
        return {number: size for number, size in sizes.items() if size is not None}

    def remove(self) -> None:
        """Take the hooks away."""
        for handle in self._handles:
            handle.remove()
        for sample in self.samples.values():
            sample.given.remove()
        self._handles, self.samples = [], {}

    def _after(self, optimiser: Any, *_: Any) -> None:
        if (sample := self.samples.get(id(optimiser))) is not None:
            sample.stepped()


class Sample:
    """Some entries of the weights of one optimiser, and of its state, as views: reading them copies little.

    Args:
        optimiser: Whose steps are looked at.
        weights: The tensors that are looked at, all of its first group and of one type.
        every: Steps from one that is recomputed to the next.
    """

    def __init__(self, optimiser: Any, weights: list[Tensor], every: int) -> None:
        self.optimiser, self.largest, self.every = optimiser, np.nan, every
        self._weights, self._rule = weights, rule_of(optimiser)
        self._places = [_place(weight) for weight in weights]
        self._slack = ROUNDING * float(torch.finfo(weights[0].dtype).eps)
        self._views: dict[str, tuple[list[int], list[Numbers]]] = {}
        self._before: Numbers | None = None
        self._step: tuple[Numbers, Numbers] | None = None
        """The weights before and after the last step."""
        self._steps, self._found = 0, False
        self.given = GivenGradient(weights, every)
        moments = () if self._rule is None else tuple(name for name in self._rule[1] if name != "grad")
        self.state = KeptState(optimiser, weights[-1], moments)

    @staticmethod
    def of(optimiser: Any, every: int, apart_from: Collection[int] = ()) -> Sample | None:
        """Return the sample of an optimiser, of no weights with these ids; None where nothing can be said of it."""
        groups = cast("list[dict[str, Any]]", getattr(optimiser, "param_groups", []))
        weights = [weight for group in groups[:1] for weight in cast("list[Tensor]", group["params"])]
        weights = [weight for weight in weights if weight.requires_grad and id(weight) not in apart_from]
        weights = [weight for weight in weights if _readable(weight)]
        weights = [weight for weight in weights if weight.dtype == weights[0].dtype]
        if not weights:
            return None
        which = sorted({round(at) for at in np.linspace(0, len(weights) - 1, min(TENSORS, len(weights)))})
        return Sample(optimiser, [weights[at] for at in which], every)

    def begin(self) -> bool:
        """Judge the last step, and note the weights that the next one begins with."""
        self._before = self._read("weights", self._weights)
        return self.state.look() | self._judged(self._before)

    def forget(self) -> None:
        """Leave the last step unjudged."""
        self._step = None

    def size(self, forget: bool) -> float | None:
        """Return the largest distance since it was forgotten over the length of the step; None where none was seen."""
        largest = self.largest
        self.largest = np.nan if forget else largest
        return None if np.isnan(largest) else largest

    def judge(self) -> bool:
        """Return whether weights or state are elsewhere than where the last step led, once for each step."""
        return self.state.look() | self._judged(None if self._step is None else self._read("weights", self._weights))

    def _judged(self, now: Numbers | None) -> bool:
        found, self._found = self._found, False
        if self._step is not None and now is not None:
            (before, left), self._step = self._step, None
            if len(now) == len(left):
                found |= self._note(now - left, left - before) if now.tobytes() != left.tobytes() else self._still()
        return found

    def stepped(self) -> None:
        """Note where a step led; every so many are recomputed. One that did not concern all weights is left out."""
        before, self._before, self._step = self._before, None, None
        self.state.note()
        if (gradients := self.given.stepped()) is not None:
            off, left = gradients
            self._found |= self._note(off, left) if off.any() else self._still()
        if before is None or [weight for weight in self._weights if weight.grad is None]:
            return
        now = self._read("weights", self._weights)
        if not len(now) or len(now) != len(before):
            return
        self._step = before, now
        self._steps += 1
        if self._rule is not None and self._steps % self.every == 0 and (moved := self._moved(before)) is not None:
            apart = now - before - moved
            apart[np.abs(apart) <= self._slack * np.abs(before) + SLACK * np.abs(moved)] = 0
            self._found |= self._note(apart, moved) if apart.any() else self._still()

    def _still(self) -> bool:
        self.largest = 0.0 if np.isnan(self.largest) else self.largest
        return False

    def _note(self, apart: Numbers, moved: Numbers) -> bool:
        """Keep how far weights are from where a step led over its length; others tell of what is not finite."""
        far, length = float(np.linalg.norm(apart)), float(np.linalg.norm(moved))
        if not (np.isfinite(far) and np.isfinite(length)):
            return False
        self.largest = float(np.fmax(self.largest, min(LARGEST, far / max(length, far / LARGEST))))
        return True

    def _moved(self, before: Numbers) -> Numbers | None:
        """By how much the step that is just over moves the weights by its rule [E]; None where that is not known."""
        change, needed = cast("tuple[Change, tuple[str, ...]]", self._rule)
        states = [self.optimiser.state.get(weight, {}) for weight in self._weights]
        read: dict[str, Numbers] = {}
        for name in needed:
            parts = [
                weight.grad if name == "grad" else state.get(name)
                for weight, state in zip(self._weights, states, strict=True)
            ]
            if not all(isinstance(part, Tensor) and part.layout is torch.strided for part in parts):
                return None
            read[name] = self._read(name, cast("list[Tensor]", parts))
            if len(read[name]) != len(before):
                return None
        group = self.optimiser.param_groups[0]
        return change(before, read, group | {"lr": float(group["lr"])}, float(states[0].get("step", 0)))

    def _read(self, name: str, tensors: list[Tensor]) -> Numbers:
        """Return the entries [E] of tensors, none where they cannot be read.

        Views are made again where a tensor is another, or lies elsewhere.
        """
        known = self._views.get(name, ([], []))
        # A view keeps its memory alive, so that nothing else can lie there meanwhile.
        keys = [tensor.data_ptr() for tensor in tensors]
        if keys != known[0]:
            if not all(map(_readable, tensors)):
                return np.zeros(0)
            made = [_numbers(tensor, place) for tensor, place in zip(tensors, self._places, strict=True)]
            self._views[name] = known = keys, made
        return np.concatenate(known[1])


def _readable(tensor: Tensor) -> bool:
    plain = type(tensor) in (Tensor, torch.nn.Parameter) and tensor.device.type == "cpu" and tensor.dtype in KINDS
    return bool(plain and tensor.numel() and tensor.is_contiguous())


def _place(weight: Tensor) -> slice:
    """Every so many entries; an odd number, so that they do not all lie in one column."""
    stride = max(1, weight.numel() // ENTRIES) | 1
    return slice(0, stride * ENTRIES, stride)


def _numbers(tensor: Tensor, place: slice) -> Numbers:
    """Entries of a tensor, as a view of its own memory."""
    return cast(Any, tensor.detach()).reshape(-1).numpy()[place]
