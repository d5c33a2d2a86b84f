"""The small trainers of `firstbreak.trainers.language` as token pieces."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from ...invariants.torch_types import Tensor, load_torch
from ..pieces import PADDING, PROMPT, SAMPLED, TOOL, TokenBatch, TokenPieces

NAMES = {
    "input_ids": "ids",
    "attention_mask": "attention",
    "advantages": "advantage",
    "old_logprobs": "old_log_prob",
    "ref_logprobs": "ref_log_prob",
    "sampler_logprobs": "sampler_log_prob",
    "rewards": "reward",
    "values": "value",
    "value_targets": "value_target",
}
"""Canonical columns and what the trainers call them; other columns keep their names."""
NORMALISATION = {
    "grpo": "sequence",
    "gspo": "sequence",
    "dr_grpo": "constant",
    "dapo": "token",
    "cispo": "token",
    "bnpo": "local-token",
}
ROOM = "firstbreak.trainers.language"


def is_reference(target: Any) -> bool:
    """Whether `target` is one of the small trainers; they need not be imported for others."""
    return any(c.__module__.startswith(ROOM) and c.__name__ in ("GRPO", "RLHFPPO") for c in type(target).__mro__)


def pieces_of(trainer: Any) -> TokenPieces:
    """The pieces of a small trainer."""
    module = sys.modules.get(f"{ROOM}.rlhf_ppo")
    ppo = module is not None and isinstance(trainer, module.RLHFPPO)
    return (Ppo if ppo else Grpo)(trainer).pieces()


class Grpo:
    """Translates between canonical batches and those of the small GRPO trainers."""

    def __init__(self, trainer: Any) -> None:
        self.trainer = trainer

    def pieces(self) -> TokenPieces:
        """Return the pieces."""
        t = self.trainer
        return TokenPieces(
            model=t.model,
            forward=lambda ids, mask: t.model(ids, mask.bool()),
            tap=t.model.norm,
            loss=lambda batch: t.loss(self.theirs(batch)),
            batch=self.batch,
            logprobs=lambda batch: t.log_prob(self.theirs(batch)),
            reference=t.reference,
            reference_logprobs=self.reference_logprobs,
            optimiser=t.optimiser,
            split_loss=self.split_loss,
            advantages=t.advantages,
            algorithm=type(t).__name__,
            settings=self.settings(),
        )

    def settings(self) -> dict[str, Any]:
        """The canonical settings of the trainer."""
        config = self.trainer.config
        found: dict[str, Any] = {
            **self.common(),
            "kl_coef": config.beta,
            "kl_in": "loss",
            "normalisation": NORMALISATION[config.loss_type],
            "advantage_scale": config.scale_rewards,
            "group_size": config.num_generations,
            "truncated_masked": config.mask_truncated,
        }
        if config.loss_type != "cispo":
            found |= dict(zip(("clip_low", "clip_high"), self.trainer.clip_range, strict=True))
        return found

    def common(self) -> dict[str, Any]:
        """Settings that all of them have."""
        from ....trainers.language.symbols import EOS, PAD

        config = self.trainer.config
        return {
            "temperature": config.temperature,
            "max_completion_tokens": config.max_new_tokens,
            "end_token_id": EOS,
            "pad_token_id": PAD,
            "padding_sides": ("left", "right"),
        }

    def batch(self) -> TokenBatch:
        """Collect and prepare one batch as training does."""
        torch = load_torch()
        found = self.trainer.collect()
        laid = self.canonical(self.trainer.prepare(found.batch()))
        prompts = [row.prompt for row in found.rows]
        numbers = {prompt: i for i, prompt in enumerate(dict.fromkeys(prompts))}
        laid["prompt"] = torch.tensor([numbers[prompt] for prompt in prompts])
        return laid

    def canonical(self, found: TokenBatch) -> dict[str, Tensor]:
        """The trainer's columns under canonical names, and who wrote each token."""
        torch = load_torch()
        laid = {ours: found[theirs] for ours, theirs in NAMES.items() if theirs in found}
        laid |= {name: value for name, value in found.items() if name not in NAMES.values()}
        own, attention = found["own"], found["attention"]
        columns = torch.arange(own.shape[1]).expand_as(own)
        first = torch.where(own, columns, own.shape[1]).amin(1, keepdim=True)
        other = torch.where(columns < first, PROMPT, TOOL)
        laid["roles"] = torch.where(own, SAMPLED, torch.where(attention, other, PADDING))
        return laid

    def theirs(self, batch: TokenBatch) -> dict[str, Tensor]:
        """Canonical columns under the trainer's names."""
        found = {NAMES.get(name, name): value for name, value in batch.items()}
        for name in ("attention", "loss_mask", "own"):
            found[name] = found[name].bool()
        return found

    def reference_logprobs(self, batch: TokenBatch) -> Tensor:
        """Log-probs of the reference [B, L]."""
        from ....trainers.language.model import token_scores

        t, found = self.trainer, self.theirs(batch)
        return token_scores(t.reference, found["ids"], found["attention"], t.config.temperature)[0]

    def split_loss(self, parts: Sequence[TokenBatch]) -> Tensor:
        """The loss of one step over `parts`, as `step` accumulates it."""
        from ....trainers.language.losses import whole_of

        torch = load_torch()
        t = self.trainer
        mask = torch.cat([part["loss_mask"].bool() for part in parts])
        whole = whole_of(mask, t.config.max_new_tokens, len(parts))
        losses = [sum(t.loss(self.theirs(part), whole).values()) for part in parts]
        return sum(losses[1:], losses[0])


class Ppo(Grpo):
    """Translates for the small PPO trainer."""

    def pieces(self) -> TokenPieces:
        """Return the pieces."""
        from ....trainers.language import advantages
        from ....trainers.language.model import state_values

        t, config = self.trainer, self.trainer.config

        def values(batch: TokenBatch) -> Tensor:
            return state_values(t.model, batch["input_ids"], batch["attention_mask"].bool())

        whiten: Callable[[Tensor, Tensor], Tensor] | None = None
        if config.whiten_advantages:
            whiten = lambda x, mask: advantages.whitened(x, mask.bool())  # noqa: E731
        return TokenPieces(
            model=t.model,
            forward=lambda ids, mask: t.model(ids, mask.bool()),
            tap=t.model.norm,
            loss=lambda batch: t.loss(self.theirs(batch)),
            batch=self.batch,
            logprobs=lambda batch: t.log_prob(self.theirs(batch)),
            reference=t.reference,
            reference_logprobs=self.reference_logprobs,
            optimiser=t.optimiser,
            token_rewards=lambda scores, batch: t.token_rewards({**self.theirs(batch), "reward": scores}),
            gae=lambda r, v, mask: advantages.token_gae(r, v, mask.bool(), config.gamma, config.lam),
            whiten=whiten,
            values=values,
            algorithm="PPO",
            settings=self.settings(),
        )

    def canonical(self, found: TokenBatch) -> dict[str, Tensor]:
        """As for GRPO, but nothing is normalised by group."""
        laid = super().canonical(found)
        laid.pop("group", None)
        return laid

    def settings(self) -> dict[str, Any]:
        """The canonical settings of the trainer."""
        config = self.trainer.config
        return {
            **self.common(),
            "clip_low": config.cliprange,
            "clip_high": config.cliprange,
            "kl_coef": config.kl_coef,
            "kl_in": "reward",
            "normalisation": "token",
            "gamma": config.gamma,
            "gae_lambda": config.lam,
        }
