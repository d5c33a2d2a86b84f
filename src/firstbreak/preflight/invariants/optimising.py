"""Which parameters the optimisers hold, and what a few rounds of training do to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from .bench import Bench
from .capture import named, unstacked, watching
from .restore import seed_all
from .rows import EPS
from .torch_types import Tensor, load_torch

if TYPE_CHECKING:
    from .pieces import Batch


def held(bench: Bench) -> dict[int, int]:
    """How often each parameter (by id) occurs in the optimisers."""
    bench.need("optimisers")
    counts: dict[int, int] = {}
    for optimiser in bench.pieces.optimisers:
        for group in optimiser.param_groups:
            for weight in group["params"]:
                for key in (id(weight), *(id(part) for part in bench.pieces.stacks.get(id(weight), ()))):
                    counts[key] = counts.get(key, 0) + 1
    return counts


def frozen_names(bench: Bench) -> set[str]:
    """Names of the parameters that are meant not to train."""
    return set(bench.pieces.settings.get("frozen", ()))


@dataclass(frozen=True)
class Rounds:
    """What the trainer's own first rounds did."""

    steps: int
    """Steps of optimisers."""
    still: tuple[str, ...]
    """Trainable parameters that did not change at all."""
    moved_frozen: tuple[str, ...]
    not_finite: tuple[str, ...]
    lr_frac: float
    """Learning rate after the rounds over that before, the smallest of all groups."""
    clips: tuple[tuple[float, float], ...]
    value_clips: int
    """Calls that clip gradients value by value."""
    log_prob_error: float | None
    """Largest difference between the log-probs stored in the next rollout and those of the policy that collected it."""
    log_prob_tolerance: float
    off_frac: float
    """Share of rows for which it is larger than rounding allows."""
    epsilon_ratio: float
    """The largest epsilon of an optimiser over the usual size of the gradients that it takes; 0 without either."""


def rounds(bench: Bench) -> Rounds:
    """Measure `Rounds`."""
    torch = load_torch()

    bench.need("iterate")
    frozen = frozen_names(bench)
    before = [(name, weight, weight.detach().clone()) for name, weight in named(bench.pieces)]
    rates = [g["lr"] for o in bench.pieces.optimisers for g in o.param_groups]
    failure: Exception | None = None
    with watching(hold=False) as seen:
        try:
            cast(Any, bench.pieces.iterate)()
        except Exception as error:
            failure = error
    after = [g["lr"] for o in bench.pieces.optimisers for g in o.param_groups]
    same = {name for name, weight, old in before if torch.equal(weight.detach(), old)}
    bad = tuple(name for name, weight, _ in before if not bool(torch.isfinite(weight).all()))
    if failure is not None and not bad:
        raise failure
    trains = {name for name, weight, _ in before if weight.requires_grad}
    error, tolerance, off = (None, 0.0, 0.0) if bad else _stored_log_probs(bench)
    return Rounds(
        len(seen.steps),
        tuple(name for name, _, _ in before if name in same and name in trains and name not in frozen),
        tuple(sorted(frozen - same)),
        bad,
        min((float(b) / float(a) for a, b in zip(rates, after, strict=True) if a), default=1.0),
        tuple(seen.clips),
        seen.value_clips,
        error,
        tolerance,
        off,
        _epsilon_ratio(bench, seen.steps),
    )


