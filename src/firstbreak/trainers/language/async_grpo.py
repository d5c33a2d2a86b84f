"""Asynchronous GRPO in the manner of AReaL (Fu et al. 2025, arXiv 2505.24298), simulated on one thread.

The sampler has weights of its own and goes on writing while the trainer computes. Each turn of the loop: take the
oldest finished groups; let the sampler write `tokens_per_update` tokens of every open response with the weights it has;
update; sync. A response is interrupted by the sync and goes on under the new weights, so that its head is of an older
version than its tail. Nothing depends on wall time: a seed fixes the run.

The loss is decoupled (section 5.2, eq. 5): the clip range lies around the policy at the beginning of the update,
pi_prox, and the weight pi_prox / pi_behave makes up for the sampler having been another one.
"""

from __future__ import annotations

from collections import deque
from copy import deepcopy
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from .experience import Batch, Experience, joined, scored
from .grpo import GRPO
from .grpo_config import GRPOConfig
from .loop import Log
from .model import TinyLM, fingerprint, token_scores
from .policy_measures import behaviour_measures, mismatch_measures, staleness_measures
from .sampling import Row, collate, write_one
from .tasks import Problem, Puzzles, correct_reward
from .warm_start import prompt_rows

PROBE_ROWS = 8
"""Rows on which sampler and trainer are compared after each sync. Engineering default."""


@dataclass(frozen=True)
class AsyncGRPOConfig(GRPOConfig):
    """Settings of `AsyncGRPO`, beside those of GRPO. [1] Fu et al. 2025 (AReaL), arXiv 2505.24298."""

    max_staleness: int = 2
    """Eta: versions that a response may be behind when it is trained on, by [1], eq. 3; 0 is synchronous training.
    [1] takes 4 or 8."""
    use_decoupled_loss: bool = True
    """Weigh by pi_prox / pi_behave and clip around pi_prox [1, eq. 5]; otherwise clip around pi_behave."""
    behave_imp_weight_cap: float = 5.0
    """Largest weight pi_prox / pi_behave of a token; AReaL's default."""
    behave_cap_mode: Literal["mask", "clamp"] = "mask"
    """Whether a token beyond the cap is left out, or weighs as much as the cap."""
    tokens_per_update: int = 4
    """Tokens that every open response grows while the trainer computes. Engineering default."""
    sync_every: int = 1
    """Updates between two syncs of the sampler's weights."""


@dataclass
class Group:
    """One prompt's responses on their way through the queue."""

    problem: Problem
    rows: list[Row]

    @property
    def done(self) -> bool:
        """Whether every response is written."""
        return all(row.ended or row.stopped for row in self.rows)


