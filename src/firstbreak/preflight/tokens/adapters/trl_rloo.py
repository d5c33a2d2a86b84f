"""TRL's `RLOOTrainer` as token pieces: one ratio a sequence, the KL in the reward, leave-one-out baselines.

Ahmadian et al. 2024, arXiv 2402.14740; read in TRL 1.16, `trl/trainer/rloo_trainer.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...invariants.torch_types import Tensor, load_torch
from ..pieces import TokenBatch, TokenPieces
from .trl import Grpo


def is_rloo(target: Any) -> bool:
    """Whether `target` is an RLOO trainer of TRL; TRL need not be imported for others."""
    return any(c.__module__.startswith("trl.") and c.__name__ == "RLOOTrainer" for c in type(target).__mro__)


class Rloo(Grpo):
    """Translates between canonical batches and those of an RLOO trainer."""

    algorithm = "RLOO"

    def settings(self) -> dict[str, Any]:
        """The canonical settings of the trainer."""
        t = self.trainer
        return {
            "temperature": float(t.temperature),
            "kl_coef": float(t.beta),
            "kl_in": "reward",
            "normalisation": "sequence-sum",
            "ratio_level": "sequence-sum",
            "max_completion_tokens": int(t.max_completion_length),
            "advantage_scale": "batch" if t.normalize_advantages else "none",
            "groups_adjacent": True,
            "group_size": int(t.num_generations),
            "end_token_id": t._tokenizer.eos_token_id,
            "pad_token_id": t._tokenizer.pad_token_id,
            "clip_low": float(t.epsilon_low),
            "clip_high": float(t.epsilon_high),
        }

    def canonical(self, found: Any) -> dict[str, Tensor]:
        """TRL's batch on one row of columns.

        It holds one old log-prob a sequence: each token gets its own, and an even share of what these sums lack.
        """
        torch = load_torch()
        laid = super().canonical(found)
        if "old_logps" not in found:
            return laid
        mask = laid["loss_mask"].float()
        with torch.no_grad():
            tokens = self.logprobs(laid) * mask
        short = (found["old_logps"] - tokens.sum(1)) / mask.sum(1).clamp(min=1)
        laid["old_logprobs"] = tokens + short[:, None] * mask
        if self.trainer.ref_model is not None:  # the trainer asks it in the same way, and keeps only the penalty
            with torch.no_grad():
                laid["ref_logprobs"] = self.logprobs(laid, self.trainer.ref_model) * mask
        return laid

    def theirs(self, batch: TokenBatch, items: Tensor | None = None) -> dict[str, Any]:
        """A canonical batch in TRL's layout, the old log-probs summed over each sequence."""
        inputs = super().theirs(batch, items)
        old = inputs.pop("old_per_token_logps", None)
        if old is not None:
            inputs["old_logps"] = (old * inputs["completion_mask"]).sum(1)
        return inputs

    def split_loss(self, parts: Sequence[TokenBatch]) -> Tensor:
        """The loss of one step accumulated over `parts`: the base trainer divides by their number."""
        losses = [self.loss(part) for part in parts]
        return sum(losses[1:], losses[0]) / len(parts)


def pieces_of(trainer: Any) -> TokenPieces:
    """The pieces of an RLOO trainer."""
    return Rloo(trainer).pieces()