def _epsilon_ratio(bench: Bench, steps: list[dict[int, Tensor]]) -> float:
    """Over the groups of Adam, RMSprop and their like: epsilon over the median root mean square of a parameter's
    gradient."""
    sizes: dict[int, list[float]] = {}
    for step in steps:
        for key, gradient in step.items():
            sizes.setdefault(key, []).append(float(gradient.double().pow(2).mean().sqrt()))
    worst = 0.0
    for optimiser in bench.pieces.optimisers:
        for group in optimiser.param_groups:
            usual = sorted(size for weight in group["params"] for size in sizes.get(id(weight), ()) if size > 0)
            if usual and float(group.get("eps", 0.0)):
                worst = max(worst, float(group["eps"]) / usual[len(usual) // 2])
    return worst


def _stored_log_probs(bench: Bench) -> tuple[float | None, float, float]:
    """Collect with the policy as it is now, and score what was stored."""
    torch = load_torch()

    pieces = bench.pieces
    collect = pieces.rollout or (pieces.minibatch if bench.on_policy else None)
    if collect is None or pieces.log_prob is None:
        return None, 0.0, 0.0
    found, keys = collect(), ("obs", "action", "log_prob")
    if any(key not in list(found.keys()) for key in keys):
        return None, 0.0, 0.0
    rows = {key: found[key].flatten(0, 1) if collect is pieces.rollout else found[key] for key in keys}
    with torch.no_grad():
        again = pieces.log_prob(rows["obs"], rows["action"]).reshape(-1)
    stored = rows["log_prob"].reshape(-1)
    size = sum(w.numel() for w in cast(Any, pieces.actor).parameters()) if pieces.actor is not None else 10_000
    tolerance = EPS * size**0.5 * (1.0 + float(again.abs().max()))
    difference = (again - stored).abs()
    return float(difference.max()), tolerance, float((difference > tolerance).float().mean())


@dataclass(frozen=True)
class TwoUpdates:
    """Gradients (norms) of the same update made twice, the weights held: equal where gradients are cleared."""

    first: float
    difference: float
    times: int
    """How often the most stepped parameter was stepped in one update with the same gradient."""
    most: str


def two_updates(bench: Bench) -> TwoUpdates:
    """Measure `TwoUpdates`."""
    bench.need("update", "minibatch")
    batch = _a_batch(bench)
    update = cast(Any, bench.pieces.update)
    targets = [w for network in bench.pieces.target_critics for w in network.parameters()]
    kept = [w.detach().clone() for w in targets]
    with watching() as seen:
        seed_all(bench.seed)
        update(batch)
        half = len(seen.steps)
        _put_back(targets, kept)  # they may have moved towards the held networks, which changes the next target
        seed_all(bench.seed)
        update(batch)
    steps = [unstacked(bench.pieces, step) for step in seen.steps]
    first = {k: v for step in steps[:half] for k, v in step.items()}
    second = {k: v for step in steps[half:] for k, v in step.items()}
    counts = _same_again(steps[:half])
    names = {id(w): n for n, w in named(bench.pieces)}
    most = max(counts, key=lambda k: counts[k], default=0)
    total = sum(float(v.norm()) ** 2 for v in first.values()) ** 0.5
    change = sum(float((second[k] - v).norm()) ** 2 for k, v in first.items() if k in second) ** 0.5
    return TwoUpdates(total, change, counts.get(most, 0), names.get(most, "?"))


def _same_again(steps: list[dict[int, Tensor]]) -> dict[int, int]:
    """How often each parameter is stepped with one gradient.

    Steps with gradients of their own (an actor trained in every second update, twice, on fresh draws) are several
    steps, not one that is taken again.
    """
    torch = load_torch()

    taken: dict[int, list[tuple[Tensor, int]]] = {}
    for step in steps:
        for key, gradient in step.items():
            kinds = taken.setdefault(key, [])
            at = next((i for i, (old, _) in enumerate(kinds) if torch.equal(old, gradient)), None)
            if at is None:
                kinds.append((gradient, 1))
            else:
                kinds[at] = (gradient, kinds[at][1] + 1)
    return {key: max(times for _, times in kinds) for key, kinds in taken.items()}


def _put_back(weights: list[Any], kept: list[Any]) -> None:
    torch = load_torch()

    with torch.no_grad():
        for weight, old in zip(weights, kept, strict=True):
            weight.copy_(old)


def _a_batch(bench: Bench) -> Batch:
    from .owned import plain

    return plain(cast(Any, bench.pieces.minibatch)())
