"""Generalised advantage estimation the slow way, and synthetic rollouts with every kind of ending.

A_t = delta_t + gamma lambda (1 - done_t) A_{t+1}, delta_t = r_t + gamma (1 - terminated_t) V(s_{t+1}) - V(s_t)
(Schulman et al. 2015, arXiv 1506.02438): both endings cut the trace, only termination cuts the bootstrap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from .bench import Bench
from .torch_types import Tensor, load_torch


def slow_gae(columns: dict[str, Tensor], gamma: float, gae_lambda: float) -> Tensor:
    """Advantages [T, N] by a loop over single numbers, in float64."""
    torch = load_torch()

    reward, value, after = (columns[k].tolist() for k in ("reward", "value", "next_value"))
    ended, cut = (columns[k].tolist() for k in ("terminated", "truncated"))
    steps, envs = columns["reward"].shape
    found = torch.zeros(steps, envs, dtype=torch.float64)
    for n in range(envs):
        trace = 0.0
        for t in reversed(range(steps)):
            bootstrap = 0.0 if ended[t][n] else gamma * after[t][n]
            if ended[t][n] or cut[t][n]:
                trace = 0.0
            trace = reward[t][n] + bootstrap - value[t][n] + gamma * gae_lambda * trace
            found[t, n] = trace
    return found


def slow_n_step(columns: dict[str, Tensor], gamma: float, steps: int) -> dict[str, Tensor]:
    """Columns [T, N, ...] as rows of `steps` steps each, by a loop over single numbers, in float64.

    Row t pays r_t + gamma r_{t+1} + ... and leads to the observation after its last step, with the ending of that
    step; it stops early where an episode ends in either way, and where the record does (Sutton and Barto 2018, section
    7.1).
    """
    torch = load_torch()

    reward = columns["reward"].tolist()
    over = (columns["terminated"] | columns["truncated"]).tolist()
    length, envs = columns["reward"].shape
    paid, last = torch.zeros(length, envs, dtype=torch.float64), torch.zeros(length, envs, dtype=torch.long)
    for n in range(envs):
        for t in range(length):
            for k in range(min(steps, length - t)):
                paid[t, n] += gamma**k * reward[t + k][n]
                last[t, n] = t + k
                if over[t + k][n]:
                    break
    places = torch.arange(envs).expand(length, envs)
    ends = {key: columns[key][last, places] for key in ("next_obs", "terminated", "truncated")}
    return {**columns, **ends, "reward": paid.float()}


@dataclass(frozen=True)
class Rollout:
    """A synthetic rollout and where its endings are (t, n)."""

    columns: dict[str, Tensor]
    ended: tuple[int, int]
    cut: tuple[int, int]


def synthetic_rollout(seed: int) -> Rollout:
    """A rollout [8, 3]: one environment terminates at step 2, one is cut at step 4, the third ends in neither way."""
    torch = load_torch()

    draw = torch.Generator().manual_seed(seed)
    steps, envs = 8, 3
    reward, value = (torch.randn(steps, envs, generator=draw) for _ in range(2))
    after = torch.cat([value[1:], torch.randn(1, envs, generator=draw)])
    terminated, truncated = (torch.zeros(steps, envs, dtype=torch.bool) for _ in range(2))
    terminated[2, 0] = truncated[4, 1] = True
    final = torch.randn(2, generator=draw)
    after[2, 0], after[4, 1] = final[0], final[1]
    names = ("reward", "value", "next_value", "terminated", "truncated")
    return Rollout(dict(zip(names, (reward, value, after, terminated, truncated), strict=True)), (2, 0), (4, 1))


@dataclass(frozen=True)
class Responses:
    """How the trainer's own advantages answer to single changes of a rollout."""

    advantage: Tensor
    target: Tensor
    reference: Tensor
    columns: dict[str, Tensor]
    bootstrap_terminated: float
    """Change of A at a terminated step per unit of the value that followed; 0 is right."""
    bootstrap_truncated: float
    """The same at a truncated step; gamma is right."""
    bootstrap_last: float
    """The same at the last step of an episode that goes on; gamma is right."""
    next_reward: float
    """Change of A_t per unit of r_{t+1} within an episode; gamma lambda is right."""
    over_terminated: float
    """Change of A at a terminated step per unit of the reward after it, in the next episode; 0 is right."""
    over_truncated: float
    """The same at a truncated step; 0 is right."""
    permutation_error: float
    """Largest change of an advantage when the environments change places."""


def responses(bench: Bench) -> Responses:
    """Measure `Responses`."""
    torch = load_torch()

    bench.only("PPO", "A2C", "MM-RKHS")
    bench.need("advantages")
    rollout = synthetic_rollout(bench.seed)
    columns, ended, cut = rollout.columns, rollout.ended, rollout.cut

    def ask(**changed: Tensor) -> tuple[Tensor, Tensor]:
        given = {**columns, **changed}
        raw, target = cast(Any, bench.pieces.advantages)(*(given[k].clone() for k in columns))
        raw, target = raw.detach().double(), target.detach().double()
        return raw_of(raw, target, given["value"].double()), target

    def slope(name: str, at: tuple[int, int], seen: tuple[int, int]) -> float:
        moved = columns[name].clone()
        moved[at] += 1.0
        return float(ask(**{name: moved})[0][seen] - advantage[seen])

    advantage, target = ask()
    order = torch.tensor([2, 0, 1])
    permuted = ask(**{k: v[:, order] for k, v in columns.items()})[0]
    last = (columns["reward"].shape[0] - 1, 2)
    return Responses(
        advantage,
        target,
        slow_gae(columns, float(bench.setting("gamma")), float(bench.setting("gae_lambda"))),
        columns,
        slope("next_value", ended, ended),
        slope("next_value", cut, cut),
        slope("next_value", last, last),
        slope("reward", (3, 2), (2, 2)),
        slope("reward", (ended[0] + 1, ended[1]), ended),
        slope("reward", (cut[0] + 1, cut[1]), cut),
        float((permuted - advantage[:, order]).abs().max()),
    )


def raw_of(advantage: Tensor, target: Tensor, value: Tensor) -> Tensor:
    """`advantage` before it was standardised over the rollout: target minus value, where it is that, moved and scaled.

    Many trainers standardise in the function that computes advantages. That is no fault of the estimate, and whatever
    is wrong with the estimate shows in the target as well.
    """
    other = (target - value).double()
    spread = float(other.std())
    if advantage.numel() < 3 or spread == 0 or abs(float(advantage.mean())) > 1e-3:
        return advantage
    if abs(float(advantage.std()) - 1.0) > STANDARD_ROOM:
        return advantage
    error = (advantage - (other - other.mean()) * (float(advantage.std()) / spread)).abs().max()
    return other if float(error) <= 1e-4 else advantage


STANDARD_ROOM = 0.05
"""Of a deviation of 1: dividing by the deviation of the sample or of the population makes 2 % for 24 numbers."""
TOLERANCE = 2.0**-23 * 8**0.5 * 8 * 4
"""Float32 rounding of a sum of 8 steps with terms of size up to about 4: eps sqrt(n) n max."""
