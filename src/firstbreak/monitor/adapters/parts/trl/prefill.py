"""Whether who generates is asked with the tokens that the loss takes for the prompt.

The first pass of a model over a batch of prompts holds all their tokens. Those that its mask lets it see are, row by
row, those of the prompt that the batch is trained with; padding that it sees, tokens that are cut off or rows of others
break that, whatever the task. Where it never held, prompts go in another way by intent, and nothing is said.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from ..obeying import harmless

if TYPE_CHECKING:
    from ....core import Monitor

METRIC = "data/prompt_unlike_asked_frac"


class Prefill:
    """Keeps what the first pass is given while a batch is generated, and compares it with the batch.

    Args:
        trainer: Its model gets a hook while it generates, not longer: one that stays would be copied with the model.
        monitor: Told where something could not be read.
    """

    def __init__(self, trainer: Any, monitor: Monitor) -> None:
        self.trainer, self.monitor = trainer, monitor
        self._given: tuple[Tensor, Tensor] | None = None
        self._holds: bool | None = None
        """Whether all rows of the first batch were as they should be; None before it."""

    @contextmanager
    def watched(self) -> Generator[None]:
        """Look at what happens inside."""
        self._given, handle = None, None
        with harmless(self.monitor, "see with which tokens responses are asked for"):
            handle = self._armed()
        try:
            yield
        finally:
            if handle is not None:
                handle.remove()

    def end(self, found: Mapping[str, Any]) -> dict[str, float]:
        """Return the share of the rows of the batch `found` that were asked for with other tokens."""
        given, self._given = self._given, None
        if given is None or self._holds is False or "pixel_values" in found or "tool_mask" in found:
            return {}
        prompts, seen = found["prompt_ids"], found["prompt_mask"]
        if len(given[0]) != len(prompts):
            return {}
        share = unlike(*given, prompts, seen)
        if self._holds is None:
            self._holds = share == 0
        return {METRIC: share} if self._holds else {}

    def _armed(self) -> Any:
        trainer = self.trainer
        names = "use_vllm", "rollout_func", "tools", "environments", "environment_factories"
        if self._holds is False or any(getattr(trainer, name, None) for name in names):
            return None

        def first(module: Any, args: Any, kwargs: Mapping[str, Any]) -> None:
            del module, args
            handle.remove()
            ids, mask = kwargs.get("input_ids"), kwargs.get("attention_mask")
            if not isinstance(ids, Tensor) or ids.ndim != 2:
                return
            seen = torch.ones_like(ids) if mask is None else mask  # transformers leaves out a mask of ones
            if isinstance(seen, Tensor) and ids.shape == seen.shape:
                self._given = ids.detach().clone(), seen.detach().clone()

        handle = trainer.model.register_forward_pre_hook(first, with_kwargs=True)
        return handle


@torch.no_grad()
def unlike(ids: Tensor, mask: Tensor, prompts: Tensor, seen: Tensor) -> float:
    """Return the share of rows of which the tokens that count are others, wherever the padding stands.

    Args:
        ids: Token ids [B, S] that a model was given.
        mask: Which of them [B, S] it sees.
        prompts: Token ids [B, P] as they are trained.
        seen: Which of them [B, P] are no padding.
    """
    if ids.shape == prompts.shape:
        off = ((mask > 0) != (seen > 0)) | ((ids != prompts) & (seen > 0))
        if not bool(off.any()):
            return 0.0
    pairs = zip(_rows(ids, mask), _rows(prompts, seen), strict=True)
    return sum(given != trained for given, trained in pairs) / max(1, len(ids))


def _rows(ids: Tensor, mask: Tensor) -> list[list[int]]:
    rows, masks = (cast("list[list[int]]", cast(Any, part).tolist()) for part in (ids, mask))
    return [[i for i, on in zip(row, seen, strict=True) if on] for row, seen in zip(rows, masks, strict=True)]
