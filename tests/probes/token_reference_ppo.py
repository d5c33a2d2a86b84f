"""A readable PPO trainer on token batches: value head, KL penalty in the reward, GAE over trained tokens."""

from __future__ import annotations

from typing import Any

import torch

from firstbreak.preflight.tokens.pieces import TokenPieces

from .token_reference import Batch, Grpo


class Ppo(Grpo):
    """Proximal policy optimisation with the reward of a completion on its last token."""

    normalisation = "token"
    kl_coef, entropy_coef, value_coef = 0.05, 0.01, 0.5
    gamma, gae_lambda = 1.0, 0.95

    def finish(self, batch: Batch) -> Batch:
        """Values, token rewards, GAE and whitening."""
        mask = batch["loss_mask"].float()
        with torch.no_grad():
            batch["values"] = self.values(batch) * mask
        rewards = self.token_rewards(batch["rewards"], batch)
        advantages, batch["value_targets"] = self.gae(rewards, batch["values"], mask)
        batch["advantages"] = self.whiten(advantages, mask) * mask
        del batch["group"]
        return batch

    def values(self, batch: Batch) -> Any:
        """The value of the state in which each token was chosen: that of the column before [B, L]."""
        values = self.model.both(batch["input_ids"], batch["attention_mask"])[1]
        return torch.nn.functional.pad(values[:, :-1], (1, 0))

    def last(self, mask: Any) -> Any:
        """The column of the last trained token [B]."""
        columns = torch.arange(mask.shape[1])[None].expand_as(mask)
        return torch.where(mask > 0, columns, -1).max(1).values

    def token_rewards(self, scores: Any, batch: Batch) -> Any:
        """- beta (log p - log p_ref) on every trained token, the score on the last one."""
        mask = batch["loss_mask"].float()
        rewards = -self.kl_coef * (batch["old_logprobs"] - batch["ref_logprobs"]) * mask
        rewards[torch.arange(len(mask)), self.last(mask)] += scores
        return rewards

    def gae(self, rewards: Any, values: Any, mask: Any) -> tuple[Any, Any]:
        """Advantages and value targets [B, L]; columns that are not trained are stepped over."""
        carry, following = torch.zeros(len(mask)), torch.zeros(len(mask))
        advantages = torch.zeros_like(rewards)
        for t in reversed(range(mask.shape[1])):
            live = mask[:, t] > 0
            delta = rewards[:, t] + self.gamma * following - values[:, t]
            carry = torch.where(live, delta + self.gamma * self.gae_lambda * carry, carry)
            following = torch.where(live, values[:, t], following)
            advantages[:, t] = torch.where(live, carry, 0.0)
        return advantages, self.targets(advantages, values) * mask

    def targets(self, advantages: Any, values: Any) -> Any:
        """What the value head is trained towards."""
        return advantages + values

    def whiten(self, advantages: Any, mask: Any) -> Any:
        """Mean 0 and standard deviation 1 over the mask."""
        count = mask.sum()
        mean = (advantages * mask).sum() / count
        variance = ((advantages - mean).square() * mask).sum() / count
        return (advantages - mean) / (variance + 1e-8).sqrt()

    def by_token(self, advantages: Any, ratio: Any) -> Any:
        """Advantages are by token already."""
        del ratio
        return advantages

    def entropy(self, batch: Batch) -> Any:
        """The mean entropy over trained tokens."""
        mask = batch["loss_mask"][:, 1:].float()
        scores = self.scores(self.model(batch["input_ids"], batch["attention_mask"])[:, :-1])
        return (-(scores.exp() * scores).sum(-1) * mask).sum() / mask.sum()

    def value_loss(self, batch: Batch, mask: Any) -> Any:
        """Half the mean squared distance to the targets over trained tokens."""
        return 0.5 * ((self.values(batch) - batch["value_targets"]).square() * mask).sum() / mask.sum()

    def loss(self, batch: Batch, parts: int = 1, step_tokens: Any = None) -> Any:
        """Policy, value and entropy terms; the KL is in the reward."""
        mask = self.mask_of(batch)
        kept = dict(batch, ref_logprobs=batch["old_logprobs"] * 0)
        coef, self.kl_coef = self.kl_coef, 0.0
        policy = super().loss(kept, parts, step_tokens)
        self.kl_coef = coef
        share = 1.0 if step_tokens is None else mask.sum() / step_tokens
        value, entropy = self.value_loss(batch, mask), self.entropy(batch)
        return policy + share * (self.value_coef * value - self.entropy_coef * entropy)

    def token_pieces(self) -> TokenPieces:
        """What the invariants take hold of."""
        pieces = super().token_pieces()
        pieces.advantages = None
        pieces.token_rewards, pieces.gae, pieces.whiten = self.token_rewards, self.gae, self.whiten
        pieces.values, pieces.entropy, pieces.algorithm = self.values, self.entropy, "PPO"
        return pieces

    def settings(self) -> dict[str, Any]:
        """Canonical settings."""
        return {**super().settings(), "kl_in": "reward", "gamma": self.gamma, "gae_lambda": self.gae_lambda}
