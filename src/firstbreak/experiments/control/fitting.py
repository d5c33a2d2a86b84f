"""Fitting a critic to a fixed rollout: by the trainer's own updates, and by a quadratic function as reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from ...preflight.invariants.pieces import Pieces
from ..experiment import Option
from ..trial import Trial
from .taking_apart import explained_frac, insist_on, rows_of

UPDATES = 1000
"""Of the trainer's own minibatch updates: more than most trainers make in their first hundred rollouts of this size."""
FITTED = Option("updates", f"updates on the fixed rollout, at most, instead of {UPDATES}", least=1)
LOOK_UPDATES = 25
"""Updates between two looks at the fit."""
HOPELESS_UPDATES = 50
"""After so many the fit may be given up. Fits slow down as they go on, so what is closed by then, times the updates
left over, is the most that can be expected."""
RIDGE = 1.0
"""Penalty of the reference fit, in units of one row: keeps it from fitting noise. Engineering default."""
LEARNABLE_FRAC = 0.2
"""Below it a simple function cannot tell the targets of the rollout from the observations. Engineering default."""
FLAT = 1e-8
"""A spread below this is none."""
MOST_ROWS = 512
"""Rows of the rollout that are fitted."""


def fixed_rows(pieces: Pieces) -> dict[str, Any]:
    """Return rows with fixed targets under `target`, in the place of value targets, or of rewards of rows that end.

    The targets are the observation's widest column: a critic that is sound soon fits what can be read off its inputs.
    Real targets are noisy, and a critic that is slow on them need not be broken. Where all observations are the same, a
    critic that is given actions is asked for these; rewards would ask it for what it is not shown. One that is given
    none is shown drawn observations: the question is what the critic can fit, not what this task shows it.

    They are shifted and scaled to spread 1 around what the critic says now: the scale of rewards is another
    question, and a critic that has a long way to go is not broken.
    """
    import torch

    if pieces.rollout is not None:
        insist_on(pieces, "value", "update")
        rows = rows_of(pieces.rollout())
        rows = {k: v[:MOST_ROWS] for k, v in rows.items()}
        rows["advantage"] = torch.zeros_like(rows["advantage"])
        rows["obs"] = _something_to_see(rows["obs"])
        targets = _told_apart(rows, rows["value_target"])
        rows["value_target"] = _within_reach(targets, estimates(pieces, rows))
        return {**rows, "target": rows["value_target"]}
    insist_on(pieces, "minibatch", "q", "update")
    sample = cast("Any", pieces.minibatch)()
    rows = {k: sample[k].detach().clone() for k in ("obs", "action", "reward", "next_obs", "terminated")}
    rows["terminated"] = torch.ones_like(rows["terminated"])
    targets = _told_apart(rows, _by_action(rows))
    rows["reward"] = _within_reach(targets, estimates(pieces, rows)).to(rows["reward"].dtype)
    return {**rows, "target": rows["reward"]}


def _something_to_see(obs: Any) -> Any:
    """Return `obs` [B, ...]; where all are the same, as many drawn from the standard normal distribution.

    Integers are left as they are: what other numbers the critic takes for one is not known.
    """
    import torch

    if not obs.is_floating_point() or float(obs.reshape(len(obs), -1).std(0).max()) >= FLAT:
        return obs
    return torch.randn(obs.shape, dtype=obs.dtype, generator=cast(Any, torch).Generator().manual_seed(0))


def _told_apart(rows: Mapping[str, Any], own: Any) -> Any:
    """Return the observation's widest column as targets; where nothing is seen, the rollout's `own`."""
    flat = rows["obs"].reshape(len(own), -1)
    widest = flat[:, int(flat.std(0).argmax())].to(own.dtype)
    return widest if float(widest.std()) >= FLAT else own


def _by_action(rows: Mapping[str, Any]) -> Any:
    """Return the action's first entry [B] as targets; where all are the same, the rewards."""
    reward = rows["reward"]
    first = rows["action"].reshape(len(reward), -1)[:, 0].to(reward.dtype)
    return first if float(first.std()) >= FLAT else reward


def _within_reach(targets: Any, now: Any) -> Any:
    if float(((targets - targets.mean()) * (now - now.mean())).sum()) > 0:
        targets = -targets  # what the critic says by chance is not to be the answer already
    spread = float(targets.std())
    return now.mean() + (targets - targets.mean()) / (spread if spread > FLAT else 1.0)


def estimates(pieces: Pieces, rows: Mapping[str, Any]) -> Any:
    """Return what the trainer's critic says of the rows [B]; of twins, the mean."""
    import torch

    with torch.no_grad():
        if pieces.rollout is not None:
            return cast(Any, pieces.value)(rows["obs"]).reshape(-1)
        return torch.stack([q.reshape(-1) for q in cast(Any, pieces.q)(rows["obs"], rows["action"])]).mean(0)


def fit_own(trial: Trial, pieces: Pieces, rows: Mapping[str, Any], enough: float, too_little: float) -> float:
    """Return the share of the targets' variance that the trainer's critic explains after its own updates.

    These are at most `UPDATES` (or `--with updates=N`). They end as soon as `enough` is explained, or as it cannot be
    expected any more that `too_little` is exceeded.
    """
    import torch

    target = rows["target"]
    batch = {k: v for k, v in rows.items() if k != "target"}
    size = min(len(target), 64)
    begun = after = explained_frac(estimates(pieces, rows), target)
    generator = cast(Any, torch).Generator().manual_seed(trial.seed)
    most = int(trial.subject.given.get("updates") or UPDATES)
    for index in range(1, most + 1):
        some = torch.randperm(len(target), generator=generator)[:size]
        cast(Any, pieces.update)({k: v[some] for k, v in batch.items()})
        if index % LOOK_UPDATES == 0:
            trial.beat()
            after = explained_frac(estimates(pieces, rows), target)
            hopeless = begun + (after - begun) * most / index < too_little
            if after >= enough or (hopeless and index >= HOPELESS_UPDATES):
                break
    return after


def fit_reference(rows: Mapping[str, Any], with_actions: bool) -> float:
    """Return the share of the targets' variance that a quadratic function of the same inputs explains (ridge)."""
    columns = [_standard(rows["obs"].reshape(len(rows["obs"]), -1).double().numpy())]
    if with_actions:
        columns.append(_action_columns(rows["action"]).double().numpy())
    inputs = np.concatenate(columns, axis=-1)
    features: Any = np.concatenate([np.ones((len(inputs), 1)), inputs, inputs**2], axis=-1)
    target: Any = _standard(rows["target"].double().numpy())
    solve: Any = np.linalg.solve
    errors = features @ solve(features.T @ features + RIDGE * np.eye(features.shape[1]), features.T @ target) - target
    return 1.0 - float(errors @ errors) / max(float(target @ target), 1e-30)


def _standard(values: Any) -> Any:
    return (values - values.mean(0)) / (values.std(0) + 1e-9)


def _action_columns(action: Any) -> Any:
    import torch

    if action.is_floating_point():
        return action.reshape(len(action), -1).float()
    return torch.nn.functional.one_hot(action.reshape(-1).long()).float()
