"""`TokenPieces`: the parts of a language-model trainer that the token invariants take hold of.

A user fills in what the trainer has and names the function that returns it:
`firstbreak preflight tokens my_trainer:make`. Tensors are torch tensors; B is the rows of a batch, L its columns.
What stands in the column of a token belongs to that token: `old_logprobs[b, t]` is the log-prob of `input_ids[b, t]`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor, nn
    from torch.optim import Optimizer

TokenBatch = Mapping[str, "Tensor"]
"""Canonical keys. Always: `input_ids attention_mask loss_mask` [B, L] and `advantages` [B] or [B, L]. Where there are
any: `old_logprobs ref_logprobs sampler_logprobs` [B, L] (0 where nothing was sampled; the sampler's are those of the
engine that drew the tokens), `rewards` [B], `group` [B] (what the trainer normalises over), `prompt` [B] (a number for
each different prompt), `values value_targets` [B, L], `sampled_ids` [B, L] (as the sampler drew them, 0 elsewhere) and
`roles` [B, L] (see `PADDING`): who wrote each token, told by the sampler and not by the loss mask."""

PADDING, PROMPT, SAMPLED, TOOL = 0, 1, 2, 3
"""Roles of a token: nobody's, given, written by the policy, written by a tool or an environment."""


@dataclass
class TokenPieces:
    """The parts of a trainer, as callables on canonical batches; None where a trainer has none."""

    model: nn.Module
    """The policy. `loss` must call it; it takes input_ids and attention_mask and returns logits [B, L, V], bare or as
    `.logits`."""
    loss: Callable[[TokenBatch], Tensor | Mapping[str, Tensor]]
    """The scalar that is minimised, or its terms (`policy`, `kl`, `value`, `entropy` ...), coefficients included. It
    must use the columns it is given and step nothing."""
    batch: Callable[[], TokenBatch]
    """The first minibatch that the loss sees of a fresh rollout, made as training makes it."""
    forward: Callable[[Tensor, Tensor], Tensor] | None = None
    """(input_ids, attention_mask) -> logits [B, L, V], where the model is called otherwise."""
    tap: nn.Module | None = None
    """The module whose output the head turns into logits, where it cannot be told from the model: not needed for
    models of transformers, nor where `loss` calls `model` itself."""
    logprobs: Callable[[TokenBatch], Tensor] | None = None
    """The trainer's own log-prob of every token [B, L]."""
    reference: nn.Module | None = None
    """The reference policy, where it is a model of its own."""
    reference_logprobs: Callable[[TokenBatch], Tensor] | None = None
    """Log-prob of every token under the reference [B, L], as training computes it."""
    optimiser: Optimizer | None = None
    """What steps `model`."""
    update: Callable[[TokenBatch], Any] | None = None
    """One optimiser step, as training does it."""
    split_loss: Callable[[Sequence[TokenBatch]], Tensor] | None = None
    """The loss of one optimiser step that is accumulated over these micro-batches of equal size."""
    advantages: Callable[[Tensor, Tensor], Tensor] | None = None
    """(rewards [B], group [B]) -> advantages [B]."""
    token_rewards: Callable[[Tensor, TokenBatch], Tensor] | None = None
    """(scores [B], batch) -> reward of each token [B, L], KL penalty included."""
    gae: Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]] | None = None
    """(token rewards [B, L], values [B, L], mask [B, L]) -> (raw advantages [B, L], value targets [B, L])."""
    whiten: Callable[[Tensor, Tensor], Tensor] | None = None
    """(advantages [B, L], mask [B, L]) -> normalised advantages [B, L]."""
    values: Callable[[TokenBatch], Tensor] | None = None
    """The value before each token was written [B, L]."""
    entropy: Callable[[TokenBatch], Tensor] | None = None
    """The mean entropy that is logged or added to the loss."""
    algorithm: str = "GRPO"
    """GRPO, RLOO, REINFORCE or PPO: a name for the report."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Canonical settings: `temperature`, `clip_low`, `clip_high` (bounds are 1 - low and 1 + high), `kl_coef`,
    `kl_in` (`loss` or `reward`), `normalisation` (`token`: one mean over all tokens of the step; `sequence`: mean of
    sequence means; `constant`: rows times `max_completion_tokens`; `local-token`: a token mean of each micro-batch;
    `sum`), `max_completion_tokens`, `advantage_scale` (`group`, `batch` or `none`), `groups_adjacent` (the sampler
    keeps a group's rows together), `ratio_level` (`token`; `sequence`: the geometric mean of its tokens' ratios;
    `sequence-sum`: their product), `entropy_coef`, `gamma`, `gae_lambda`, `end_token_id`, `pad_token_id`. A check that
    needs one that is missing says so."""
