"""`Pieces` of the reference DQN and SAC and of classes derived from them."""

from __future__ import annotations

from typing import Any

from ..pieces import Batch, Pieces
from ..torch_types import Tensor, load_torch
from . import reference_plans as plans
from .attributes import kept_numbers
from .reference_trainer import ROUNDS, Trainer, optimisers

FIRST_STEPS, PLANNED_STEPS = 60, 600
"""Environment steps collected at the start, out of so many planned."""


class OffPolicy(Trainer):
    """DQN and SAC."""

    def pieces(self) -> Pieces:
        """Return what can be taken hold of."""
        trainer, sac = self.trainer, self.algorithm == "SAC"
        if self.ledgers:
            self.collect(FIRST_STEPS)
        settings = self.settings()
        if sac:
            settings |= {"policy_low": settings["action_low"], "policy_high": settings["action_high"]}
            settings["target_entropy"] = float(trainer.target_entropy)
        return Pieces(
            algorithm=self.algorithm,
            actor=trainer.actor if sac else None,
            critics=list(trainer.critics) if sac else [trainer.q_network],
            target_critics=list(trainer.target_critics) if sac else [trainer.target_network],
            optimisers=optimisers(trainer),
            minibatch=trainer.sample,
            losses=lambda batch: trainer.loss(self.rows(batch)),
            update=self.update,
            log_prob=trainer.actor.log_prob if sac else None,
            act=trainer.actor.sample if sac else None,
            q=self.q,
            td_target=lambda batch: trainer.td_target(self.rows(batch)),
            sync_target=self.sync_target,
            iterate=self.iterate,
            collect=self.collect,
            witnessed=self.witnessed(),
            executed=(lambda action: action) if sac else None,
            predict=self.predict,
            behaviour=None if sac else self.behaviour,
            state=self.state if sac else None,
            learn=self.learn,
            log_temperature=trainer.log_alpha if sac and trainer.config.alpha_learnt else None,
            fixed_log_temperature=trainer.log_alpha if sac and not trainer.config.alpha_learnt else None,
            schedules={} if sac else {"exploration": plans.exploration(trainer)},
            name=self.kind,
            settings=settings,
        )

    def collect(self, steps: int) -> None:
        """`collect` so often: with the policy's own actions, of DQN at the start of a run, when most are random."""
        with kept_numbers(self.trainer):
            if "random_steps" in vars(self.trainer):
                self.trainer.random_steps = 0
            if self.algorithm == "DQN":  # without a planned length its exploration is over after one step
                self.trainer.total_steps = PLANNED_STEPS
            for _ in range(steps):
                self.trainer.collect()

    def update(self, batch: Batch) -> None:
        """One `step` that is not the one that moves a periodic target."""
        with kept_numbers(self.trainer):
            self.trainer.gradient_steps = 0
            self.trainer.step(self.rows(batch))
            self.target_entropy = getattr(self.trainer, "target_entropy", None)

    def sync_target(self) -> None:
        """The `step` after which the target moves."""
        with kept_numbers(self.trainer):
            self.trainer.gradient_steps = int(self.settings()["target_interval"]) - 1
            self.trainer.step(self.trainer.sample())

    def iterate(self) -> None:
        """A few gradient steps."""
        with kept_numbers(self.trainer):
            for _ in range(ROUNDS):
                self.trainer.step(self.trainer.sample())

    def state(self) -> dict[str, Any]:
        """What SAC's last update had for a target entropy, which it may have set itself."""
        target = getattr(self, "target_entropy", None)
        return {} if target is None else {"target_entropy": float(target)}

    def behaviour(self, obs: Tensor, done_frac: float) -> Tensor:
        """What DQN would collect there."""
        trainer = self.trainer
        with kept_numbers(trainer), load_torch().no_grad():
            trainer.total_steps, trainer.env_steps = plans.STEPS, round(done_frac * plans.STEPS)
            return trainer.explored(trainer.q_network(obs).argmax(-1))

    def learn(self, steps: int) -> None:
        """`learn` from the start."""
        with kept_numbers(self.trainer):
            self.trainer.env_steps = 0
            self.trainer.learn(steps)

    def q(self, obs: Tensor, action: Tensor) -> list[Tensor]:
        """One [B] of each critic."""
        if self.algorithm == "SAC":
            return [critic(obs, action) for critic in self.trainer.critics]
        return [self.trainer.q_network(obs).gather(-1, action.unsqueeze(-1)).squeeze(-1)]