class AsyncGRPO(GRPO):
    """A GRPO trainer with a sampler of its own weights and a queue stamped with versions."""

    config: AsyncGRPOConfig

    def __init__(
        self,
        *,
        seed: int = 0,
        config: AsyncGRPOConfig | None = None,
        puzzles: Puzzles | None = None,
        model: TinyLM | None = None,
    ) -> None:
        super().__init__(seed=seed, config=config or AsyncGRPOConfig(), puzzles=puzzles, model=model)
        self.sampler = deepcopy(self.model).requires_grad_(False)
        self.sampler_version = 0
        self.open: deque[Group] = deque()
        """Groups in the order of their launch, which is the order in which they are trained on: batches of whatever
        finishes first would be batches of short responses."""

    # ---- sampler and queue --------------------------------------------------------------------------------------

    def sync_weights(self) -> None:
        """Copy the trainer's weights into the sampler, and stamp what it writes from now on."""
        self.sampler.load_state_dict(self.model.state_dict())
        self.sampler_version = self.updates

    def admit(self) -> None:
        """Launch as many groups as the bound on staleness allows.

        Of N groups launched so far and B in a batch, the last is trained on in update (N - 1) // B, counted from 0; so
        N may grow while (N - 1) // B <= version + eta (eq. 3).
        """
        size = self.config.prompts_per_update
        while self.groups // size <= self.updates + self.config.max_staleness:
            problem = self.puzzles.draw(1, self.chance)[0]
            self.open.append(Group(problem, prompt_rows([problem.prompt], self.config.num_generations, self.groups)))
            self.groups += 1

    def write(self, tokens: int) -> None:
        """Let the sampler add this many tokens to every open response."""
        rows = [row for group in self.open for row in group.rows]
        with self.stopwatch("time/generate"):
            for _ in range(tokens):
                write_one(self.sampler, rows, self.sampling(), self.draws, self.sampler_version)

    def collect(self) -> Experience:
        """The oldest groups of the queue, once they are all written; then the sampler writes on."""
        size = self.config.prompts_per_update
        self.admit()
        waited = 0
        while not all(group.done for group in list(self.open)[:size]):
            self.write(1)
            waited += 1
        batch = [self.open.popleft() for _ in range(size)]
        self.write(self.config.tokens_per_update)
        with self.stopwatch("time/reward"):
            parts = [
                scored(g.rows, [g.problem] * len(g.rows), self.rewards, self.weights(), correct_reward) for g in batch
            ]
        found = joined(parts)
        found.numbers = {
            "reward/rollout_mean": float(found.reward.mean()),
            "async/queue_size": float(sum(group.done for group in self.open)),
            "async/idle_fraction": waited / max(waited + self.config.tokens_per_update, 1),
        }
        return found

    # ---- the equations ------------------------------------------------------------------------------------------

    def prepare(self, batch: Batch) -> Batch:
        """As GRPO, whose old log-probs are of pi_prox, and the weight pi_prox / pi_behave of each token [B, L]."""
        ready = super().prepare(batch)
        log_weight = torch.where(ready["own"], ready["old_log_prob"] - batch["sampler_log_prob"], 0.0)
        if not self.config.use_decoupled_loss:
            return {**ready, "old_log_prob": batch["sampler_log_prob"], "log_weight": log_weight}
        weight, kept = self.capped(log_weight.exp())
        return {**ready, "log_weight": log_weight, "weight": weight, "loss_mask": ready["loss_mask"] & kept}

    def capped(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Weights [B, L] within the cap, and which tokens stay in the loss."""
        cap = self.config.behave_imp_weight_cap
        if self.config.behave_cap_mode == "clamp":
            return weight.clamp(max=cap), torch.ones_like(weight, dtype=torch.bool)
        # Left out by zero, not by a mask alone: an infinite weight times 0 would be no number.
        return torch.where(weight <= cap, weight, 0.0), weight <= cap

    def gains(self, log_prob: Tensor, batch: Batch) -> Tensor:
        """The clipped gain of each token [B, L], times the weight pi_prox / pi_behave, which has no gradient."""
        gains = super().gains(log_prob, batch)
        return batch["weight"] * gains if self.config.use_decoupled_loss else gains

    # ---- the update ---------------------------------------------------------------------------------------------

    def update(self, found: Experience) -> dict[str, float]:
        """As GRPO; then sync, and see whether sampler and trainer agree."""
        measures = super().update(found)
        with self.stopwatch("time/sync"):
            if self.updates % self.config.sync_every == 0:
                self.sync_weights()
        return {
            **measures,
            **self.agreement(found.rows[:PROBE_ROWS]),
            "net/weight_hash": float(fingerprint(self.model)),
        }

    @torch.no_grad()
    def agreement(self, rows: list[Row]) -> dict[str, float]:
        """Log-probs of the same tokens by trainer and sampler; nothing where the sampler is behind by intention."""
        if self.sampler_version != self.updates:
            return {}
        batch = collate(rows)
        own = batch["loss_mask"]
        trainer, sampler = (
            token_scores(model, batch["ids"], batch["attention"], self.config.temperature)[0][own]
            for model in (self.model, self.sampler)
        )
        return mismatch_measures(trainer, sampler)

    def mismatch(self, batch: Batch) -> dict[str, float]:
        """Weights against the sampler and its lag; log-probs are compared after the sync, when both should agree."""
        own = batch["own"]
        return {
            **behaviour_measures(batch["log_weight"][own], self.config.behave_imp_weight_cap),
            **staleness_measures(batch["version"], own, self.updates),
        }


def train(
    *,
    updates: int,
    seed: int,
    config: AsyncGRPOConfig | None = None,
    puzzles: Puzzles | None = None,
    model: TinyLM | None = None,
    log: Log | None = None,
) -> AsyncGRPO:
    """Train asynchronous GRPO for this many updates, from `model` or from a supervised warm start."""
    trainer = AsyncGRPO(seed=seed, config=config, puzzles=puzzles, model=model)
    trainer.learn(updates, log)
    return trainer
