"""The mutants of the reference PPO trainer on tokens, by id with underscores; what each changes is in the list."""

from __future__ import annotations

from typing import Any

from .planting import edited
from .token_reference_ppo import Ppo

entropy_over_padding = edited(Ppo, entropy=("* mask).sum() / mask.sum()", ").mean()"))


class whitening_over_padding(Ppo):  # noqa: N801
    """Mean and variance over all columns."""

    def whiten(self, advantages: Any, mask: Any) -> Any:
        """Forget the mask."""
        return (advantages - advantages.mean()) / (advantages.var() + 1e-8).sqrt() * mask


class reward_on_padding(Ppo):  # noqa: N801
    """One column after the end token, where there is one."""

    def last(self, mask: Any) -> Any:
        """The column behind the last trained one."""
        return (super().last(mask) + 1).clamp(max=mask.shape[1] - 1)


gae_across_padding = edited(
    Ppo, gae=("following = torch.where(live, values[:, t], following)", "following = values[:, t]")
)


class gae_across_sequences(Ppo):  # noqa: N801
    """One recursion over the flattened batch."""

    def gae(self, rewards: Any, values: Any, mask: Any) -> tuple[Any, Any]:
        """The rows as one long row."""
        one = [x.reshape(1, -1) for x in (rewards, values, mask)]
        advantages, targets = super().gae(*one)
        return advantages.reshape(mask.shape), targets.reshape(mask.shape)


value_target_shifted = edited(Ppo, targets=("advantages + values", "torch.roll(advantages + values, -1, 1)"))


class value_at_wrong_token(Ppo):  # noqa: N801
    """The value of the state behind the token."""

    def values(self, batch: Any) -> Any:
        """Not shifted."""
        return self.model.both(batch["input_ids"], batch["attention_mask"])[1]


kl_penalty_added = edited(Ppo, token_rewards=("-self.kl_coef", "self.kl_coef"))


class reward_whitened_with_mean(Ppo):  # noqa: N801
    """Token rewards have mean 0."""

    def token_rewards(self, scores: Any, batch: Any) -> Any:
        """Whitened over the mask, mean and all."""
        mask = batch["loss_mask"].float()
        return self.whiten(super().token_rewards(scores, batch), mask) * mask


value_loss_over_padding = edited(
    Ppo,
    value_loss=(
        'batch["value_targets"]).square() * mask).sum() / mask.sum()',
        'batch["value_targets"] * mask).square()).mean()',
    ),
)
