"""`ledger`: what lies on one GPU in each phase of a run, row by row, and the peak of each phase."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from .activations import kept_activations, kv_bytes_per_token, layer_activations, logits_bytes
from .plan import Model, Plan
from .states import states_of

ROLLOUT, SCORING = "rollout", "scoring"
ERROR_FRAC = {"weights": 0.0, "gradients": 0.0, "optimiser": 0.0, "activations": 0.15, "logits": 0.2}
"""How far a row may be off, by item: measured on small models by benchmarks/preflight/memory_ledger.py, with room."""
OTHER_ERROR_FRAC = 0.05
GUESSED_ERROR_FRAC = 0.3
"""Activations of an architecture that was guessed from a parameter count."""


@dataclass(frozen=True)
class Entry:
    """One row: `item` of `model` takes `size_bytes` in these `phases`."""

    model: str
    item: str
    size_bytes: int
    phases: tuple[str, ...]
    formula: str
    error_frac: float = 0.0


@dataclass(frozen=True)
class Ledger:
    """All rows of a plan."""

    plan: Plan
    phases: tuple[str, ...]
    entries: tuple[Entry, ...]

    def total(self, phase: str) -> int:
        """Return the bytes of all rows in `phase`, without allowances."""
        return sum(e.size_bytes for e in self.entries if phase in e.phases)

    def peak(self, phase: str) -> int:
        """Return the expected peak of `phase`: the rows, fragmentation of what is not the engine's, the context."""
        mine = [e for e in self.entries if phase in e.phases]
        loose = sum(e.size_bytes for e in mine if e.model != "engine")
        pools = sum(e.size_bytes for e in mine if e.model == "engine")
        return round(loose * (1 + self.plan.fragmentation_frac)) + pools + self.plan.context_bytes

    def least(self, phase: str) -> int:
        """Return what `phase` takes at least: every row at the lower end of its error, no fragmentation."""
        rows = (e for e in self.entries if phase in e.phases)
        return round(sum(e.size_bytes * (1 - e.error_frac) for e in rows)) + self.plan.context_bytes

    @cached_property
    def worst(self) -> str:
        """The phase with the highest peak."""
        return max(self.phases, key=self.peak)

    @property
    def worst_bytes(self) -> int:
        """The highest peak."""
        return self.peak(self.worst)

    def item(self, name: str, phase: str | None = None) -> int:
        """Return the bytes of all rows of this item, in `phase` or in the worst one."""
        return sum(e.size_bytes for e in self.entries if e.item == name and (phase or self.worst) in e.phases)


def ledger(plan: Plan) -> Ledger:
    """Return the ledger of `plan`."""
    trained = [m for m in plan.models if m.trained]
    updates = tuple(f"update {m.role}" for m in trained)
    phases = ((ROLLOUT,) if plan.rollout.engine != "none" else ()) + (SCORING,) * _scores(plan) + updates
    phases = phases or (SCORING,)
    entries = [entry for model in plan.models for entry in _states(model, plan, phases)]
    entries += [entry for model in trained for entry in _update(model, plan)]
    entries += _scoring(plan) if SCORING in phases else ()
    entries += _engine(plan, phases)
    return Ledger(plan, phases, tuple(e for e in entries if e.size_bytes))


def _scores(plan: Plan) -> bool:
    return any(not m.trained for m in plan.models) or plan.rollout.engine != "none"


def _states(model: Model, plan: Plan, phases: tuple[str, ...]) -> Iterator[Entry]:
    """Yield what a model keeps: weights and optimiser always, gradients and gathered layers while it is used."""
    states = states_of(model, plan)
    own = tuple(p for p in phases if p == f"update {model.role}")
    used = own or ((SCORING,) if SCORING in phases else phases)
    resident = used if model.offloaded else phases
    spread = f"/{plan.ranks} ({plan.sharding})" if plan.sharding != "none" and plan.ranks > 1 else ""
    yield Entry(model.role, "weights", states.weights, resident, f"{model.count} parameters{spread}")
    yield Entry(
        model.role, "optimiser", states.optimiser, resident, f"{plan.optimiser}, {model.trainable} trained{spread}"
    )
    yield Entry(model.role, "gradients", states.gradients, own, f"{model.trainable} trained{spread}")
    yield Entry(model.role, "gathered weights", states.gathered, used, "two whole layers at a time", OTHER_ERROR_FRAC)
    yield Entry(model.role, "autocast copies", states.cast, own, "16-bit copies of the weights", OTHER_ERROR_FRAC)


