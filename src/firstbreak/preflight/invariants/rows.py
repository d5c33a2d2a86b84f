"""What weight an update gives to each row of its batch.

The gradient of a batch is a sum over rows, weight times the gradient of the row's own output (its log-prob, its value).
With fewer rows than parameters the weights can be solved for, whatever the trainer's code looks like: the policy loss
gives row i the weight -A_i ratio_i / B, the TD loss c (Q_i - y_i). What no weighting explains, another row or another
action put in. Float32 tells about seven digits, so each fit says how far its weights can be trusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .torch_types import Tensor, load_torch

EPS = 2.0**-23
"""Spacing of float32 at 1."""
TOO_UNSURE_FRAC = 0.05
"""Weights known worse than this fraction of the largest are not judged: the rows are too alike."""


@dataclass(frozen=True)
class Fit:
    """Weights [B] of the rows; `error` bounds what rounding does to each, `residual_frac` is the unexplained share."""

    weights: Tensor
    error: float
    residual_frac: float
    residual_error: float
    norm: float
    """Norm of the gradient."""
    parameters: int
    """Length of each row's own gradient [P]."""

    @property
    def sure(self) -> bool:
        """Whether the rows are different enough for their weights to mean something."""
        return self.error <= TOO_UNSURE_FRAC * max(float(self.weights.abs().max()), 1e-30)

    @property
    def unsure(self) -> str:
        """Why the weights mean nothing."""
        if self.parameters < len(self.weights):
            return f"{self.parameters} parameters cannot tell the weights of {len(self.weights)} rows apart"
        return "the rows' weights cannot be told apart"

    @property
    def explained(self) -> bool:
        """Whether the gradient is made of the rows' own gradients and nothing else."""
        return self.residual_frac <= self.residual_error


def jacobian(outputs: Tensor, weights: Sequence[Any]) -> Tensor:
    """The gradient of each of `outputs` [B] on `weights`, flattened: [B, P] in float64."""
    torch = load_torch()

    rows: list[Tensor] = []
    for output in outputs:
        found = torch.autograd.grad(output, list(weights), retain_graph=True, allow_unused=True)
        rows.append(_flat(found, weights))
    return torch.stack(rows)


def most_different(rows: Tensor, n: int) -> list[int]:
    """Return which `n` of `rows` [B, P] span the most: one by one the row that is farthest from those chosen before.

    Source: QR with column pivoting (Golub 1965, doi:10.1007/BF01436075).
    """
    rest, chosen = rows.clone(), list[int]()
    for _ in range(min(n, len(rows))):
        lengths = rest.norm(dim=1)
        lengths[chosen] = -1.0
        chosen.append(int(lengths.argmax()))
        direction = rest[chosen[-1]] / rest[chosen[-1]].norm().clamp_min(1e-300)
        rest = rest - (rest @ direction).unsqueeze(-1) * direction
    return chosen


def blur_frac(rows: Tensor) -> float:
    """Return what rounding does to the weights of `rows` [B, P] when all weigh the same, as a fraction of a weight."""
    return EPS * rows.shape[1] ** 0.5 * float(rows.norm(dim=1).sum()) / max(_smallest(rows), 1e-30)


def vector(gradients: dict[int, Tensor], weights: Sequence[Any]) -> Tensor:
    """`gradients` by id as one float64 vector [P] over `weights`; 0 where there is none."""
    return _flat([gradients.get(id(w)) for w in weights], weights)


def _flat(parts: Sequence[Any], weights: Sequence[Any]) -> Tensor:
    torch = load_torch()

    return torch.cat(
        [
            torch.zeros(w.numel(), dtype=torch.float64) if g is None else g.detach().double().reshape(-1)
            for g, w in zip(parts, weights, strict=True)
        ]
    )


def fit(gradient: Tensor, rows: Tensor, noise: float = 0.0) -> Fit:
    """Solve `gradient` [P] = weights [B] @ `rows` [B, P]; `noise` is the norm of what was subtracted to get it.

    Rounding moves the gradient by about eps sqrt(P) of its parts; that over the smallest singular value is what it can
    move a weight by.
    """
    torch = load_torch()

    weights = torch.linalg.lstsq(rows.T, gradient.unsqueeze(-1), driver="gelsd").solution.squeeze(-1)
    size = float(gradient.norm())
    parts = float((weights.abs() * rows.norm(dim=1)).sum()) + size + noise
    blur = EPS * rows.shape[1] ** 0.5 * parts
    rest = float((gradient - weights @ rows).norm())
    error, unexplained = blur / max(_smallest(rows), 1e-30), rest / max(size, 1e-30)
    return Fit(weights, error, unexplained, 10 * blur / max(size, 1e-30), size, rows.shape[1])


def _smallest(rows: Tensor) -> float:
    """The smallest singular value of `rows` [B, P] as a map from weights; 0 where more rows than parameters are had."""
    if len(rows) > rows.shape[1]:
        return 0.0
    return float(load_torch().linalg.svdvals(rows)[-1])
