"""The memory ledger against measured bytes of small real models.

Run: python benchmarks/preflight/memory_ledger.py

On a CPU: bytes of weights, gradients and optimiser states are counted; what autograd keeps is counted through its
saved-tensor hooks, every storage once, parameters left out; the peak of one update is the running sum of the
allocator's events as the profiler records them. With a GPU the peak is `torch.cuda.max_memory_allocated`, on larger
models. The blocks are written out below in plain torch as the usual implementations do it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from firstbreak.preflight.memory.activations import kept_activations, logits_bytes
from firstbreak.preflight.memory.architecture import Architecture
from firstbreak.preflight.memory.ledger import ledger
from firstbreak.preflight.memory.plan import Model, Plan
from firstbreak.preflight.memory.states import states_of

MIB = 1 << 20
TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "mixed": torch.bfloat16}


class RMSNorm(nn.Module):
    """As Llama implementations write it: in 32 bits, scaled in the width of the model."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide.to(x.dtype)


def turned(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary embedding of [b, heads, s, d]."""
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


class Attention(nn.Module):
    def __init__(self, a: Architecture, flash: bool) -> None:
        super().__init__()
        self.a, self.flash = a, flash
        biased = a.bias == "all"
        self.q = nn.Linear(a.hidden, a.queries, bias=biased or a.bias == "qkv")
        self.k = nn.Linear(a.hidden, a.keys, bias=biased or a.bias == "qkv")
        self.v = nn.Linear(a.hidden, a.keys, bias=biased or a.bias == "qkv")
        self.o = nn.Linear(a.queries, a.hidden, bias=biased)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a, (b, s, _) = self.a, x.shape
        q = self.q(x).view(b, s, a.heads, a.head_dim).transpose(1, 2)
        k = self.k(x).view(b, s, a.kv_heads, a.head_dim).transpose(1, 2)
        v = self.v(x).view(b, s, a.kv_heads, a.head_dim).transpose(1, 2)
        if not a.learned_positions:
            angle = torch.arange(s, device=x.device)[:, None] * torch.ones(a.head_dim, device=x.device)
            cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
            q, k = turned(q, cos, sin), turned(k, cos, sin)
        if self.flash:
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=a.kv_heads != a.heads)
        else:
            k, v = (t.repeat_interleave(a.heads // a.kv_heads, 1) if a.kv_heads != a.heads else t for t in (k, v))
            scores = (q * a.head_dim**-0.5) @ k.transpose(2, 3)
            hidden = torch.ones(s, s, dtype=torch.bool, device=x.device).triu(1)
            weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)
            y = functional.dropout(weights, 0.1 if a.dropout else 0.0, training=a.dropout) @ v
        return self.o(y.transpose(1, 2).reshape(b, s, -1))


class MLP(nn.Module):
    def __init__(self, a: Architecture) -> None:
        super().__init__()
        self.gate = nn.Linear(a.hidden, a.intermediate, bias=False) if a.gated else None
        self.up = nn.Linear(a.hidden, a.intermediate, bias=a.bias == "all")
        self.down = nn.Linear(a.intermediate, a.hidden, bias=a.bias == "all")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.gate is not None:
            return self.down(functional.silu(self.gate(x)) * self.up(x))
        return self.down(functional.gelu(self.up(x), approximate="tanh"))


class Layer(nn.Module):
    def __init__(self, a: Architecture, flash: bool) -> None:
        super().__init__()
        norm = nn.LayerNorm if a.norm == "layer" else RMSNorm
        self.first, self.second = norm(a.hidden), norm(a.hidden)
        self.attention, self.mlp, self.dropout = Attention(a, flash), MLP(a), 0.1 if a.dropout else 0.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + functional.dropout(self.attention(self.first(x)), self.dropout, training=self.dropout > 0)
        return x + functional.dropout(self.mlp(self.second(x)), self.dropout, training=self.dropout > 0)


class Decoder(nn.Module):
    """A decoder with the shape of `a`."""

    def __init__(self, a: Architecture, flash: bool, full_checkpoint: bool) -> None:
        super().__init__()
        self.full_checkpoint = full_checkpoint
        self.tokens = nn.Embedding(a.vocab, a.hidden)
        self.positions = nn.Embedding(a.learned_positions, a.hidden) if a.learned_positions else None
        self.layers = nn.ModuleList(Layer(a, flash) for _ in range(a.layers))
        self.norm = nn.LayerNorm(a.hidden) if a.norm == "layer" else RMSNorm(a.hidden)
        self.head = nn.Linear(a.hidden, a.vocab, bias=False)
        if a.tied:
            self.head.weight = self.tokens.weight

    def hidden(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.tokens(ids)
        if self.positions is not None:
            x = x + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False) if self.full_checkpoint else layer(x)
        return self.norm(x)

    def loss(self, ids: torch.Tensor) -> torch.Tensor:
        logits = self.head(self.hidden(ids))
        return functional.cross_entropy(logits.float().flatten(0, 1), ids.flatten())


@dataclass(frozen=True)
class Measured:
    """Bytes; `saved` is None where it cannot be counted (checkpointing), `peak` is of one update."""

    weights: int
    gradients: int
    optimiser: int
    saved: int | None
    peak: int


def measure(plan: Plan, device: str = "cpu") -> Measured:
    """Build the actor of `plan`, do one update and count."""
    torch.manual_seed(0)
    a = plan.models[0].architecture
    model = Decoder(a, plan.flash_attention, plan.checkpointing == "full").to(device, TYPES[plan.precision])
    ids = torch.randint(a.vocab, (plan.micro_batch, plan.tokens), device=device)
    saved = None if plan.checkpointing == "full" else saved_bytes(model, lambda: model.hidden(ids))
    model.loss(ids).backward()  # gradients are there from the second micro-batch on
    peak = peak_bytes(lambda: model.loss(ids).backward(), device)
    trained = list(model.parameters())
    masters = [p.detach().float().requires_grad_() for p in trained] if plan.precision == "mixed" else trained
    optimiser = torch.optim.AdamW(masters, lr=1e-4)
    for master, p in zip(masters, trained, strict=True):
        master.grad = None if p.grad is None else p.grad.to(master.dtype)
    optimiser.step()
    states = sum(t.nbytes for s in optimiser.state.values() for t in s.values() if t.dim() > 0)
    weights = sum(p.nbytes for p in trained)
    grown = sum(m.nbytes for m in masters) if masters is not trained else 0
    gradients = sum(p.nbytes for p in trained if p.grad is not None)
    return Measured(weights, gradients, states + grown, saved, weights + gradients + peak)


def saved_bytes(model: nn.Module, forward: Callable[[], torch.Tensor]) -> int:
    """Return the bytes of all storages that autograd keeps, each once, parameters left out."""
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    held: dict[int, torch.UntypedStorage] = {}

    def pack(t: torch.Tensor) -> torch.Tensor:
        storage = t.untyped_storage()
        if storage.data_ptr() not in own:
            held[storage.data_ptr()] = storage  # holding it keeps the address from being given out again
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        out = forward()
    total = sum(s.nbytes() for s in held.values())
    del out
    return total


def peak_bytes(update: Callable[[], Any], device: str) -> int:
    """Return the most bytes that `update` holds at a time beyond what was there before."""
    if device == "cuda":
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        update()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before
    os.environ["KINETO_LOG_LEVEL"] = "5"
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as seen:
        update()
    events = [e for e in seen.profiler.kineto_results.events() if e.name() == "[memory]"]
    now = most = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        now += event.nbytes()
        most = max(most, now)
    return most


def cases(device: str) -> dict[str, Plan]:
    """The models and plans that are measured; small on a CPU."""
    big = device == "cuda"
    h, layers, vocab, s, b = (1024, 8, 32_000, 1024, 4) if big else (128, 3, 2000, 128, 4)
    heads = h // 32
    inner = 11 * h // 4
    llama = Architecture(h, layers, heads, max(1, heads // 4), inner, vocab, 32)
    gpt2 = Architecture(h, layers, heads, heads, 4 * h, vocab, 32, gated=False, bias="all", norm="layer",
                        learned_positions=s, dropout=False)  # fmt: skip
    plain = Plan((Model("actor", llama, trained=True),), 80 << 30, "fp32", micro_batch=b, prompt_tokens=s // 2,
                 response_tokens=s // 2)  # fmt: skip
    with_gpt2 = replace(plain, models=(Model("actor", gpt2, trained=True),))
    dropping = replace(plain, models=(Model("actor", replace(gpt2, dropout=True), trained=True),))
    return {
        "llama fp32": plain,
        "llama bf16": replace(plain, precision="bf16"),
        "llama mixed": replace(plain, precision="mixed"),
        "llama fp32 eager attention": replace(plain, flash_attention=False),
        "llama bf16 eager attention": replace(plain, precision="bf16", flash_attention=False),
        "llama fp32 full checkpointing": replace(plain, checkpointing="full"),
        "llama untied, small vocabulary": replace(
            plain, models=(Model("actor", replace(llama, tied=False, vocab=500), trained=True),)
        ),
        "gpt2 fp32": with_gpt2,
        "gpt2 bf16": replace(with_gpt2, precision="bf16"),
        "gpt2 fp32 eager attention, dropout": replace(dropping, flash_attention=False),
    }


@dataclass(frozen=True)
class Compared:
    """Ledger over measured, minus 1; `saved` is None where it was not measured."""

    weights: float
    gradients: float
    optimiser: float
    saved: float | None
    peak: float


def compare(plan: Plan, seen: Measured) -> Compared:
    """Return how far the ledger is off, as shares of what was measured."""
    actor = plan.models[0]
    states = states_of(actor, plan)
    table = ledger(plan)
    update = table.total("update actor") - states.optimiser
    return Compared(
        states.weights / seen.weights - 1,
        states.gradients / seen.gradients - 1,
        states.optimiser / seen.optimiser - 1,
        None if seen.saved is None else kept_activations(actor, plan) / seen.saved - 1,
        update / seen.peak - 1,
    )


def main() -> int:
    """Print the table; exit 1 when a row is further off than the ledger says."""
    torch.set_num_threads(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    print(f"torch {torch.__version__} on {device}; error = ledger / measured - 1; MiB as measured")
    print(f"{'model':36} {'weights':>8} {'grads':>8} {'optim.':>8} {'kept':>16} {'logits':>8} {'peak of update':>16}")
    worst = 0.0
    for name, plan in cases(device).items():
        seen = measure(plan, device)
        off = compare(plan, seen)
        worst = max(worst, abs(off.saved or 0.0), abs(off.peak))
        kept = (
            "not counted" if seen.saved is None or off.saved is None else f"{seen.saved / MIB:7.1f} {off.saved:+7.1%}"
        )
        logits = logits_bytes(plan.models[0], plan) / MIB
        print(f"{name:36} {off.weights:+8.1%} {off.gradients:+8.1%} {off.optimiser:+8.1%} {kept:>16} {logits:8.1f} "
              f"{seen.peak / MIB:7.1f} {off.peak:+7.1%}")  # fmt: skip
    print(f"largest error of kept activations and peaks: {worst:.1%}")
    return int(worst > 0.3)


if __name__ == "__main__":
    sys.exit(main())
