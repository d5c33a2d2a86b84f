"""`Pieces`: the parts of a trainer that the invariants take hold of. Every part is optional; what is missing is said.

A user fills in what the trainer has and names the function that returns it: `firstbreak preflight invariants
my_trainer:pieces`. Tensors are torch tensors; B is the batch, T steps of N environments, A the action's dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...finding import Component, Link

if TYPE_CHECKING:
    from torch import Tensor, nn
    from torch.optim import Optimizer

Batch = Mapping[str, "Tensor"]
"""Canonical keys. On-policy minibatch [B, ...]: `obs action log_prob advantage value value_target`. Replay sample
[B, ...]: `obs action reward next_obs terminated`. An on-policy rollout [T, N, ...]: those of the minibatch and
`reward terminated truncated next_value`, where `next_value[t]` is the value of the observation that followed step t
(of the last one of the episode where it ended). `advantage` is raw in a rollout. `truncated` may stand in a replay
sample and `mask` (1 for real rows) in a minibatch."""


@dataclass(frozen=True)
class Schedule:
    """A quantity that changes as training goes on: what training uses, and what its settings promise."""

    used: Callable[[float], float]
    """Point of a run -> the value that training uses there, by its own code."""
    promised: Mapping[float, float]
    """Point of a run -> the value that the settings name for it. Points are shares of the run, or counts of updates."""
    component: Component = Component.OPTIMISER
    link: Link = Link.POLICY_UPDATE


@dataclass
class Pieces:
    """The parts of a trainer, as callables on canonical batches. Shapes in brackets; None where a trainer has none."""

    algorithm: str
    """PPO, A2C, DQN, SAC or MM-RKHS: says which invariants apply."""
    actor: nn.Module | None = None
    critics: Sequence[nn.Module] = ()
    """One value network, or the twin Q networks."""
    target_critics: Sequence[nn.Module] = ()
    stacks: Mapping[int, Sequence[Tensor]] = field(default_factory=dict[int, "Sequence[Tensor]"])
    """Where one parameter of an optimiser holds those of several networks, as TorchRL stacks twins: its id -> the
    parameters of `critics` and `target_critics` that share its memory, in order."""
    optimisers: Sequence[Optimizer] = ()
    rollout: Callable[[], Batch] | None = None
    """Collects one fresh on-policy rollout [T, N, ...] with the current policy, as training does it."""
    minibatch: Callable[[], Batch] | None = None
    """The first minibatch [B, ...] that the loss would see of a fresh rollout, or a sample of the replay buffer."""
    losses: Callable[[Batch], Mapping[str, Tensor]] | None = None
    """The terms (scalars) whose sum is minimised, named `policy`, `value`, `entropy`, `temperature`, `penalty` ...;
    coefficients included. Must not step the optimiser."""
    gradients: Callable[[Batch], Mapping[str, Tensor]] | None = None
    """Where the loss cannot be reached: the gradient of every parameter (by its name in `named_parameters` of actor
    and critics) after one backward pass of the trainer's own update on this minibatch, without stepping."""
    update: Callable[[Batch], None] | None = None
    """One optimiser step on one minibatch, as training does it."""
    log_prob: Callable[[Tensor, Tensor], Tensor] | None = None
    """(obs [B, ...], action [B, ...]) -> log-probability of that action [B]."""
    act: Callable[[Tensor], tuple[Tensor, Tensor]] | None = None
    """obs [B, ...] -> (sampled action [B, ...], its log-probability [B]). Of SAC with their gradient, not under
    `torch.no_grad()`: else it is not seen whether the actor climbs Q."""
    sequence: Callable[[Tensor, Tensor], Tensor] | None = None
    """Of a recurrent policy: (obs [T, N, ...], first [T, N]) -> what it puts out at each step [T, N, ...] (logits,
    means, values), as the loss computes it over a rollout; `first` is true at the first step of an episode."""
    deterministic_action: Callable[[Tensor], Tensor] | None = None
    """obs [B, ...] -> the action that the actor loss puts into the critic [B, A], with its gradient; for actors without
    a density (DDPG, TD3)."""
    value: Callable[[Tensor], Tensor] | None = None
    """obs -> V [B]."""
    q: Callable[[Tensor, Tensor], Sequence[Tensor]] | None = None
    """(obs, action) -> one [B] of each critic."""
    advantages: Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]] | None = None
    """(reward, value, next_value, terminated, truncated), each [T, N] -> (raw advantage, value target), each [T, N]."""
    td_target: Callable[[Batch], Tensor] | None = None
    """A replay sample -> the target of its TD error [B]; may draw next actions."""
    sync_target: Callable[[], None] | None = None
    """One move of the target networks, as training does it."""
    iterate: Callable[[], None] | None = None
    """One whole round of training: collect, then every update that follows from it."""
    witnessed: Callable[[], Batch] | None = None
    """What the environments themselves saw since they were built, or during the last `rollout`, in order [T, N, ...]:
    `obs action reward terminated truncated next_obs`, where `action` is what they received and `next_obs` what they
    returned before any reset."""
    executed: Callable[[Tensor], Tensor] | None = None
    """A stored action -> what the environment is meant to receive for it: clipped, or stretched to the bounds."""
    collect: Callable[[int], None] | None = None
    """Steps the environments so many times and stores what happened in the replay buffer."""
    predict: Callable[[Tensor, bool], Tensor] | None = None
    """(obs, deterministic) -> action, as evaluation calls it."""
    epochs: Callable[[], tuple[Batch, Sequence[Batch]]] | None = None
    """All epochs on one fresh rollout, by the trainer's own loop: the rows of that rollout [B, ...], and in order the
    minibatches that its loss was given."""
    behaviour: Callable[[Tensor, float], Tensor] | None = None
    """(obs [B, ...], share of the run done) -> the actions [B] that training would play there, exploration included.
    Needs `schedules["exploration"]`."""
    learn: Callable[[int], None] | None = None
    """Trains for so many environment steps by the trainer's own loop, its waiting at the start included."""
    configure: Callable[[Mapping[str, Any]], None] | None = None
    """Sets canonical settings of the trainer; what it does not know it ignores."""
    log_temperature: Tensor | None = None
    """The parameter whose exponential is the temperature of SAC."""
    fixed_temperature: Tensor | None = None
    """Where the temperature of SAC is not learnt: the tensor that the losses read it from, so that it can be varied."""
    fixed_log_temperature: Tensor | None = None
    """The same where its exponential is the temperature."""
    state: Callable[[], Mapping[str, Any]] | None = None
    """Settings that change as training goes on, as they are now: `beta`, `eta`, `bandwidth` of MM-RKHS."""
    schedules: Mapping[str, Schedule] = field(default_factory=dict[str, Schedule])
    """What changes by a plan: the `exploration` rate of DQN, `eta` of MM-RKHS, a learning rate ..."""
    logged: Callable[[], tuple[Batch, Mapping[str, float]]] | None = None
    """One whole update on a fresh rollout: that rollout [T, N, ...] with raw advantages, before the update, and what
    training logs of it under canonical names."""
    name: str = ""
    """Which of several faces of the trainer this is: `discrete`, `continuous`."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Canonical settings: `gamma`, `gae_lambda`, `clip_range`, `tau`, `entropy_coef`, `value_coef`, `max_grad_norm`,
    `normalises_advantage`, `temperature`, `action_low`, `action_high` (what the environment takes), `policy_low`,
    `policy_high` (what `act` returns; None where it is not bounded), `n_actions`, `target_entropy`, `double`,
    `exponent_clip`, `form`, `buffer_size`, `target_interval`, `learning_starts` (environment steps before the first
    update), `shared_noise` (of draws whose noise is one for all rows), `n_steps` (of the
    rows of a replay buffer that holds sums of several rewards), `frozen` (names of parameters meant not to train) ... A
    check that needs one that is missing says so."""
