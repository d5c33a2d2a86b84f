"""Bytes that the forward pass keeps for the backward pass, operation by operation.

Counted as in Korthikanti et al. 2022, arXiv 2205.05198, section 4, whose sum sbh(34 + 5as/h) it gives for their model
(16 bits, GELU MLP of 4h, dropout, no grouped keys), but for any width, gate, number of key heads and precision.
"""

from __future__ import annotations

from dataclasses import dataclass

from .architecture import Architecture
from .plan import Model, Plan


@dataclass(frozen=True)
class LayerActivations:
    """Bytes of one layer for one micro-batch."""

    norms: int
    attention: int
    scores: int
    mlp: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.norms + self.attention + self.scores + self.mlp


def layer_activations(a: Architecture, plan: Plan) -> LayerActivations:
    """Return what one layer keeps on one GPU; tensor parallelism divides all but the norms and the residual masks."""
    d, t = plan.bytes_of.compute, max(1, plan.tensor_parallel)
    tokens = plan.micro_batch * plan.tokens
    return LayerActivations(
        norms=2 * tokens * norm_bytes(a, d),
        attention=tokens * (attention_bytes(a, d, plan.flash_attention) // t + (a.hidden if a.dropout else 0)),
        scores=0 if plan.flash_attention else score_bytes(a, d, plan) // t,
        mlp=tokens * (mlp_bytes(a, d) // t + (a.hidden if a.dropout else 0)),
    )


def norm_bytes(a: Architecture, d: int) -> int:
    """Return bytes a token of one norm: its input and its output, which the linear maps after it keep.

    An RMS norm written out keeps its input in 32 bits and the scaled input as well.
    """
    return a.hidden * (2 * d if a.norm == "layer" else 4 + 2 * d)


def attention_bytes(a: Architecture, d: int, flash: bool) -> int:
    """Return bytes a token: queries, keys, values, the output; the fused kernel also keeps a 32-bit sum a head.

    Without the fused kernel grouped keys and values are written out for every head.
    """
    keys = a.keys if flash else a.queries
    return (2 * a.queries + 2 * keys) * d + (4 * a.heads if flash else 0)


def score_bytes(a: Architecture, d: int, plan: Plan) -> int:
    """Return bytes of the attention scores [b, a, s, s]: the softmax, with dropout also its mask and its output.

    Code that takes the softmax of 16-bit scores in 32 bits keeps four more bytes for each.
    """
    each = d + ((1 + d) if a.dropout else 0)
    return plan.micro_batch * a.heads * plan.tokens**2 * each


def mlp_bytes(a: Architecture, d: int) -> int:
    """Return bytes a token: gate, its activation, up and their product; or the hidden units before and after."""
    return (4 if a.gated else 2) * a.intermediate * d * a.experts_active


def kept_activations(model: Model, plan: Plan) -> int:
    """Return what all layers keep until the backward pass, by the plan's checkpointing.

    selective: the attention scores are computed anew; full: only the input of each layer is kept (Chen et al. 2016,
    arXiv 1604.06174). One layer is held whole while it is computed anew, by when the logits are gone: only what it
    takes beyond them counts.
    """
    a = model.architecture
    layer = layer_activations(a, plan)
    tokens, d = plan.micro_batch * plan.tokens, plan.bytes_of.compute
    end = tokens * norm_bytes(a, d)
    if plan.checkpointing == "full":
        return a.layers * tokens * a.hidden * d + max(0, layer.total - logits_bytes(model, plan)) + end
    anew = layer.scores if plan.checkpointing == "selective" else 0
    return a.layers * (layer.total - anew) + max(0, anew - logits_bytes(model, plan)) + end


def logits_bytes(model: Model, plan: Plan, trained: bool = True) -> int:
    """Return the bytes of the logits of the tokens held at a time.

    Trained: at the start of the backward pass the log-softmax, its gradient and the gradient of the logits, 4 bytes
    each (measured; code that holds on to its logits adds them). Without a gradient: the logits and a 32-bit copy.
    """
    if model.scalar_head:
        return 0
    tokens = plan.micro_batch * plan.tokens
    if plan.logits_chunk_tokens:
        tokens = min(tokens, plan.logits_chunk_tokens)
    each = 12 if trained else plan.bytes_of.compute + 4
    return tokens * model.architecture.vocab * each // max(1, plan.tensor_parallel)


def kv_bytes_per_token(a: Architecture, d: int = 2) -> int:
    """Return the bytes that one generated or read token takes in the cache: keys and values of every layer."""
    return 2 * a.layers * a.keys * d
