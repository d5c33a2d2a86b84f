"""`Pieces` of a TorchRL pair with a replay buffer: `DQNLoss`, `SACLoss`, `TD3Loss`, `DDPGLoss` and classes derived.

The collector fills the user's own buffer, which is made small while it is empty so that it can be filled twice over;
one step of the adapter's loop (loss, optimiser, target) is put to rows that are set. Of other losses the data, the
optimiser and the first rounds are looked at.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from ....probes.adapters.torchrl import step_on, store
from ..pieces import Batch, Pieces
from ..torch_types import Tensor
from .attributes import kept_numbers
from .torchrl import Made, Pair
from .torchrl_networks import Networks, networks_of

KNOWN = {"DQNLoss": "DQN", "SACLoss": "SAC", "TD3Loss": "TD3", "DDPGLoss": "DDPG"}
BUFFER_SIZE = 100
"""Rows of the replay buffer, or twice its batch where that is more."""
FIRST_STEPS = 60
"""Steps that are collected at the start, or the batch of the buffer where that is more."""


class OffPolicy(Pair):
    """One collector, buffer and loss, and how to take hold of them."""

    def __init__(self, made: Made) -> None:
        super().__init__(made)
        self.algorithm = algorithm_of(self.parts.loss)
        self.networks = None
        if self.loss is not None and self.algorithm in KNOWN.values():
            self.networks = networks_of(self.loss, self.rows.observed, ddpg=self.algorithm == "DDPG")
        self.networks = self.networks or Networks([], [])
        self.several_steps = False
        self.buffer_size: int | None = None
        if self.replays:
            self._make_small()
            size = int(getattr(self.parts.replay_buffer, "batch_size", None) or 0)
            self.collect(max(FIRST_STEPS, size))
            self.several_steps = "steps_to_next_obs" in self.parts.replay_buffer.sample().keys()  # noqa: SIM118

    @property
    def replays(self) -> bool:
        """Whether the adapter's own loop fills the buffer."""
        return self.parts.replay_buffer is not None and self.parts.update is None

    def _make_small(self) -> None:
        """Shrink an empty buffer, and let the policy act from the first step."""
        buffer = self.parts.replay_buffer
        size = max(BUFFER_SIZE, 2 * int(getattr(buffer, "batch_size", None) or 0))
        storage = getattr(buffer, "_storage", None)
        if storage is not None and len(buffer) == 0 and hasattr(storage, "max_size"):
            storage.max_size = self.buffer_size = min(size, int(storage.max_size))
        collector: Any = self.parts.collector
        if getattr(collector, "init_random_frames", None):
            collector.init_random_frames = 0

    def pieces(self) -> Pieces:
        """Return what can be taken hold of."""
        loss, optimisers, found = self.loss, self.optimisers, self.networks
        assert found is not None
        density = self.algorithm == "SAC" and hasattr(self._actor(), "get_dist")
        steps = loss is not None and bool(optimisers)
        return Pieces(
            algorithm=self.algorithm,
            actor=self._actor(),
            critics=found.online,
            target_critics=found.targets,
            stacks=found.stacks,
            optimisers=optimisers,
            minibatch=self.minibatch if self.replays else None,
            update=self.update if steps else None,
            log_prob=self.log_prob if density else None,
            act=self.act if density else None,
            deterministic_action=self.best if self.algorithm in {"TD3", "DDPG"} else None,
            q=self.q if found.online else None,
            sync_target=self.sync_target if steps and self.replays else None,
            iterate=self.iterate,
            collect=self.collect if self.replays else None,
            witnessed=None if self.several_steps or not self.replays else self.seen(),
            executed=None if self.discrete else lambda action: action,
            predict=self.predict,
            log_temperature=self._log_temperature(),
            fixed_log_temperature=getattr(self.loss, "log_alpha", None),
            name=self.kind,
            settings=self.settings(),
        )

    def _actor(self) -> Any:
        """The module that acts; None where it is nothing but the Q network of the loss."""
        assert self.networks is not None
        policy, online = self.parts.policy, set(self.networks.stacks)
        if self.discrete and all(id(weight) in online for weight in policy.parameters()):
            return None
        return policy

    def _log_temperature(self) -> Any:
        held = getattr(self.loss, "log_alpha", None)
        return held if getattr(held, "requires_grad", False) else None

    def settings(self) -> dict[str, Any]:
        """The canonical settings that the parts tell."""
        found, loss, moves = self.shared_settings(), self.parts.loss, self.parts.target_updater
        if self.buffer_size is not None:
            found["buffer_size"] = self.buffer_size
        if hasattr(moves, "eps"):
            found |= {"tau": 1.0 - float(moves.eps), "target_interval": 1}
        elif hasattr(moves, "value_network_update_interval"):
            found |= {"tau": 1.0, "target_interval": int(moves.value_network_update_interval) + 1}
        if self.discrete:
            return {**found, "double": bool(getattr(loss, "double_dqn", False))}
        found |= {"policy_low": found["action_low"], "policy_high": found["action_high"]}
        aim = getattr(loss, "target_entropy", None) if self.algorithm == "SAC" else None
        return found if aim is None else {**found, "target_entropy": float(aim)}

    def collect(self, steps: int) -> None:
        """Batches of the collector, put into the buffer as the loop does it, until there are so many steps."""
        while steps > 0:
            batch = next(self.batches)
            store(self.parts, batch)
            steps -= batch.numel()

    def minibatch(self) -> Batch:
        """A sample of the replay buffer."""
        return self.rows.replayed(self.parts.replay_buffer.sample())

    def update(self, batch: Batch) -> None:
        """One step of the loop on these rows, not the one that moves a periodic target."""
        with self._counter(0):
            step_on(self.parts, self.rows.replay(batch))

    def sync_target(self) -> None:
        """The step of the loop after which the target moves."""
        interval = getattr(self.parts.target_updater, "value_network_update_interval", None)
        with self._counter(interval):
            step_on(self.parts, self.parts.replay_buffer.sample())

    @contextmanager
    def _counter(self, value: int | None) -> Generator[None, None, None]:
        """Within, the counter of a periodic target stands at `value`."""
        moves = self.parts.target_updater
        if not hasattr(moves, "counter"):
            yield
            return
        with kept_numbers(moves):
            moves.counter = value
            yield

    def iterate(self) -> None:
        """The first rounds of the loop."""
        moves = self.parts.target_updater
        if not hasattr(moves, "counter"):
            super().iterate()
            return
        with kept_numbers(moves):
            super().iterate()

    def q(self, obs: Tensor, action: Tensor) -> list[Tensor]:
        """One [B] of each critic."""
        assert self.networks is not None
        if self.discrete:
            return [net(obs).gather(1, action.reshape(-1, 1)).squeeze(-1) for net in self.networks.online]
        return [net(obs, action).squeeze(-1) for net in self.networks.online]

    def best(self, obs: Tensor) -> Tensor:
        """The action without exploration, with its gradient."""
        return self.acted(obs, "DETERMINISTIC")


def algorithm_of(loss: Any) -> str:
    """The algorithm of a loss: one that the checks know, else the name of its class.

    `SACLoss` with a value network is the first version of SAC, whose targets are others than the checks know.
    """
    for ancestor in type(loss).__mro__:
        if ancestor.__name__ == "SACLoss" and getattr(loss, "value_network", None) is not None:
            return "SAC with a value network"
        if ancestor.__name__ in KNOWN:
            return KNOWN[ancestor.__name__]
    return type(loss).__name__ if loss is not None else "a loop of its own"
