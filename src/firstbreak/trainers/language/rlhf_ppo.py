"""PPO from human feedback (Ouyang et al. 2022, arXiv 2203.02155) on the tiny language model.

An actor with a head for values, a frozen reference, a frozen reward model; the KL to the reference is paid for token by
token in the reward. Details follow Huang et al. 2024, "The N+ implementation details of RLHF with PPO", arXiv
2403.17031. `rlhf_config` has the settings.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import Adam

from .advantages import masked_mean, token_gae, whitened
from .evaluation import evaluate
from .experience import Batch, Experience, Stopwatch, rows_of
from .loop import Log, run
from .losses import clipped_surrogate
from .measures import advantage_measures, length_measures, reward_measures
from .model import TinyLM, norm, scores_of, state_values, token_scores, weight_vector
from .policy_measures import (
    clip_measures,
    mismatch_measures,
    moved_measures,
    over_steps,
    ratio_measures,
    reference_measures,
)
from .reward_model import RewardModel, train_reward_model
from .rlhf_config import RLHFPPOConfig
from .sampling import Row, Sampling, write_all
from .tasks import Puzzles, correct_reward, dice
from .value_measures import token_advantage_measures, value_measures
from .warm_start import prompt_rows, started_model

PUZZLES = Puzzles(("copy", "reverse"), (1, 2))
"""Easy enough for a reward model to be learned in seconds."""


class RLHFPPO:
    """A trainer that owns its problems, actor with values, reference, reward model and optimiser."""

    def __init__(
        self,
        *,
        seed: int = 0,
        config: RLHFPPOConfig | None = None,
        puzzles: Puzzles | None = None,
        model: TinyLM | None = None,
        reward_model: RewardModel | None = None,
    ) -> None:
        self.config = config or RLHFPPOConfig()
        self.puzzles = puzzles or PUZZLES
        cast(Any, torch).manual_seed(seed)
        self.draws, self.chance = torch.Generator().manual_seed(seed), dice(seed)
        self.model = deepcopy(model) if model is not None else self.started(seed)
        self.reference = deepcopy(self.model).requires_grad_(False)
        self.reward_model = reward_model or train_reward_model(self.model, self.puzzles, self.sampling(), seed=seed)
        # Values start at 0 for every state: those of a reward model's head are biased (arXiv 2503.01491).
        self.model.head = nn.Linear(self.model.norm.normalized_shape[0], 1)
        nn.init.zeros_(self.model.head.weight)
        nn.init.zeros_(self.model.head.bias)
        self.optimiser: Any = Adam(self.model.parameters(), lr=self.config.learning_rate, eps=1e-5)
        self.stopwatch = Stopwatch()
        self.updates = self.gradient_steps = self.tokens = self.prompts = 0

    def started(self, seed: int) -> TinyLM:
        """A model that solves `pass_rate` of the problems."""
        return started_model(self.puzzles, self.config.pass_rate, seed)

    # ---- data ---------------------------------------------------------------------------------------------------

    def sampling(self) -> Sampling:
        """How responses are drawn."""
        return Sampling(self.config.temperature, max_new_tokens=self.config.max_new_tokens)

    def scores(self, rows: list[Row]) -> Tensor:
        """What the reward model gives each response [B], less the penalty where EOS is missing."""
        missing = torch.tensor([0.0 if row.ended else self.config.missing_eos_penalty for row in rows])
        with torch.no_grad():
            return self.reward_model(rows) - missing

    def collect(self) -> Experience:
        """Draw problems, a response to each, and its score."""
        problems = self.puzzles.draw(self.config.prompts_per_update, self.chance)
        rows = prompt_rows([problem.prompt for problem in problems], first_group=self.prompts)
        self.prompts += len(rows)
        with self.stopwatch("time/generate"):
            write_all(self.model, rows, self.sampling(), self.draws, self.updates)
        with self.stopwatch("time/reward"):
            scores = self.scores(rows)
        right = [correct_reward(p, row.text, row.ended) == 1.0 for p, row in zip(problems, rows, strict=True)]
        return Experience(rows, scores, {"score": scores}, torch.tensor(right))

    # ---- the equations ------------------------------------------------------------------------------------------

    def token_rewards(self, batch: Batch) -> Tensor:
        """Reward of each token [B, L]: -kl_coef (log pi_old - log pi_ref), and the score at the last."""
        own = batch["own"]
        kl = torch.where(own, batch["old_log_prob"] - batch["ref_log_prob"], 0.0)
        places = torch.arange(own.shape[1]).expand_as(own)
        last = torch.where(own, places, -1).amax(1, keepdim=True)
        return -self.config.kl_coef * kl + torch.where(places == last, batch["reward"][:, None], 0.0)

    @torch.no_grad()
    def prepare(self, batch: Batch) -> Batch:
        """Add what stays fixed during an update: log-probs, values, rewards of tokens, advantages, targets."""
        config, inputs = self.config, (batch["ids"], batch["attention"])
        with self.stopwatch("time/old_logprob"):
            old, entropy = token_scores(self.model, *inputs, config.temperature)
            value = state_values(self.model, *inputs)
        with self.stopwatch("time/ref_logprob"):
            reference, _ = token_scores(self.reference, *inputs, config.temperature)
        own = batch["loss_mask"]
        ready = {
            **batch,
            "own": own,
            "old_log_prob": old,
            "ref_log_prob": reference,
            "entropy": entropy,
            "value": value,
        }
        reward = self.token_rewards(ready)
        paid = whitened(reward, own, shift=False) if config.whiten_rewards else reward
        raw, target = token_gae(paid, value, own, config.gamma, config.lam)
        advantage = whitened(raw, own) if config.whiten_advantages else raw
        return {
            **ready,
            "token_reward": reward,
            "raw_advantage": raw,
            "advantage": advantage,
            "value_target": target,
        }

    def log_prob(self, batch: Batch) -> Tensor:
        """Log-probability [B, L] of the stored tokens under the actor."""
        return token_scores(self.model, batch["ids"], batch["attention"], self.config.temperature)[0]

    def value_errors(self, value: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """Squared errors of values [B, L], without and with the value held within its clip range."""
        reach = self.config.cliprange_value
        near = torch.minimum(torch.maximum(value, batch["value"] - reach), batch["value"] + reach)
        return (value - batch["value_target"]) ** 2, (near - batch["value_target"]) ** 2

    def loss(self, batch: Batch) -> dict[str, Tensor]:
        """The terms to minimise, `policy` and `value`, each with its weight; means over the tokens in the loss mask."""
        mask = batch["loss_mask"]
        features = self.model.features(batch["ids"], batch["attention"])
        log_prob, _ = scores_of(self.model.logits(features), batch["ids"], batch["attention"], self.config.temperature)
        ratio = torch.where(mask, log_prob - batch["old_log_prob"], 0.0).exp()
        gain = clipped_surrogate(ratio, batch["advantage"], self.config.cliprange, self.config.cliprange)
        seen = self.model.head(features).squeeze(-1)
        value = torch.cat([torch.zeros_like(seen[:, :1]), seen[:, :-1]], 1)
        free, held = self.value_errors(value, batch)
        error = masked_mean(torch.maximum(free, held), mask) / 2
        return {"policy": -masked_mean(gain, mask), "value": self.config.vf_coef * error}

    # ---- the update ---------------------------------------------------------------------------------------------

    def minibatches(self, batch: Batch) -> Iterator[Batch]:
        """One pass: every row once, in a new order."""
        order: Any = torch.randperm(len(batch["ids"]), generator=self.draws)
        for rows in order.chunk(self.config.num_mini_batches):
            yield rows_of(batch, rows)

    def step(self, minibatch: Batch) -> dict[str, float]:
        """One optimiser step; returns the terms, how the ratios were before it, and the gradient norm."""
        mask = minibatch["loss_mask"]
        with torch.no_grad():
            ratio = (self.log_prob(minibatch) - minibatch["old_log_prob"])[mask].exp()
        clip = self.config.cliprange
        measures = clip_measures(ratio, minibatch["advantage"][mask], clip, clip, None)
        terms = self.loss(minibatch)
        self.optimiser.zero_grad()
        cast(Any, torch.stack(list(terms.values())).sum()).backward()
        grad_norm = clip_grad_norm_(self.model.parameters(), self.config.max_grad_norm)
        self.optimiser.step()
        self.gradient_steps += 1
        named = {name: float(term.detach()) for name, term in terms.items()}
        return {**measures, **ratio_measures(ratio), **named, "optim/grad_norm": float(grad_norm)}

    def update(self, found: Experience) -> dict[str, float]:
        """All steps on one batch; returns the metrics of the update."""
        batch = self.prepare(found.batch())
        measures = self.batch_measures(found, batch)
        before, steps = weight_vector(self.model), list[dict[str, float]]()
        with self.stopwatch("time/update"):
            for _ in range(self.config.num_ppo_epochs):
                steps += [self.step(minibatch) for minibatch in self.minibatches(batch)]
        self.updates += 1
        measures["optim/weight_delta"] = norm(weight_vector(self.model) - before) / norm(before)
        return {**measures, **self.after_measures(batch), **self._named(over_steps(steps))}

    def batch_measures(self, found: Experience, batch: Batch) -> dict[str, float]:
        """All that is known of a batch before the first step on it."""
        own, solved = batch["own"], float(found.solved.float().mean())
        self.tokens += int(batch["attention"].sum())
        return {
            **reward_measures(found.reward, found.components),
            **advantage_measures(batch["raw_advantage"][own]),
            **token_advantage_measures(batch["advantage"][own]),
            **value_measures(batch["value"][own], batch["value_target"][own]),
            **length_measures(found.rows, found.solved),
            **reference_measures(batch["old_log_prob"], batch["ref_log_prob"], own),
            **mismatch_measures(batch["old_log_prob"][own], batch["sampler_log_prob"][own]),
            "reward/final_mean": float(batch["token_reward"].sum(1).mean()),
            "reward/true_objective": solved,
            "reward/success_rate": solved,
            "policy/entropy": float(batch["entropy"][own].mean()),
            "policy/logprob_mean": float(batch["old_log_prob"][own].mean()),
            "policy/logprob_min": float(batch["old_log_prob"][own].min()),
            "sample/tokens_total": float(self.tokens),
        }

    @torch.no_grad()
    def after_measures(self, batch: Batch) -> dict[str, float]:
        """How far the update moved policy and values, over the whole batch."""
        own = batch["own"]
        value = state_values(self.model, batch["ids"], batch["attention"])
        free, held = self.value_errors(value, batch)
        return {
            **moved_measures((self.log_prob(batch) - batch["old_log_prob"])[own]),
            "critic/value_delta": float((value - batch["value"])[own].mean()),
            "critic/clip_fraction": float((held > free)[own].float().mean()),
            "critic/loss_unclipped": float(free[own].mean()) / 2,
        }

    def _named(self, mean: dict[str, float]) -> dict[str, float]:
        policy, value = mean.pop("policy"), mean.pop("value")
        return mean | {
            "policy/loss": policy,
            "policy/loss_total": policy,
            "critic/loss": value / self.config.vf_coef if self.config.vf_coef else 0.0,
            "optim/loss_total": policy + value,
            "policy/clip_range": self.config.cliprange,
            "policy/kl_coef": self.config.kl_coef,
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
    config: RLHFPPOConfig | None = None,
    puzzles: Puzzles | None = None,
    model: TinyLM | None = None,
    reward_model: RewardModel | None = None,
    log: Log | None = None,
) -> RLHFPPO:
    """Train for this many updates, from `model` or a supervised warm start, on `reward_model` or one learned first."""
    trainer = RLHFPPO(seed=seed, config=config, puzzles=puzzles, model=model, reward_model=reward_model)
    trainer.learn(updates, log)
    return trainer
