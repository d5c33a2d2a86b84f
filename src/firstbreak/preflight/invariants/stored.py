"""What the trainer stored against what the environments saw: the same rows, found by their observation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from .bench import Bench, cannot
from .gae import raw_of, slow_gae, slow_n_step
from .owned import plain
from .torch_types import Tensor, load_torch

DRAWS_PER_ROW = 20
"""A row of the buffer that uniform sampling misses after so many draws per row has a chance of e^-20."""

BLOWN_UP, EXTREME_STEPS = 8.0, 100
"""Factor on each layer's weights, which for three layers is 512 on the output; steps with them."""


@dataclass(frozen=True)
class Pairs:
    """Stored rows and the witnessed ones with the same observation, flattened to [M]; `index` counts in time."""

    stored: dict[str, Tensor]
    seen: dict[str, Tensor]
    index: Tensor
    rows: int
    """Rows the environments saw in all."""
    following: dict[str, Tensor]
    """The witnessed rows one step later in the same environment, and `has` where there is one."""
    preceding: dict[str, Tensor]


def pairs(bench: Bench) -> Pairs:
    """Fresh data of the trainer, paired with what was witnessed; for a replay buffer, filled one and a half times."""
    torch = load_torch()

    bench.need("witnessed")
    if bench.on_policy:
        bench.need("rollout")
        found = plain(cast(Any, bench.pieces.rollout)())
        stored = {k: v.flatten(0, 1) for k, v in found.items()}
    else:
        bench.need("collect", "minibatch")
        size = int(bench.setting("buffer_size"))
        cast(Any, bench.pieces.collect)(size + size // 2)
        parts: list[dict[str, Tensor]] = []
        while sum(len(p["obs"]) for p in parts) < DRAWS_PER_ROW * size:
            parts.append(plain(cast(Any, bench.pieces.minibatch)()))
        stored = {k: torch.cat([p[k] for p in parts]) for k in parts[0]}
    seen = dict(cast(Any, bench.pieces.witnessed)())
    steps = int(bench.pieces.settings.get("n_steps", 1))
    return _matched(stored, seen if steps == 1 else slow_n_step(seen, float(bench.setting("gamma")), steps))


def _matched(stored: dict[str, Tensor], seen: Mapping[str, Tensor]) -> Pairs:
    torch = load_torch()

    steps, envs = seen["reward"].shape
    flat = {k: v.flatten(0, 1) for k, v in seen.items()}
    place = {tuple(row): i for i, row in enumerate(flat["obs"].reshape(steps * envs, -1).tolist())}
    index = torch.tensor([place.get(tuple(row), -1) for row in stored["obs"].reshape(len(stored["obs"]), -1).tolist()])
    known = index >= 0
    if float(known.float().mean()) < 0.9:
        raise cannot("the stored observations are not those of the environment (normalised, stacked?)")
    index = index[known]

    def shifted(by: int) -> dict[str, Tensor]:
        other = index + by * envs
        has = (other >= 0) & (other < steps * envs)
        return {**{k: v[other.clamp(0, steps * envs - 1)] for k, v in flat.items()}, "has": has}

    return Pairs(
        {k: v[known] for k, v in stored.items()},
        {k: v[index] for k, v in flat.items()},
        index,
        steps * envs,
        shifted(1),
        shifted(-1),
    )


def extreme_actions(bench: Bench) -> Tensor:
    """What the environments received [M, A] with the actor's weights so large that a squashed policy saturates."""
    torch = load_torch()

    bench.only("SAC")
    bench.need("actor", "collect", "witnessed")
    with torch.no_grad():
        for weight in cast(Any, bench.pieces.actor).parameters():
            if weight.dim() > 1:
                weight.mul_(BLOWN_UP)
    cast(Any, bench.pieces.collect)(EXTREME_STEPS)
    received = cast(Any, bench.pieces.witnessed)()["action"][-EXTREME_STEPS:]
    return received.flatten(0, 1)


@dataclass(frozen=True)
class Advantages:
    """Advantages of a real rollout against the slow reference on what the environments saw."""

    error: float
    tolerance: float
    wrong_frac: float
    explanation: str
    """The single fault that reproduces what was stored, in words; empty where none does."""
    variant: str


def advantages(bench: Bench) -> Advantages:
    """Measure `Advantages`."""
    torch = load_torch()

    bench.need("rollout", "witnessed", "value")
    found = plain(cast(Any, bench.pieces.rollout)())
    seen = cast(Any, bench.pieces.witnessed)()
    if found["obs"].shape != seen["obs"].shape or not torch.equal(found["obs"], seen["obs"]):
        raise cannot("the rollout is not laid out as the environments saw it")
    gamma, gae_lambda = float(bench.setting("gamma")), float(bench.setting("gae_lambda"))
    value = cast(Any, bench.pieces.value)
    with torch.no_grad():
        columns = {k: seen[k] for k in ("reward", "terminated", "truncated")}
        columns["value"] = value(seen["obs"].flatten(0, 1)).reshape(seen["reward"].shape)
        columns["next_value"] = value(seen["next_obs"].flatten(0, 1)).reshape(seen["reward"].shape)
    stored = found["advantage"].double()
    if "value_target" in found and "value" in found:
        stored = raw_of(stored, found["value_target"].double(), found["value"].double())
    right = slow_gae(columns, gamma, gae_lambda)
    steps = stored.shape[0]
    tolerance = 2.0**-23 * steps**0.5 * steps * (1.0 + float(right.abs().max()))
    difference = (stored - right).abs()
    variant, explanation = "", ""
    if float(difference.max()) > tolerance:
        for name, (words, changed) in _faults(columns, gamma).items():
            if float((slow_gae(changed, gamma, gae_lambda) - stored).abs().max()) <= tolerance:
                variant, explanation = name, words
                break
    wrong = float((difference > tolerance).float().mean())
    return Advantages(float(difference.max()), tolerance, wrong, explanation, variant)


def _faults(columns: dict[str, Tensor], gamma: float) -> dict[str, tuple[str, dict[str, Tensor]]]:
    """Single faults on the way from environment to advantage, each with the columns it would have worked on."""
    torch = load_torch()

    value, after, reward = columns["value"], columns["next_value"], columns["reward"]
    ended, cut = columns["terminated"], columns["truncated"]
    done = ended | cut
    last_zero = after.clone()
    last_zero[-1] = torch.where(done[-1], after[-1], 0.0)
    reset = after.clone()
    reset[:-1] = torch.where(cut[:-1], value[1:], after[:-1])
    off = torch.zeros_like(done[:1])
    late, early = torch.cat([off, done[:-1]]), torch.cat([done[1:], done[-1:]])
    shifted = torch.cat([torch.zeros_like(reward[:1]), reward[:-1]])
    none = torch.zeros_like(done)
    chained = torch.cat([value[1:], after[-1:]])
    with_bootstrap = reward + gamma * after * cut
    return {
        "last": ("the last row of the rollout is not bootstrapped", {**columns, "next_value": last_zero}),
        "cut": ("a time limit is treated as termination", {**columns, "terminated": done}),
        "reset": ("at a time limit the value of the reset observation is used", {**columns, "next_value": reset}),
        "late": ("episode ends are taken one step late", _moved(columns, late, chained, reward)),
        "late_flags": ("episode ends are taken one step late", {**columns, **_late(ended, cut)}),
        "early": ("episode ends are taken one step early", _moved(columns, early, chained, reward)),
        "early_sb3": ("episode ends are taken one step early", _moved(columns, early, chained, with_bootstrap)),
        "reward": ("rewards are one step late", {**columns, "reward": shifted}),
        "never": ("termination does not cut the bootstrap", {**columns, "terminated": none, "truncated": done}),
    }


def _late(ended: Tensor, cut: Tensor) -> dict[str, Tensor]:
    torch = load_torch()

    off = torch.zeros_like(ended[:1])
    return {"terminated": torch.cat([off, ended[:-1]]), "truncated": torch.cat([off, cut[:-1]])}


def _moved(columns: dict[str, Tensor], done: Tensor, after: Tensor, reward: Tensor) -> dict[str, Tensor]:
    torch = load_torch()

    return {
        **columns,
        "terminated": done,
        "truncated": torch.zeros_like(done),
        "next_value": after,
        "reward": reward,
    }
