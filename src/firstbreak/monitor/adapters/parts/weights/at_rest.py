"""Between two steps nobody should touch the weights, nor the settings of who makes them: were they left alone?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import torch
from torch import Tensor

from .flat import SMALL, side_by_side
from .kept_state import METRIC as STATE
from .optimiser_settings import OptimiserSettings
from .steps_by_rule import EVERY, StepsByRule

METRIC = "optim/outside_change_frac"
OF_POLICY, OF_CRITIC = "policy/outside_change_frac", "critic/outside_change_frac"
STEPS_OF_POLICY, STEPS_OF_CRITIC = "policy/step_off_frac", "critic/step_off_frac"


class AtRest:
    """Compares the weights of optimisers as an update left them with what the first step after it finds.

    Of some entries the same is asked from one step to the next, see `StepsByRule`.

    Of small models (`flat.SMALL`) a copy is kept, so that what changes no norm is seen, too. Of larger ones only the
    norm of each tensor: two short reductions an update, no copy, no transfer before `take`. What changes no norm (two
    entries that change places) is not seen then.

    Args:
        optimisers: Their hook is public: `register_step_pre_hook`.
        moved: On a processor, told at once by how much the weights were moved, before the step is taken; until the next
            `take` only of what is twice as much again, as something may move them at every step. On a graphics card
            reading the number would make the step wait, so that only `take` says it. Of settings that were moved it
            is told in any case.
        parts: Metric -> the weights of one network, whose change is told under that name besides.
        every: Steps from one that is recomputed to the next; 1 where a step takes long.
    """

    def __init__(
        self,
        optimisers: Iterable[torch.optim.Optimizer],
        moved: Callable[[Mapping[str, float]], object] | None = None,
        parts: Mapping[str, Iterable[Tensor]] | None = None,
        every: int = EVERY,
    ) -> None:
        self._optimisers, self._moved = tuple(optimisers), moved
        self._members = {name: {id(weight) for weight in weights} for name, weights in (parts or {}).items()}
        self._masks: dict[str, Tensor] = {}
        self._kept: Tensor | None = None
        self._still = False
        """Whether the last look found all weights as they were."""
        self._largest: dict[str, Tensor] = {}
        self._told = 0.0
        self.settings = OptimiserSettings(self._optimisers, self._members.get(OF_CRITIC, set()))
        named = ((one, self._steps_of(one)) for one in self._optimisers)
        self._step_names = {id(one): name for one, name in named if name is not None}
        self._by_rule = StepsByRule([one for one in self._optimisers if id(one) in self._step_names], every)
        self._told_of_steps = False
        self._handles = [optimiser.register_step_pre_hook(self._before) for optimiser in self._optimisers]

    @torch.no_grad()
    def note(self) -> None:
        """Say that an update is over: from here to the next step the weights rest."""
        self._kept = self._state()
        self._by_rule.note()

    @torch.no_grad()
    def look_on(self) -> None:
        """Do what `look` and then `note` do; weights that did not move are not copied again."""
        kept = self._kept
        self.look()
        if kept is not None and self._still:
            self._kept = kept
            self._by_rule.note()
        else:
            self.note()

    def look_at_steps(self) -> None:
        """Judge the last step: no other is about to be made, and afterwards weights may be put back on purpose."""
        self._tell_of_steps(self._by_rule.look())

    def look(self) -> None:
        """Compare with the last `note`, once; the first step after it does so by itself."""
        self.look_at_steps()
        self._look()

    @torch.no_grad()
    def _look(self) -> bool:
        """Return whether weights on a processor are not those of the last `note`."""
        (kept, self._kept), self._still = (self._kept, None), False
        if kept is None:
            return False
        now = self._state()
        if now is None or kept.shape != now.shape:
            return False
        if now.device.type == "cpu" and torch.equal(kept, now):
            self._still = True
            if METRIC not in self._largest:  # else the largest change is known, and this one is none
                self._largest = dict.fromkeys(self._names(), torch.zeros(()))
            return False
        changes = self._changes(kept, now)
        self._largest = {
            name: torch.maximum(self._largest[name], change) if name in self._largest else change
            for name, change in changes.items()
        }
        if now.device.type != "cpu":
            return False
        size = float(changes[METRIC])
        if self._moved is not None and math.isfinite(self._told) and not size <= 2 * self._told:  # NaN, too
            self._told = size if math.isfinite(size) else math.inf
            self._moved({name: float(change) for name, change in changes.items()})
        return size != 0

    def take(self) -> dict[str, Tensor]:
        """Return the largest changes [] since the last call over the norms of weights; nothing where none was due.

        Besides, by how much weights were elsewhere than the last step led, over its length [], and by how much states
        of optimisers were others than it left.
        """
        self.look_at_steps()
        largest, self._largest, self._told = self._largest, {}, 0.0
        self._told_of_steps = False
        return largest | {name: torch.tensor(size, device="cpu") for name, size in self._steps(forget=True).items()}

    def remove(self) -> None:
        """Take the hooks away."""
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self._by_rule.remove()

    def _before(self, optimiser: Any, *_: Any) -> None:
        if self._moved is not None and self.settings.step(optimiser):
            self._moved(self.settings.now())
        if self._kept is not None and self._look():
            self._by_rule.forget()  # it is told of already
        self._tell_of_steps(self._by_rule.before(optimiser))

    def _tell_of_steps(self, elsewhere: bool) -> None:
        """Tell of weights that are elsewhere than a step led, once until the next `take`."""
        if elsewhere and self._moved is not None and not self._told_of_steps:
            self._told_of_steps = True
            self._moved(self._steps())

    def _steps(self, forget: bool = False) -> dict[str, float]:
        found: dict[str, float] = {}
        for number, size in self._by_rule.sizes(forget).items():
            name = self._step_names[number]
            found[name] = max(size, found.get(name, 0.0))
        state = self._by_rule.states(forget)
        return found if state is None else found | {STATE: state}

    def _steps_of(self, optimiser: torch.optim.Optimizer) -> str | None:
        """The name for steps of an optimiser; None where networks are known and it trains none of them."""
        held = {id(weight) for group in optimiser.param_groups for weight in group["params"]}
        if not self._members or held & self._members.get(OF_POLICY, set()):
            return STEPS_OF_POLICY
        return STEPS_OF_CRITIC if held & self._members.get(OF_CRITIC, set()) else None

    def _names(self) -> list[str]:
        return [METRIC, *(name for name in self._members if self._share(name))]

    def _changes(self, kept: Tensor, now: Tensor) -> dict[str, Tensor]:
        """Change [] of all weights, and of each part that the optimisers hold, over the norm."""
        apart, found = now - kept, {METRIC: _over(now - kept, kept)}
        for name in self._names()[1:]:
            mine = self._mine(name, now)
            found[name] = _over(torch.where(mine, apart, 0.0), torch.where(mine, kept, 0.0))
        return found

    def _weights(self) -> list[Tensor]:
        return [w for optimiser in self._optimisers for group in optimiser.param_groups for w in group["params"]]

    def _share(self, name: str) -> bool:
        """Whether the optimisers hold weights of a part."""
        return any(id(weight) in self._members[name] for weight in self._weights())

    def _mine(self, name: str, state: Tensor) -> Tensor:
        """Which entries of a state [W] are of a part; made once, as bringing it to a graphics card makes that wait."""
        mine = self._masks.get(name)
        if mine is None or len(mine) != len(state):
            weights = self._weights()
            mine = torch.tensor([id(weight) in self._members[name] for weight in weights], device="cpu")
            if len(weights) != len(state):  # no norms, and not weights of one entry each, where both are the same
                mine = mine.repeat_interleave(torch.tensor([weight.numel() for weight in weights], device="cpu"))
            self._masks[name] = mine = mine.to(state.device)
        return mine

    def _state(self) -> Tensor | None:
        """All weights [W], or the norm of each [W] where they are many; None where there are none."""
        weights = self._weights()
        if not weights:
            return None
        first = weights[0]
        alike = all(weight.device == first.device and weight.dtype == first.dtype for weight in weights)
        if alike and sum(weight.numel() for weight in weights) <= SMALL:
            return side_by_side(weights).float()
        norms: list[Tensor] = cast(Any, torch)._foreach_norm(weights)
        if not alike:
            norms = [norm.to(first.device, torch.float32) for norm in norms]
        return torch.stack(norms).float()


def _over(change: Tensor, kept: Tensor) -> Tensor:
    """Norm of a change over that of what it changed []."""
    return _norm(change) / _norm(kept).clamp_min(torch.finfo(torch.float32).tiny)


def _norm(numbers: Tensor) -> Tensor:
    return cast(Any, torch.linalg).vector_norm(numbers)
