"""`Plan`: what is to lie on one GPU, and how it is spread over several."""

from __future__ import annotations

from dataclasses import dataclass, field

from .architecture import Architecture

GIB = 1 << 30

SHARDING = ("none", "zero1", "zero2", "zero3", "fsdp")
CHECKPOINTING = ("none", "selective", "full")
ENGINES = ("none", "trainer", "colocated", "separate")
ROLES = ("actor", "critic", "reference", "reward")


@dataclass(frozen=True)
class Precision:
    """Bytes a parameter takes: as a weight, a gradient, a master copy, one number of the optimiser's state.

    `compute` is what an activation takes; `cast` a copy of the weights that autocast makes for computing.
    """

    weight: int
    gradient: int
    master: int
    state: int
    compute: int
    cast: int = 0


PRECISIONS: dict[str, Precision] = {
    "mixed": Precision(2, 2, 4, 4, 2),
    "amp": Precision(4, 4, 0, 4, 2, cast=2),
    "bf16": Precision(2, 2, 0, 2, 2),
    "fp32": Precision(4, 4, 0, 4, 4),
}
"""mixed: 16-bit weights with a 32-bit master copy (Rajbhandari et al. 2019, arXiv 1910.02054, section 3.1).
amp: 32-bit weights under autocast. bf16: everything in 16 bits."""

OPTIMISERS: dict[str, tuple[int, bool]] = {
    "adam": (2, False),
    "adamw": (2, False),
    "adamw8bit": (2, True),
    "lion": (1, False),
    "momentum": (1, False),
    "rmsprop": (1, False),
    "sgd": (0, False),
    "adafactor": (0, False),
    "adamw_torch": (2, False),
    "adamw_torch_fused": (2, False),
    "adamw_8bit": (2, True),
    "adamw_bnb_8bit": (2, True),
}
"""Optimiser, the last four as transformers calls them -> (numbers of state for each parameter, whether in 8 bits).
Adafactor's factored second moments are below 1 % (Shazeer and Stern 2018, arXiv 1804.04235); 8 bits with block scales
cost 1.02 bytes (Dettmers et al. 2021, arXiv 2110.02861)."""


@dataclass(frozen=True)
class Model:
    """One model. `bits` overrides the width of frozen weights (4 for NF4); `scalar_head`: critic and reward model.

    `shares`: the role whose trunk it uses (a value head, a reference that is the actor with its adapter off); it then
    costs nothing but its head. `offloaded`: in host memory except in its own phase.
    """

    role: str
    architecture: Architecture
    trained: bool = False
    parameters: int = 0
    """Given count; 0 takes that of the architecture."""
    bits: int = 0
    lora_rank: int = 0
    lora_targets: tuple[str, ...] = ("q", "k", "v", "o")
    shares: str = ""
    offloaded: bool = False

    @property
    def scalar_head(self) -> bool:
        """Whether it gives one number for a token instead of logits."""
        return self.role in ("critic", "reward")

    @property
    def count(self) -> int:
        """Parameters of its own, without adapters."""
        if self.shares:
            return self.architecture.hidden if self.scalar_head else 0
        return self.parameters or self.architecture.parameters(self.scalar_head)

    @property
    def adapter_count(self) -> int:
        """Parameters of its adapters: rank times (in + out) of each target (Hu et al. 2021, arXiv 2106.09685)."""
        a = self.architecture
        widths = [sum(a.linears[t]) * (a.experts if t in ("gate", "up", "down") else 1) for t in self.targets]
        return self.lora_rank * a.layers * sum(widths)

    @property
    def targets(self) -> tuple[str, ...]:
        """The linear maps with adapters."""
        if not self.lora_rank:
            return ()
        known = self.architecture.linears
        return tuple(known) if "all-linear" in self.lora_targets else tuple(t for t in self.lora_targets if t in known)

    @property
    def trainable(self) -> int:
        """Parameters that are trained on."""
        if not self.trained:
            return 0
        return self.adapter_count if self.lora_rank else self.count


@dataclass(frozen=True)
class Rollout:
    """How samples are generated.

    `engine`: none; trainer (the training weights generate); colocated (an engine on the same GPU); separate (on other
    GPUs of the same size). `sequences` run at a time. `sleeps`: the engine gives its memory back during updates.
    """

    engine: str = "none"
    gpu_memory_utilisation: float = 0.9
    sequences: int = 0
    tensor_parallel: int = 1
    sleeps: bool = False


@dataclass(frozen=True)
class Plan:
    """Everything the ledger needs. Lengths in tokens, `micro_batch` in sequences on one GPU."""

    models: tuple[Model, ...]
    gpu_bytes: int
    precision: str = "mixed"
    optimiser: str = "adamw"
    sharding: str = "none"
    ranks: int = 1
    tensor_parallel: int = 1
    checkpointing: str = "none"
    micro_batch: int = 1
    prompt_tokens: int = 512
    response_tokens: int = 512
    flash_attention: bool = True
    logits_chunk_tokens: int = 0
    """Tokens whose logits are held at a time; 0 holds all."""
    offload_optimiser: bool = False
    rollout: Rollout = field(default_factory=Rollout)
    fragmentation_frac: float = 0.1
    """Allowance of the allocator for what it holds and cannot use; 5 to 20 % are seen."""
    context_bytes: int = int(0.8 * GIB)
    """What the driver, the kernels and the communication library take."""

    @property
    def tokens(self) -> int:
        """Tokens of one sequence."""
        return self.prompt_tokens + self.response_tokens

    @property
    def bytes_of(self) -> Precision:
        """Bytes a parameter takes in this precision."""
        return PRECISIONS[self.precision]

    def model(self, role: str) -> Model | None:
        """Return the model in this role, None when there is none."""
        return next((m for m in self.models if m.role == role), None)
