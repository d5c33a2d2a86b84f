"""What an update moved, network by network: gradient norms, weight change, and tensors that stand still.

The norms are those of `firstbreak.monitor.tensors`; this adds which tensors have no gradient, no optimiser, or a
gradient and yet do not move. Needs PyTorch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ...errors import InputError
from .weights import Fingerprint, fingerprint

if TYPE_CHECKING:
    from ..tensors import WeightChange

MOST_NAMES = 8


@dataclass(frozen=True)
class NetworkMovement:
    """One network in one update. Names are at most 8 of each kind."""

    network: str
    tensors: int
    """Parameters that require a gradient."""
    at_rest: int
    """Of those, how many did not change."""
    without_gradient: tuple[str, ...]
    zero_gradient: tuple[str, ...]
    """With a gradient that is 0 everywhere."""
    without_optimiser: tuple[str, ...]
    """Held by no optimiser that was given; empty where none was given."""
    held_still: tuple[str, ...]
    """With a gradient that is not 0, and yet unchanged."""
    low_precision: bool
    """Whether those that were held still are of 16 bits or fewer: a small step is then lost in rounding."""

    @property
    def verdict(self) -> str:
        """`moves`, `at rest` (nothing moved), or `partly at rest`."""
        if not self.tensors:
            return "nothing to train"
        return "moves" if not self.at_rest else "at rest" if self.at_rest == self.tensors else "partly at rest"

    @property
    def meaning(self) -> str:
        """What it says, in a few sentences."""
        said = [f"{self.network}: {self.tensors - self.at_rest} of {self.tensors} tensors moved."]
        reasons = (
            (self.without_optimiser, "in no optimiser"),
            (self.without_gradient, "without a gradient: the loss does not reach them"),
            (self.zero_gradient, "with a gradient of exactly 0"),
        )
        said += [f"{_some(names)} {words}." for names, words in reasons if names]
        if self.held_still:
            why = (
                "the step is lost in rounding"
                if self.low_precision
                else "rate 0, a skipped step, or a copy was stepped"
            )
            said.append(f"{_some(self.held_still)} with a gradient but unchanged: {why}.")
        return " ".join(said)


@dataclass(frozen=True)
class MovementResult:
    """What `Movement.after_step` returns."""

    networks: tuple[NetworkMovement, ...]
    numbers: Mapping[str, float]
    """Canonical gradient norms and weight changes."""

    @property
    def verdict(self) -> str:
        """The worst of the networks': `at rest`, `partly at rest`, `moves`; `nothing to train`."""
        found = {one.verdict for one in self.networks}
        return next((v for v in ("at rest", "partly at rest", "moves") if v in found), "nothing to train")

    @property
    def meaning(self) -> str:
        """What it says, a sentence or two for each network."""
        return " ".join(one.meaning for one in self.networks)

    @property
    def cannot_tell(self) -> str:
        """What it does not say."""
        return (
            "Whether it moves the right way. One update only: a scaler may skip it, a mixture may leave experts out. "
            "Of large tensors a sample is looked at."
        )

    @property
    def settles(self) -> tuple[str, ...]:
        """Rules and causes that it helps to decide."""
        return ("policy-frozen", "frozen-policy", "critic-frozen", "critic-detached", "grad-norm-zero", "no-gradient")

    def metrics(self) -> dict[str, float]:
        """Numbers for `Monitor.log`."""
        return dict(self.numbers)


class Movement:
    """Looks at networks before and after an optimiser step: now and then, or at every update of a small model.

    Args:
        networks: Name (`actor`, `critic`, `policy` ...) -> module.
        optimisers: Those that are to move them; without, who holds a parameter is not looked at.
    """

    def __init__(self, networks: Mapping[str, Any], optimisers: Iterable[Any] = ()) -> None:
        if not networks:
            raise InputError("No network was given.", 'For example: Movement({"actor": actor, "critic": critic})')
        self._networks = dict(networks)
        self._optimisers = list(optimisers)
        self._change: WeightChange | None = None
        self._before: dict[str, Fingerprint] = {}
        self._gradients: dict[str, dict[str, float | None]] = {}
        self._norms: dict[str, Any] = {}

    def before_step(self) -> None:
        """Look at gradients and weights: after `backward`, before clipping and before the step."""
        from ..tensors import WeightChange, gradient_norms

        self._norms = dict(gradient_norms(self._networks))
        self._change = WeightChange(self._networks)
        self._before = {name: fingerprint(_trained(n)) for name, n in self._networks.items() if _trained(n)}
        self._gradients = {name: _largest(network) for name, network in self._networks.items()}

    def after_step(self) -> MovementResult:
        """Look again, and say what moved since `before_step`.

        Raises:
            InputError: `before_step` was not called.
        """
        from ..tensors import Quantities

        if self._change is None:
            raise InputError("after_step without before_step.", "Call before_step() after backward().")
        quantities = Quantities()
        quantities.add({**self._norms, **self._change.measure()})
        self._change = None
        networks = tuple(self._one(name, network) for name, network in self._networks.items())
        return MovementResult(networks, quantities.numbers())

    def _one(self, name: str, network: Any) -> NetworkMovement:
        trained = _trained(network)
        if not trained:
            return NetworkMovement(name, 0, 0, (), (), (), (), low_precision=False)
        now, before = fingerprint(trained).tensors, self._before[name].tensors
        rest = [n for n in trained if now[n].digest == before[n].digest]
        gradients = self._gradients[name]
        held = {id(p) for o in self._optimisers for group in o.param_groups for p in group["params"]}
        orphans = [n for n, p in trained.items() if id(p) not in held] if self._optimisers else []
        still = [n for n in rest if gradients[n] and n not in orphans]
        return NetworkMovement(
            network=name,
            tensors=len(trained),
            at_rest=len(rest),
            without_gradient=tuple([n for n in trained if gradients[n] is None][:MOST_NAMES]),
            zero_gradient=tuple([n for n in trained if gradients[n] == 0][:MOST_NAMES]),
            without_optimiser=tuple(orphans[:MOST_NAMES]),
            held_still=tuple(still[:MOST_NAMES]),
            low_precision=any(trained[n].element_size() <= 2 for n in still),
        )


def _trained(network: Any) -> dict[str, Any]:
    """Return the parameters that require a gradient, by name."""
    named = cast("Iterable[tuple[str, Any]]", network.named_parameters())
    return {name: p for name, p in named if p.requires_grad}


def _largest(network: Any) -> dict[str, float | None]:
    """Return the largest gradient of each parameter, None where it has none; one transfer a device."""
    from ..tensors import Quantities

    quantities = Quantities()
    found: dict[str, float | None] = {}
    for name, parameter in _trained(network).items():
        gradient = parameter.grad
        found[name] = None
        if gradient is not None:
            dense = gradient.coalesce().values() if gradient.is_sparse else gradient
            quantities.add({name: dense.detach().abs().amax().float() if dense.numel() else 0.0})
    return found | quantities.numbers()


def _some(names: tuple[str, ...]) -> str:
    more = "..." if len(names) >= MOST_NAMES else ""
    return f"{len(names)}{'+' if more else ''} tensors ({', '.join(names[:3])}{more if len(names) > 3 else ''})"
