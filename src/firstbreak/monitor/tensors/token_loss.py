"""Which tokens a policy loss trains, and whether it follows the reward: read from its gradient, not from its code.

The derivative of the loss by the log-probability of each token says what the loss does, whatever masks, advantages and
clips it was made of: a token with derivative 0 is not trained, a negative one is made more likely.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

BASES = (3_935_559_000_370_003_845, 2_862_933_555_777_941_757)
"""Of the polynomials that tell texts apart without a loop over them: multipliers for numbers modulo 2^64 of L'Ecuyer
1999, doi:10.1090/S0025-5718-99-00996-5, table 4."""


@dataclass(frozen=True)
class Responses:
    """The sampled responses of a batch.

    Args:
        ids: Token ids [B, T] as sampled, padded on the right.
        ends: Ids [E] of the tokens that end a response.
        pad: Id of the padding; it may be one of `ends`.
        paid: Reward minus the mean of its group [B]; 0 where it is not known.
    """

    ids: Tensor
    ends: Tensor
    pad: int
    paid: Tensor


@torch.no_grad()
def token_gradients(gradient: Tensor, responses: Responses) -> dict[str, Tensor]:
    """Sums over a batch [] that `shares` divides; add them up over micro-batches.

    Args:
        gradient: Derivative of the loss by the log-probability of each token [B, P + T]; the P columns before those of
            the responses are tokens of the prompt.
        responses: What was sampled.
    """
    size = gradient.abs().float()
    before = gradient.shape[1] - responses.ids.shape[1]
    own, each = size[:, before:], gradient[:, before:].float()
    trained = own.sum(1) > 0
    ended, end = _end(responses)
    ended &= trained
    dropped = ended & (own.gather(1, end[:, None])[:, 0] == 0)
    pushed = -each.sum(1)
    weight = responses.paid.abs() * (pushed != 0)
    return {
        "all": size.sum(),
        "prompt": size[:, :before].sum(),
        "padding": (own * _padding(responses)).sum(),
        "ended": ended.sum().float(),
        "end_dropped": dropped.sum().float(),
        "paid": weight.sum(),
        "agreed": (weight * pushed.sign() * responses.paid.sign()).sum(),
    }


def shares(sums: dict[str, Tensor]) -> dict[str, Tensor]:
    """The quantities of an update from the sums of its batches; NaN where a share is one of nothing."""
    return {
        "seq/prompt_loss_frac": sums["prompt"] / sums["all"],
        "seq/padding_loss_frac": sums["padding"] / sums["all"],
        "seq/end_untrained_frac": sums["end_dropped"] / sums["ended"],
        "advantage/reward_agreement": sums["agreed"] / sums["paid"],
    }


@torch.no_grad()
def mixed_prompts(prompt_ids: Tensor, group_size: int) -> dict[str, Tensor]:
    """Share of groups whose responses answer more than one prompt; 0 by definition of a group.

    Args:
        prompt_ids: [G * K, P], groups one after the other, padded alike.
        group_size: K.
    """
    groups = prompt_ids.reshape(-1, group_size, prompt_ids.shape[1])
    differs = (groups != groups[:, :1]).any(2).any(1)
    return {"group/mixed_prompt_fraction": differs.float().mean()}


@torch.no_grad()
def prompt_variety(prompt_ids: Tensor, group_size: int, in_all: int | None = None) -> dict[str, Tensor]:
    """Number of different prompts over the number of groups; 1 where every group asks something else.

    Args:
        prompt_ids: [G * K, P], padded alike, in any order.
        group_size: K.
        in_all: Different prompts in the data, where that is known: of fewer than groups, no more can be asked.
    """
    told_apart = signatures(prompt_ids, BASES[0]).sort().values
    different = 1 + (told_apart[1:] != told_apart[:-1]).sum()
    groups = len(prompt_ids) / group_size
    share = different / groups if in_all is None or in_all >= groups else (different / in_all).clamp(max=1.0)
    return {"data/distinct_prompt_frac": share}


@torch.no_grad()
def signatures(ids: Tensor, base: int) -> Tensor:
    """A number [B] for each row of `ids` [B, T] that differs where rows do (modulo 2^64, so all but certainly)."""
    keys = torch.full((ids.shape[1],), base, dtype=torch.int64, device=ids.device).cumprod(0)
    return (ids * keys).sum(1)


def _end(responses: Responses) -> tuple[Tensor, Tensor]:
    """Whether each response ended [B], and where it first did [B]; 0 where it did not."""
    is_end = torch.isin(responses.ids, responses.ends)
    return is_end.any(1), is_end.int().argmax(1)


def _padding(responses: Responses) -> Tensor:
    """Which tokens lie behind the end of a response [B, T]. Where the padding is an end token, its first one ended it;
    a response that was cut off has none, and may hold such a token that was sampled."""
    tail = (responses.ids == responses.pad).flip(1).int().cumprod(1).flip(1).bool()
    is_end = torch.isin(responses.ids, responses.ends)
    over = is_end.int().cumsum(1) - is_end.int() > 0
    first = tail.int().cumsum(1) == 1
    return tail & over & ~(first & is_end)
