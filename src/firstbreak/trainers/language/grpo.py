"""GRPO (Shao et al. 2024, arXiv 2402.03300) with its published variants, on the tiny language model.

Small and meant to be read. `losses` has the equations, `grpo_config` the settings; this is the loop around them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_
from torch.optim import Adam

from .evaluation import evaluate
from .experience import Batch, Experience, Stopwatch, joined, rows_of, scored
from .grpo_config import GRPOConfig
from .loop import Log, run
from .losses import (
    Whole,
    averaged,
    capped_reinforce,
    clipped_surrogate,
    group_advantages,
    kl_terms,
    log_ratios,
    whole_of,
)
from .measures import group_advantage_measures, group_measures, length_measures, reward_measures
from .model import TinyLM, norm, token_scores, weight_vector
from .policy_measures import (
    clip_measures,
    mismatch_measures,
    moved_measures,
    over_steps,
    ratio_measures,
    reference_measures,
)
from .sampling import Sampling, write_all
from .tasks import Puzzles, RewardFunction, correct_reward, dice, format_reward
from .warm_start import prompt_rows, started_model


class GRPO:
    """A GRPO trainer that owns its problems, models and optimiser."""

    def __init__(
        self,
        *,
        seed: int = 0,
        config: GRPOConfig | None = None,
        puzzles: Puzzles | None = None,
        model: TinyLM | None = None,
    ) -> None:
        self.config = config or GRPOConfig()
        self.puzzles = puzzles or Puzzles()
        cast(Any, torch).manual_seed(seed)
        self.draws = torch.Generator().manual_seed(seed)
        self.chance = dice(seed)
        self.model = deepcopy(model) if model is not None else self.started(seed)
        self.reference = deepcopy(self.model).requires_grad_(False)
        self.rewards: dict[str, RewardFunction] = {"format": format_reward, "correct": correct_reward}
        self.optimiser: Any = Adam(self.model.parameters(), lr=self.config.learning_rate)
        self.stopwatch = Stopwatch()
        self.updates = self.gradient_steps = self.groups = self.tokens = 0
        self._trained: set[int] = set()

    def started(self, seed: int) -> TinyLM:
        """A model that solves `pass_rate` of the problems."""
        return started_model(self.puzzles, self.config.pass_rate, seed)

    # ---- data ---------------------------------------------------------------------------------------------------

    def sampling(self) -> Sampling:
        """How responses are drawn."""
        return Sampling(self.config.temperature, self.config.top_p, self.config.max_new_tokens)

    def generate(self) -> Experience:
        """Draw problems, a group of responses to each, and their rewards."""
        problems = self.puzzles.draw(self.config.prompts_per_update, self.chance)
        copies = self.config.num_generations
        rows = prompt_rows([problem.prompt for problem in problems], copies, self.groups)
        self.groups += len(problems)
        with self.stopwatch("time/generate"):
            write_all(self.model, rows, self.sampling(), self.draws, self.updates)
        with self.stopwatch("time/reward"):
            return scored(
                rows, [p for p in problems for _ in range(copies)], self.rewards, self.weights(), correct_reward
            )

    def weights(self) -> Mapping[str, float]:
        """Name of a reward function -> its weight; 1 for all others."""
        return {"format": self.config.format_weight, "correct": self.config.correct_weight}

    def collect(self) -> Experience:
        """What one update learns from; with dynamic sampling only groups whose rewards differ."""
        if not self.config.dynamic_sampling:
            found = self.generate()
            found.numbers["reward/rollout_mean"] = float(found.reward.mean())
            return found
        wanted = self.config.prompts_per_update
        parts: list[Experience] = []
        kept: list[Experience] = []
        while len(parts) < self.config.max_batches and sum(len(part.group_ids()) for part in kept) < wanted:
            parts.append(self.generate())
            kept.append(parts[-1].only(parts[-1].differs()))
        enough = joined(kept).first_groups(wanted)
        found = enough if enough.rows else parts[-1]  # an update without any signal is still an update
        made, used = sum(len(part.group_ids()) for part in parts), len(enough.group_ids())
        found.numbers = parts[-1].numbers | {
            "reward/rollout_mean": float(torch.cat([part.reward for part in parts]).mean()),
            "group/kept_fraction": used / made,
            "group/filtered_count": float(made - used),
        }
        return found

    # ---- the equations ------------------------------------------------------------------------------------------

    def advantages(self, reward: Tensor, group: Tensor) -> Tensor:
        """Advantages [B] of rewards [B] within their groups [B]."""
        return group_advantages(reward, group, self.config.scale_rewards)

    def loss_mask(self, batch: Batch) -> Tensor:
        """Tokens [B, L] that are in the loss."""
        mask = batch["loss_mask"]
        return mask & ~batch["truncated"][:, None] if self.config.mask_truncated else mask

    @torch.no_grad()
    def prepare(self, batch: Batch) -> Batch:
        """Add what stays fixed during an update: advantages, log-probs of policy and reference, entropies."""
        inputs = batch["ids"], batch["attention"], self.config.temperature
        with self.stopwatch("time/old_logprob"):
            old, entropy = token_scores(self.model, *inputs)
        with self.stopwatch("time/ref_logprob"):
            reference, _ = token_scores(self.reference, *inputs)
        return {
            **batch,
            "advantage": self.advantages(batch["reward"], batch["group"]),
            "own": batch["loss_mask"],
            "loss_mask": self.loss_mask(batch),
            "old_log_prob": old,
            "ref_log_prob": reference,
            "entropy": entropy,
        }

    def log_prob(self, batch: Batch) -> Tensor:
        """Log-probability [B, L] of the stored tokens under the policy."""
        return token_scores(self.model, batch["ids"], batch["attention"], self.config.temperature)[0]

    @property
    def clip_range(self) -> tuple[float, float]:
        """Epsilon below and above."""
        config = self.config
        return config.epsilon, config.epsilon if config.epsilon_high is None else config.epsilon_high

    def gains(self, log_prob: Tensor, batch: Batch) -> Tensor:
        """What is to be raised, for each token [B, L]."""
        advantage, mask, (low, high) = batch["advantage"][:, None], batch["loss_mask"], self.clip_range
        ratio = log_ratios(log_prob, batch["old_log_prob"], mask, self.config.loss_type).exp()
        if self.config.loss_type == "cispo":
            return capped_reinforce(ratio, log_prob, advantage, high)
        return clipped_surrogate(ratio, advantage, low, high, self.config.dual_clip)

    def loss(self, batch: Batch, whole: Whole | None = None) -> dict[str, Tensor]:
        """The terms to minimise, `policy` and `kl`, the latter with its weight.

        Args:
            batch: Rows as `prepare` returns them, padded on either side.
            whole: What the optimiser step takes in, where `batch` is a part of it.
        """
        mask = batch["loss_mask"]
        whole = whole or whole_of(mask, self.config.max_new_tokens)
        log_prob = self.log_prob(batch)
        terms = {"policy": -self.gains(log_prob, batch)}
        if self.config.beta:
            now, reference = (torch.where(mask, part, 0.0) for part in (log_prob, batch["ref_log_prob"]))
            terms["kl"] = self.config.beta * kl_terms(now, reference, self.config.kl_estimator)
        return {name: averaged(values, mask, self.config.loss_type, whole) for name, values in terms.items()}

    # ---- the update ---------------------------------------------------------------------------------------------

    def minibatches(self, batch: Batch) -> Iterator[Batch]:
        """One pass: every row once, in a new order."""
        order: Any = torch.randperm(len(batch["ids"]), generator=self.draws)
        for rows in order.chunk(self.config.num_minibatches):
            yield rows_of(batch, rows)

    def step(self, minibatch: Batch) -> dict[str, float]:
        """One optimiser step; returns the terms, how the ratios were before it, and the gradient norm."""
        measures = self.step_measures(minibatch)
        size = -(-len(minibatch["ids"]) // self.config.micro_batches)
        starts = range(0, len(minibatch["ids"]), size)
        whole = whole_of(minibatch["loss_mask"], self.config.max_new_tokens, len(starts))
        self.optimiser.zero_grad()
        for start in starts:
            terms = self.loss(rows_of(minibatch, slice(start, start + size)), whole)
            cast(Any, torch.stack(list(terms.values())).sum()).backward()
            for name, term in terms.items():
                measures[name] = measures.get(name, 0.0) + float(term.detach())
        measures["optim/grad_norm"] = float(clip_grad_norm_(self.model.parameters(), self.config.max_grad_norm))
        self.optimiser.step()
        self.gradient_steps += 1
        return measures

    @torch.no_grad()
    def step_measures(self, minibatch: Batch) -> dict[str, float]:
        """Importance ratios on a minibatch before its step."""
        mask = minibatch["loss_mask"]
        if not mask.any():
            return {}
        log_ratio = log_ratios(self.log_prob(minibatch), minibatch["old_log_prob"], mask, self.config.loss_type)
        ratio, advantage = log_ratio[mask].exp(), minibatch["advantage"][:, None].expand_as(mask)[mask]
        clips = clip_measures(ratio, advantage, *self.clip_range, self.config.dual_clip)
        return {**clips, **ratio_measures(ratio)}

    def update(self, found: Experience) -> dict[str, float]:
        """All steps on one batch; returns the metrics of the update."""
        batch = self.prepare(found.batch())
        measures = {**found.numbers, **self.batch_measures(found, batch)}
        before = weight_vector(self.model)
        steps: list[dict[str, float]] = []
        with self.stopwatch("time/update"):
            for _ in range(self.config.num_iterations):
                steps += [self.step(minibatch) for minibatch in self.minibatches(batch)]
        self.updates += 1
        moved = norm(weight_vector(self.model) - before) / norm(before)
        named = self._named(over_steps(steps))
        return {**measures, **self.after_measures(batch), **named, "optim/weight_delta": moved}

    def batch_measures(self, found: Experience, batch: Batch) -> dict[str, float]:
        """All that is known of a batch before the first step on it."""
        own = batch["own"]
        repeated = [row.group in self._trained for row in found.rows]
        self._trained |= {row.group for row in found.rows}
        self.tokens += sum(len(row.prompt) + len(row.tokens) for row in found.rows)
        return {
            **reward_measures(found.reward, found.components),
            **group_measures(found.reward, found.solved, batch["group"]),
            **group_advantage_measures(batch["advantage"], batch["reward"], batch["group"]),
            **length_measures(found.rows, found.solved),
            "reward/success_rate": float(found.solved.float().mean()),
            "reward/true_objective": float(found.solved.float().mean()),
            "data/repeat_fraction": sum(repeated) / len(repeated),
            "sample/tokens_total": float(self.tokens),
            **reference_measures(batch["old_log_prob"], batch["ref_log_prob"], own),
            "policy/entropy": float(batch["entropy"][own].mean()),
            "policy/logprob_mean": float(batch["old_log_prob"][own].mean()),
            "policy/logprob_min": float(batch["old_log_prob"][own].min()),
            **self.mismatch(batch),
        }

    def mismatch(self, batch: Batch) -> dict[str, float]:
        """Log-probs of the sampler against those of the trainer, which here have the same weights."""
        own = batch["own"]
        return mismatch_measures(batch["old_log_prob"][own], batch["sampler_log_prob"][own])

    @torch.no_grad()
    def after_measures(self, batch: Batch) -> dict[str, float]:
        """How far the update moved the policy, over the whole batch."""
        return moved_measures((self.log_prob(batch) - batch["old_log_prob"])[batch["own"]])

    def _named(self, mean: dict[str, float]) -> dict[str, float]:
        """The mean over the update's steps under the canonical names, settings in force and clocks."""
        policy, kl = mean.pop("policy"), mean.pop("kl", 0.0)
        return mean | {
            "policy/loss": policy,
            "policy/loss_total": policy + kl,
            "optim/loss_total": policy + kl,
            "policy/clip_range": self.clip_range[0],
            "policy/kl_coef": self.config.beta,
            "optim/lr": float(self.optimiser.param_groups[0]["lr"]),
            "optim/n_updates": float(self.gradient_steps),
            "net/weight_norm": norm(weight_vector(self.model)),
            "time/iteration": float(self.updates),
        }

    def evaluate(self) -> dict[str, float]:
        """Pass rates on held-out problems."""
        return evaluate(self.model, self.puzzles, self.config.max_new_tokens)

    def learn(self, updates: int, log: Log | None = None) -> None:
        """Make this many updates more; `log(metrics, update)` after each."""
        run(self, updates, log)


def train(
    *,
    updates: int,
    seed: int,
    config: GRPOConfig | None = None,
    puzzles: Puzzles | None = None,
    model: TinyLM | None = None,
    log: Log | None = None,
) -> GRPO:
    """Train GRPO for this many updates, from `model` or from a supervised warm start."""
    trainer = GRPO(seed=seed, config=config, puzzles=puzzles, model=model)
    trainer.learn(updates, log)
    return trainer
