"""Whether a policy can fit one fixed batch: actions of large advantage become likelier, a Q that rises is climbed.

On-policy the advantages are fixed, of mean 0 and deviation 1 so that normalising changes nothing, and the stored
log-probs are those of the policy of the moment, so that no clip holds it back. For an actor that follows a critic, the
critic is replaced by one that rises with the action.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, cast

from .bench import CONTINUOUS_Q, Bench, cannot
from .entropy import configured
from .learning import Climb, climb
from .owned import actor_weights
from .policy_rows import base_batch, insist_finite, policy_rows, some_advantages
from .soft import SLOPE, acting, sloped
from .td_rows import replay_batch
from .torch_types import Tensor, load_torch

COPIES = 8
"""How often the batch is repeated for a policy that draws its action."""
ENTROPY_FRAC = 0.1
"""Of the policy's gradient; an entropy term that pulls harder may rightly stop the climb. Engineering default."""


def policy_climb(bench: Bench) -> Climb:
    """Measure the `Climb` of mean(advantage x log-prob), or of the mean action."""
    bench.need("update", "actor")
    if bench.pieces.algorithm in CONTINUOUS_Q:
        return _up_the_critic(bench)
    bench.only("PPO", "A2C")
    return _by_advantages(bench)


def _by_advantages(bench: Bench) -> Climb:
    torch = load_torch()

    insist_finite(bench)
    found = bench.once(policy_rows)
    switched = bench.pieces.configure is not None
    if not switched and float(found.zero.norm()) > ENTROPY_FRAC * found.expected_norm:
        raise cannot("without advantages the policy is pulled as well (entropy?)", "pieces.configure")
    batch, advantage = dict(bench.once(base_batch)), some_advantages(bench.seed)
    batch["advantage"] = advantage
    log_prob, update = cast(Any, bench.pieces.log_prob), cast(Any, bench.pieces.update)

    def objective() -> Tensor:
        return (advantage * log_prob(batch["obs"], batch["action"]).reshape(-1)).mean()

    def once() -> None:
        with torch.no_grad():
            batch["log_prob"] = log_prob(batch["obs"], batch["action"]).reshape(-1)
        update(batch)

    with configured(bench, {"entropy_coef": 0.0}) if switched else nullcontext():
        return climb(bench, objective, actor_weights(bench), once)


def _up_the_critic(bench: Bench) -> Climb:
    torch = load_torch()

    small = bench.once(replay_batch)
    batch = {k: v.repeat(COPIES, *[1] * (v.dim() - 1)) for k, v in small.items()}
    acts: Callable[[Tensor], Tensor] = acting(bench)
    half = _half_range(bench)

    def objective() -> Tensor:
        torch.manual_seed(bench.seed)
        return (acts(batch["obs"]) / half).sum(-1).mean()

    if not objective().requires_grad:
        raise cannot("the actions of act() carry no gradient: return them without no_grad() or detach()")
    with sloped(bench, SLOPE, int(batch["action"].shape[-1])):
        return climb(bench, objective, actor_weights(bench), lambda: cast(Any, bench.pieces.update)(batch))


def _half_range(bench: Bench) -> Tensor:
    torch = load_torch()

    settings = bench.pieces.settings
    low = settings.get("policy_low", settings.get("action_low"))
    high = settings.get("policy_high", settings.get("action_high"))
    return torch.ones(1) if low is None or high is None else (torch.as_tensor(high) - torch.as_tensor(low)) / 2
