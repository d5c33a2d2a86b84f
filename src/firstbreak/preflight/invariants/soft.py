"""The actor and the temperature of SAC: where their gradients come from and which way they point."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, cast

from .bench import CONTINUOUS_Q, OFF_POLICY, Bench, cannot
from .capture import gradients
from .owned import actor_weights
from .rows import vector
from .td_rows import replay_batch
from .torch_types import Tensor, load_torch

SLOPE = 100.0
"""Slope of the made-up Q along the actions: large against the entropy term."""
COPIES = 16
"""How often the batch is repeated, so that one draw of the policy does not matter."""


@dataclass(frozen=True)
class ActorPull:
    """How the actor answers to a Q that grows, and then falls, along every action dimension."""

    change: float
    """Norm of the difference of the two gradients."""
    gradient: float
    """Norm of the gradient itself."""
    cosine: float | None
    """Between the step it implies and the direction that raises the mean action; near 1 where it climbs Q. None where
    actions carry no gradient, so that this direction is not known."""


def actor_pull(bench: Bench) -> ActorPull:
    """Measure `ActorPull`."""
    torch = load_torch()

    bench.only(*CONTINUOUS_Q)
    bench.need("critics", "actor", "update")
    acts = acting(bench)
    small = bench.once(replay_batch)
    batch = {k: v.repeat(COPIES, *[1] * (v.dim() - 1)) for k, v in small.items()}
    weights, width = actor_weights(bench), int(batch["action"].shape[-1])

    def pulled(slope: float) -> Tensor:
        with sloped(bench, slope, width):
            found = gradients(bench.pieces, batch, bench.seed)
        assert found is not None
        return vector(found, weights)

    up, down = pulled(SLOPE), pulled(-SLOPE)
    torch.manual_seed(bench.seed)
    mean = acts(batch["obs"]).sum(-1).mean()
    change, gradient = up - down, float(up.norm())
    if not mean.requires_grad:
        return ActorPull(float(change.norm()), gradient, None)
    rises = torch.autograd.grad(mean, weights, allow_unused=True)
    rise = vector({id(w): g for w, g in zip(weights, rises, strict=True) if g is not None}, weights)
    size = float(change.norm() * rise.norm())
    return ActorPull(float(change.norm()), gradient, float(-(change @ rise)) / size if size else 0.0)


def acting(bench: Bench) -> Callable[[Tensor], Tensor]:
    """obs -> the action that the actor's loss puts into the critic: a draw, or the only one."""
    if bench.pieces.deterministic_action is not None:
        return bench.pieces.deterministic_action
    bench.need("act")
    act = cast(Any, bench.pieces.act)
    return lambda obs: act(obs)[0]


@contextmanager
def sloped(bench: Bench, slope: float, width: int) -> Generator[None, None, None]:
    """Within, every online critic returns `slope` times the sum of the actions."""

    def replace(module: Any, given: Any, output: Any) -> Any:
        del module
        action = given[1] if len(given) > 1 else given[0][..., -width:]
        return (slope * action.sum(-1)).reshape(output.shape) + 0.0 * output

    with ExitStack() as stack:
        for critic in bench.pieces.critics:
            stack.callback(critic.register_forward_hook(replace).remove)
        yield


@dataclass(frozen=True)
class Heat:
    """The temperature's gradient, and the entropy it should follow, in nats."""

    gradient: float | None
    """None: the update takes no step of the temperature."""
    entropy: float
    entropy_error: float
    target: float


def heat(bench: Bench) -> Heat:
    """Measure `Heat`."""
    torch = load_torch()

    bench.only("SAC")
    if bench.pieces.log_temperature is None:
        raise cannot("the temperature is not learnt")
    bench.need("act", "update")
    batch = bench.once(replay_batch)
    many = {k: v.repeat(COPIES, *[1] * (v.dim() - 1)) for k, v in batch.items()}
    found = gradients(bench.pieces, many, bench.seed)
    assert found is not None
    with torch.no_grad():
        log_prob = cast(Any, bench.pieces.act)(many["obs"])[1].reshape(-1)
    step = found.get(id(bench.pieces.log_temperature))
    now: dict[str, Any] = dict(bench.pieces.state()) if bench.pieces.state is not None else {}
    target: float | None = now.get(
        "target_entropy"
    )  # an update may have set it: a target that falls as training goes on
    return Heat(
        None if step is None else float(step),
        -float(log_prob.mean()),
        float(log_prob.std()) / len(log_prob) ** 0.5,
        float(bench.setting("target_entropy") if target is None else target),
    )


@dataclass(frozen=True)
class TargetMove:
    """How far the targets went towards the online networks, as a fraction of the way."""

    synced_frac: float
    update_frac: float | None
    """In an update after which no move is due; None where every update moves them."""


def target_move(bench: Bench) -> TargetMove:
    """Measure `TargetMove`."""
    torch = load_torch()

    bench.only(*OFF_POLICY)
    bench.need("target_critics", "critics", "sync_target")
    if any(a is b for a in bench.pieces.critics for b in bench.pieces.target_critics):
        raise cannot("the target network is the online network")
    pairs = [
        (online, target)
        for a, b in zip(bench.pieces.critics, bench.pieces.target_critics, strict=True)
        for online, target in zip(a.parameters(), b.parameters(), strict=True)
    ]

    def moved(act: Any) -> float:
        with torch.no_grad():  # each time: an update that copies leaves no way to go
            for online, _ in pairs:
                online.add_(torch.randn_like(online) * 0.1)
        before, aim = _flat([t for _, t in pairs]), _flat([o for o, _ in pairs])
        act()
        way, done = aim - before, _flat([t for _, t in pairs]) - before
        return float(done @ way) / float(way @ way)

    every = int(bench.pieces.settings.get("target_interval", 1))
    between = None
    if every > 1 and bench.pieces.update is not None:
        batch = bench.once(replay_batch)
        between = moved(lambda: cast(Any, bench.pieces.update)(batch))
    return TargetMove(moved(bench.pieces.sync_target), between)


def _flat(tensors: list[Any]) -> Tensor:
    torch = load_torch()

    return torch.cat([t.detach().double().reshape(-1) for t in tensors])
