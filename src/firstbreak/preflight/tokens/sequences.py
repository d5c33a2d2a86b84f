"""The parts of PPO on tokens: token rewards, GAE, whitening and values, each for numbers whose answer is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from ..invariants.bench import cannot
from ..invariants.torch_types import Tensor, load_torch
from .bench import TokenBench
from .pieces import PADDING
from .truth import roles_of
from .variants import lively
from .weights import some_rows, still

KL_TILT_NATS = 0.5


@dataclass(frozen=True)
class Rewards:
    """Token rewards [B, L] of the probe rows: of a score alone, of no score, and of a reference below the policy."""

    scored: Tensor
    plain: Tensor
    drifted: Tensor
    mask: Tensor
    roles: Tensor
    last: Tensor
    """Column of the last trained token [B]."""


def token_rewards(bench: TokenBench) -> Rewards:
    """Ask for the token rewards of scores 2, 3, 4 ..., of 0, and with the reference below the policy."""
    torch = load_torch()
    bench.need("token_rewards")
    batch = bench.once(still)
    reward = cast(Callable[[Tensor, Any], Tensor], bench.pieces.token_rewards)
    rows, mask = len(batch["input_ids"]), batch["loss_mask"] > 0
    scores = 2.0 + torch.arange(rows, dtype=torch.float32)
    none = torch.zeros(rows)
    below = dict(batch)
    if "ref_logprobs" in batch:
        below["ref_logprobs"] = (batch["ref_logprobs"] - KL_TILT_NATS) * mask
    columns = torch.arange(mask.shape[1]).expand_as(mask)
    with torch.no_grad():
        found = [reward(s, b).detach().float() for s, b in ((scores, batch), (none, batch), (none, below))]
    return Rewards(found[0], found[1], found[2], mask, roles_of(batch), torch.where(mask, columns, -1).max(1).values)


@dataclass(frozen=True)
class Gae:
    """GAE of made-up token rewards and values, and of the same with other numbers where they must not matter."""

    advantages: Tensor
    targets: Tensor
    values: Tensor
    padding_changed: Tensor
    """With other values beyond the mask."""
    rows_changed: Tensor
    """With other rewards in every row but the first."""
    mask: Tensor
    expected: Tensor | None
    """GAE by its definition, where gamma and lambda are known."""


def gae(bench: TokenBench) -> Gae:
    """Ask the trainer's GAE."""
    torch = load_torch()
    bench.need("gae")
    ask = cast(Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]], bench.pieces.gae)
    mask = (bench.once(some_rows)["loss_mask"] > 0).float()
    draw = torch.Generator().manual_seed(bench.seed)
    rewards, values = (torch.randn(mask.shape, generator=draw) * mask for _ in range(2))
    advantages, targets = ask(rewards, values, mask)
    beyond = ask(rewards, values + 7.0 * (1.0 - mask), mask)[0]
    changed = rewards.clone()
    changed[1:] += 3.0 * mask[1:]
    others = ask(changed, values, mask)[0]
    return Gae(advantages, targets, values, beyond, others, mask, _by_definition(bench, rewards, values, mask))


def _by_definition(bench: TokenBench, rewards: Tensor, values: Tensor, mask: Tensor) -> Tensor | None:
    torch = load_torch()
    settings = bench.pieces.settings
    if "gamma" not in settings or "gae_lambda" not in settings:
        return None
    gamma, trace = float(settings["gamma"]), float(settings["gae_lambda"])
    found = torch.zeros_like(rewards)
    for row in range(len(rewards)):
        columns = mask[row].nonzero().flatten().tolist()
        carry, following = 0.0, 0.0
        for t in reversed(columns):
            delta = float(rewards[row, t]) + gamma * following - float(values[row, t])
            carry = delta + gamma * trace * carry
            found[row, t] = carry
            following = float(values[row, t])
    return found


def whitening_effect(bench: TokenBench) -> tuple[float, float]:
    """(change on trained tokens when numbers beyond the mask change, mean of the result over trained tokens)."""
    torch = load_torch()
    bench.need("whiten")
    ask = cast(Callable[[Tensor, Tensor], Tensor], bench.pieces.whiten)
    mask = (bench.once(some_rows)["loss_mask"] > 0).float()
    numbers = 1.0 + torch.randn(mask.shape, generator=torch.Generator().manual_seed(bench.seed))
    one, other = ask(numbers * mask, mask) * mask, ask(numbers * mask + 9.0 * (1 - mask), mask) * mask
    kept = mask > 0
    return float((one - other).norm() / one.norm().clamp(min=1e-30)), float(one[kept].mean())


def value_knows(bench: TokenBench) -> tuple[float, float]:
    """(how much the value of a token changes when that token is another, and when the one before it is), mean."""
    torch = load_torch()
    bench.need("values")
    ask = cast(Callable[[Any], Tensor], bench.pieces.values)
    batch = bench.once(some_rows)
    mask = batch["loss_mask"] > 0
    columns = torch.arange(mask.shape[1]).expand_as(mask)
    column = torch.where(mask, columns, mask.shape[1]).min(1).values + (mask.sum(1) > 1).long()
    rows = torch.arange(len(mask))
    highest = int(batch["input_ids"].max())
    forbidden = {bench.pieces.settings.get("pad_token_id"), bench.pieces.settings.get("end_token_id")}
    spare = [t for t in range(highest + 1) if t not in forbidden]

    def value(back: int) -> Tensor:
        ids = batch["input_ids"].clone()
        now = ids[rows, column - back]
        ids[rows, column - back] = torch.tensor([spare[0] if int(t) != spare[0] else spare[-1] for t in now])
        return ask({**batch, "input_ids": ids})[rows, column].detach()

    with torch.no_grad():
        usual = ask(batch)[rows, column].detach()
        return float((value(0) - usual).abs().mean()), float((value(1) - usual).abs().mean())


def entropy_effect(bench: TokenBench) -> float:
    """How much the mean entropy changes with more padding on the right, over itself."""
    from .variants import EXTRA, padded

    torch = load_torch()
    bench.need("entropy")
    ask = cast(Callable[[Any], Tensor], bench.pieces.entropy)
    batch = bench.once(lively)
    if not bool((roles_of(batch) == PADDING).any()) and "pad_token_id" not in bench.pieces.settings:
        raise cannot("no row is padded")
    with torch.no_grad():
        one, other = float(ask(batch)), float(ask(padded(bench, batch, 0, EXTRA)))
    return abs(one - other) / max(abs(one), 1e-30)
