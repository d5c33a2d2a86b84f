"""What must not change an update: the order of the rows, having each of them twice, and rows that are masked out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .bench import Bench
from .capture import gradients, named
from .policy_rows import base_batch, some_advantages
from .rows import EPS, vector
from .td_rows import replay_batch
from .torch_types import Tensor, load_torch


@dataclass(frozen=True)
class Laws:
    """Change of the gradient over its norm; `tolerance` is what rounding does."""

    order: float
    twice: float
    """Scale by which the gradient grows when every row is there twice: 1 for a mean, 2 for a sum."""
    padded_scale: float | None
    """Scale by which masked rows change the gradient; None without a mask."""
    padded_leak: float | None
    """Change that is not a change of scale."""
    tolerance: float


def laws(bench: Bench) -> Laws:
    """Measure `Laws`; for SAC only the order of the critic's rows would be free of chance, so it is left out."""
    torch = load_torch()

    if bench.on_policy:
        batch = dict(bench.once(base_batch))
        batch["advantage"] = some_advantages(bench.seed)
        if "value_target" in batch:
            batch["value_target"] = batch["value_target"] + 0.3 * some_advantages(bench.seed + 1)
    else:
        bench.only("DQN")
        batch = dict(bench.once(replay_batch))
    weights = [w for _, w in named(bench.pieces) if w.requires_grad]
    rows = len(batch["obs"])

    def ask(given: dict[str, Tensor]) -> Tensor:
        found = gradients(bench.pieces, given, bench.seed)
        assert found is not None
        return vector(found, weights)

    plain = ask(batch)
    size = max(float(plain.norm()), 1e-30)
    turned = torch.arange(rows - 1, -1, -1)
    double = ask({k: torch.cat([v, v]) for k, v in batch.items()})
    scale = leak = None
    if "mask" in batch:
        batch["mask"] = torch.ones_like(batch["mask"])
        plain = ask(batch)
        padded = ask({k: torch.cat([v, _garbage(k, v[: rows // 2])]) for k, v in batch.items()})
        scale = float(padded @ plain) / max(float(plain @ plain), 1e-30)
        leak = float((padded - scale * plain).norm()) / max(float(plain.norm()), 1e-30)
    return Laws(
        float((ask({k: v[turned] for k, v in batch.items()}) - plain).norm()) / size if "mask" not in batch else 0.0,
        float(double @ plain) / max(float(plain @ plain), 1e-30),
        scale,
        leak,
        10 * EPS * len(plain) ** 0.5,
    )


def _garbage(key: str, column: Tensor) -> Any:
    """Rows that must not count: mask 0, everything else far off."""
    torch = load_torch()

    if key == "mask":
        return torch.zeros_like(column)
    if not column.is_floating_point() or key in {"action", "log_prob"}:
        return column
    return column * 3.0 + 7.0
