"""The tap: how a loss pulls at what the policy's last layer returns, column by column.

A zero is added to the output of the body of the model (or to its logits, where the body cannot be told apart). The
gradient of the loss on that zero says which column of logits is used, how hard, and towards which token, whatever the
loss does with the log-probs in between.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from ..invariants.bench import cannot
from ..invariants.torch_types import Tensor, load_torch
from .pieces import TokenPieces


@dataclass
class Call:
    """One call of the model with gradients on: its tokens [b, l], its attention mask, and the zero that was added."""

    ids: Tensor | None
    mask: Tensor | None
    zero: Tensor


@dataclass
class Tap:
    """The calls seen, in order."""

    calls: list[Call] = field(default_factory=list[Call])

    def gradients(self, loss: Tensor) -> list[Tensor]:
        """The gradient of `loss` on the zero of each call [b, l, H]; zeros where it is not reached."""
        torch = load_torch()
        zeros = [call.zero for call in self.calls]
        if not zeros or not getattr(loss, "requires_grad", False):
            return [torch.zeros_like(zero) for zero in zeros]
        found = torch.autograd.grad(loss, zeros, allow_unused=True)
        return [torch.zeros_like(z) if g is None else g.detach() for z, g in zip(zeros, found, strict=True)]


@contextmanager
def tapped(pieces: TokenPieces) -> Generator[Tap, None, None]:
    """Within, each pass through the tap with gradients on is noted and gets its zero."""
    torch = load_torch()
    tap = Tap()
    model = cast(Any, pieces.model)
    site = cast(Any, pieces.tap) or body_of(model)
    asked: list[tuple[Any, Any]] = []

    def before(module: Any, args: Any, kwargs: Any) -> None:
        del module
        asked[:] = [_tokens_of(args, kwargs)]

    def after(module: Any, args: Any, kwargs: Any, output: Any) -> Any:
        del module
        if not torch.is_grad_enabled():
            return None
        ids, mask = _tokens_of(args, kwargs)
        if ids is None and asked:
            ids, mask = asked.pop()
        held = _tensor_of(output)
        zero = torch.zeros_like(held, requires_grad=True)
        tap.calls.append(Call(ids, mask, zero))
        return _with(output, held + zero)

    handles = [
        model.register_forward_pre_hook(before, with_kwargs=True),
        site.register_forward_hook(after, with_kwargs=True),
    ]
    try:
        yield tap
    finally:
        for handle in handles:
            handle.remove()


def _tokens_of(args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The token ids and the attention mask of a call [b, l], None where it has none."""
    torch = load_torch()
    ids = kwargs.get("input_ids", args[0] if args else None)
    if not torch.is_tensor(ids) or ids.dim() != 2 or torch.is_floating_point(ids):
        return None, None
    mask = kwargs.get("attention_mask", args[1] if len(args) > 1 else None)
    return ids, mask if torch.is_tensor(mask) and mask.shape == ids.shape else None


def body_of(model: Any) -> Any:
    """The module whose output the head turns into logits; the model itself where there is no telling."""
    inner = model.get_base_model() if hasattr(model, "get_base_model") else getattr(model, "module", model)
    body = getattr(inner, "base_model", None)
    head = getattr(inner, "get_output_embeddings", None)
    if body is not None and body is not inner and head is not None and head() is not None:
        return body
    return inner


def _tensor_of(output: Any) -> Tensor:
    for name in ("last_hidden_state", "logits"):
        found = getattr(output, name, None)
        if found is not None:
            return found
    return cast(Any, output)[0] if isinstance(output, tuple) else output


def _with(output: Any, changed: Tensor) -> Any:
    for name in ("last_hidden_state", "logits"):
        if getattr(output, name, None) is not None:
            setattr(output, name, changed)
            return output
    return (changed, *cast(Any, output)[1:]) if isinstance(output, tuple) else changed


def onto_batch(calls: list[Call], grads: list[Tensor], ids: Tensor, attention: Tensor) -> Tensor:
    """Lay the gradients of all calls on the columns of the batch [B, L, H].

    Calls may hold part of the rows, in any order, lack the last column, or pad otherwise: rows are known by their
    tokens. What falls on padding of the call falls on padding of the batch where the shapes agree.

    Raises:
        CannotLookError: a call cannot be told.
    """
    torch = load_torch()
    width = grads[0].shape[-1]
    total = torch.zeros(*ids.shape, width, dtype=grads[0].dtype)
    stripped = [tuple(row[keep.bool()].tolist()) for row, keep in zip(ids, attention, strict=True)]
    for call, grad in zip(calls, grads, strict=True):
        if call.ids is None:
            if grad.shape[:2] != ids.shape:
                raise cannot("the model is called on tokens that cannot be seen, in another shape than the batch")
            total += grad
            continue
        if call.ids.shape == ids.shape and bool((call.ids == ids).all()):
            total += grad
            continue
        for row in range(call.ids.shape[0]):
            _lay_row(total, call, grad, row, ids, attention, stripped)
    return total


def _lay_row(
    total: Tensor, call: Call, grad: Tensor, row: int, ids: Tensor, attention: Tensor, stripped: list[tuple[int, ...]]
) -> None:
    assert call.ids is not None
    torch = load_torch()
    mine = call.ids[row]
    length = len(mine)
    if length <= ids.shape[1]:
        same = (ids[:, :length] == mine).all(dim=1).nonzero().flatten()
        if len(same) == 1:
            total[int(same[0]), :length] += grad[row]
            return
    real = torch.ones_like(mine).bool() if call.mask is None else call.mask[row].bool()
    tokens = tuple(mine[real].tolist())
    hits = [i for i, s in enumerate(stripped) if s[: len(tokens)] == tokens and len(s) - len(tokens) <= 1]
    if not hits:
        raise cannot("the model is called with tokens that are not those of the batch")
    hit = hits[0]
    columns = attention[hit].bool().nonzero().flatten()[: len(tokens)]
    total[hit, columns] += grad[row, real.nonzero().flatten()]