def _update(model: Model, plan: Plan) -> Iterator[Entry]:
    phase = (f"update {model.role}",)
    wide = GUESSED_ERROR_FRAC if model.architecture.guessed else ERROR_FRAC["activations"]
    size = f"{plan.micro_batch} x {plan.tokens} tokens, {model.architecture.layers} layers"
    kept = kept_activations(model, plan)
    yield Entry(model.role, "activations", kept, phase, f"{size}, checkpointing {plan.checkpointing}", wide)
    held = plan.logits_chunk_tokens or plan.micro_batch * plan.tokens
    shape = f"{held} tokens x {model.architecture.vocab} words"
    yield Entry(model.role, "logits", logits_bytes(model, plan), phase, shape, ERROR_FRAC["logits"])


def _scoring(plan: Plan) -> Iterator[Entry]:
    """Yield the largest of the passes without a gradient: one layer at a time, and the logits."""
    passes = [m for m in plan.models if not m.trained or m.role in ("actor", "critic")]
    sizes = {
        m.role: (layer_activations(m.architecture, plan).total, logits_bytes(m, plan, trained=False)) for m in passes
    }
    if not sizes:
        return
    role = max(sizes, key=lambda r: sum(sizes[r]))
    layer, logits = sizes[role]
    yield Entry(role, "activations", layer, (SCORING,), "one layer at a time", GUESSED_ERROR_FRAC)
    yield Entry(role, "logits", logits, (SCORING,), "log-probs without a gradient", ERROR_FRAC["logits"])


def _engine(plan: Plan, phases: tuple[str, ...]) -> Iterator[Entry]:
    """Yield what generation takes on this GPU: a pool taken at the start, or the cache of the trainer's own weights."""
    actor, rollout = plan.model("actor"), plan.rollout
    if actor is None or rollout.engine in ("none", "separate"):
        return
    per_token = kv_bytes_per_token(actor.architecture, plan.bytes_of.compute)
    if rollout.engine == "trainer":
        tokens = rollout.sequences * plan.tokens
        per_gpu = per_token // max(1, plan.tensor_parallel)
        yield Entry("actor", "kv cache", tokens * per_gpu, (ROLLOUT,), f"{tokens} tokens x {per_gpu} bytes")
        return
    pool = round(rollout.gpu_memory_utilisation * plan.gpu_bytes)
    weights = min(pool, engine_weights(plan))
    held = (ROLLOUT,) if rollout.sleeps else phases
    yield Entry("engine", "weights", weights, held, f"16-bit copy / {rollout.tensor_parallel}")
    yield Entry("engine", "kv cache", pool - weights, held, f"rest of {rollout.gpu_memory_utilisation:g} of the GPU")


def engine_weights(plan: Plan) -> int:
    """Return the bytes of the engine's own copy of the actor on one GPU."""
    actor = plan.model("actor")
    return 0 if actor is None else round(2 * actor.count / max(1, plan.rollout.tensor_parallel))


def kv_room_tokens(plan: Plan) -> int | None:
    """Return how many tokens the engine's cache holds on the GPUs of one replica; None without an engine.

    A tenth of what is left beside the weights goes to activations and captured graphs (vLLM measures it at start).
    """
    actor, rollout = plan.model("actor"), plan.rollout
    if actor is None or rollout.engine not in ("colocated", "separate"):
        return None
    left = rollout.gpu_memory_utilisation * plan.gpu_bytes - engine_weights(plan)
    return max(0, int(0.9 * left * rollout.tensor_parallel // kv_bytes_per_token(actor.architecture)))
