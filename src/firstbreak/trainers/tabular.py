"""MM-RKHS on finite MDPs with exact advantages, and the GARNET random MDPs that it was published on.

The paper (Gupta and Mahajan 2026, arXiv 2603.17875) minimises costs. Here rewards are maximised throughout: the
advantage of a reward is minus that of a cost, so both exponents change the sign of A and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
UpdateForm = Literal["fixed_point", "draft"]


@dataclass(frozen=True)
class FiniteMDP:
    """A finite MDP with S states, A actions and b successors for each pair, discounted by `gamma`."""

    successor: NDArray[np.int64]
    """[S, A, b]; a state may occur twice."""
    probability: Floats
    """[S, A, b], sums to 1 over the last axis."""
    reward: Floats
    """[S, A]."""
    gamma: float


def garnet(states: int, actions: int, branching: int, *, gamma: float = 0.95, seed: int = 0) -> FiniteMDP:
    """Draw a GARNET: `branching` distinct successors with stick-breaking probabilities, rewards uniform in [-1, 0].

    Archibald, McKinnon and Thomas 1995; rewards are minus the uniform costs of arXiv 2603.17875.
    """
    random = np.random.default_rng(seed)
    order = np.argpartition(random.random((states * actions, states)), branching - 1, axis=1)[:, :branching]
    cuts = np.sort(random.random((states, actions, branching - 1)), axis=-1)
    edges = np.concatenate([np.zeros((states, actions, 1)), cuts, np.ones((states, actions, 1))], axis=-1)
    return FiniteMDP(
        order.reshape(states, actions, branching), np.diff(edges), -random.random((states, actions)), gamma
    )


def action_values(mdp: FiniteMDP, value: Floats) -> Floats:
    """One look ahead: q [S, A] of state values [S]."""
    return mdp.reward + mdp.gamma * (mdp.probability * value[mdp.successor]).sum(-1)


def evaluate(mdp: FiniteMDP, policy: Floats) -> tuple[Floats, Floats]:
    """Exact v [S] and advantage q - v [S, A] of a `policy` [S, A], by one linear solve."""
    states = policy.shape[0]
    weight = policy[:, :, None] * mdp.probability
    row_starts: NDArray[np.int64] = np.arange(0, states**2, states, dtype=np.int64).reshape(-1, 1, 1)
    cell: NDArray[np.int64] = np.add(row_starts, mdp.successor)
    transition = np.bincount(cell.ravel(), weight.ravel(), minlength=states**2).reshape(states, states)
    solve_linear = cast("Callable[[Floats, Floats], Floats]", np.linalg.solve)
    value = solve_linear(np.eye(states) - mdp.gamma * transition, (policy * mdp.reward).sum(-1))
    return value, action_values(mdp, value) - value[:, None]


def optimal_value(mdp: FiniteMDP, *, tolerance: float = 1e-10) -> Floats:
    """v* [S] by value iteration, to `tolerance` in the largest norm (Puterman 1994, section 6.3)."""
    value = np.zeros(mdp.reward.shape[0])
    while True:
        new = action_values(mdp, value).max(-1)
        if float(np.abs(new - value).max()) <= tolerance * (1.0 - mdp.gamma):
            return new
        value = new


def _reweighted(policy: Floats, exponent: Floats, exponent_clip: float) -> Floats:
    """`policy` [S, A] times exp(`exponent`), clipped to +-`exponent_clip`, and normalised."""
    centred = np.clip(exponent, -exponent_clip, exponent_clip)
    weight = policy * np.exp(centred - centred.max(-1, keepdims=True))
    return weight / weight.sum(-1, keepdims=True)


def draft_update(
    policy: Floats, advantage: Floats, *, beta: float, eta: float, kernel: Floats, exponent_clip: float
) -> Floats:
    """Eq. 6.3 of the draft: pi' ~ pi exp(eta (A + beta R pi)), for rewards.

    Known flaw: pi is no fixed point at A = 0; the update sharpens it to a vertex.
    """
    return _reweighted(policy, eta * (advantage + beta * policy @ kernel.T), exponent_clip)


def fixed_point_update(
    policy: Floats,
    advantage: Floats,
    *,
    beta: float,
    eta: float,
    kernel: Floats,
    exponent_clip: float,
    inner_steps: int = 2,
) -> Floats:
    """The later version: p_0 = pi, p_{l+1} ~ p_l exp(eta (A + beta R (pi - p_l))), for rewards; returns the last p.

    With `inner_steps=1` the kernel term is exactly 0 and beta has no effect.
    """
    new = policy
    for _ in range(inner_steps):
        new = _reweighted(new, eta * (advantage + beta * (policy - new) @ kernel.T), exponent_clip)
    return new


@dataclass(frozen=True)
class TabularConfig:
    """Settings of the exact algorithm; the defaults are the paper's later ones but for what is said."""

    form: UpdateForm = "fixed_point"
    eta_initial: float = 1.15
    """eta_k = eta_initial * (k + 1); the draft uses 0.15."""
    exponent_clip: float = 2.0
    inner_steps: int = 2
    """The paper uses 1, where the kernel term vanishes; 2 is the least at which beta matters."""
    beta_quantile: float = 1.0
    """beta_k is this quantile of |A| over sqrt(k + 1); 1 is the paper's largest |A|."""
    stiffness_limit: float | None = 1.0
    """eta_k beta_k lambda_max(R) is kept at or below this; above 1 the inner map oscillates. None: the paper's bare
    schedule."""


@dataclass(frozen=True)
class Sweep:
    """One iteration of `solve`: the policy evaluated and the weights used to leave it."""

    policy: Floats
    value: Floats
    beta: float
    eta: float


def solve(
    mdp: FiniteMDP, *, iterations: int, config: TabularConfig | None = None, kernel: Floats | None = None
) -> Iterator[Sweep]:
    """Run `iterations` updates from the uniform policy; yields iterations + 1 sweeps. `kernel` is R [A, A]."""
    config = config or TabularConfig()
    states, actions = mdp.reward.shape
    matrix = np.eye(actions) if kernel is None else kernel
    largest = float(np.linalg.eigvalsh(matrix)[-1])
    policy = np.full((states, actions), 1.0 / actions)
    for k in range(iterations + 1):
        value, advantage = evaluate(mdp, policy)
        beta = float(np.quantile(np.abs(advantage), config.beta_quantile)) / float(np.sqrt(k + 1))
        eta = config.eta_initial * (k + 1)
        if config.stiffness_limit is not None and beta > 0:
            eta = min(eta, config.stiffness_limit / (beta * largest))
        yield Sweep(policy, value, beta, eta)
        later = partial(fixed_point_update, inner_steps=config.inner_steps)
        update = draft_update if config.form == "draft" else later
        policy = update(policy, advantage, beta=beta, eta=eta, kernel=matrix, exponent_clip=config.exponent_clip)
