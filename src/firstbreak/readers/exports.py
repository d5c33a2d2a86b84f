"""Names in tables that dashboards export: TensorBoard puts the tag into the file name, W&B the run into a column."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..series import Curve

BOUNDS = ("__MIN", "__MAX")
"""Endings of the columns that W&B's chart export adds to each; of one run they repeat it."""
GROUPS = ("rollout_", "train_", "time_", "eval_", "charts_", "losses_", "loss_")
"""Beginnings of tags whose slash TensorBoard's download has turned into an underscore."""
OWN = frozenset({"_step", "_timestamp", "_runtime"})


def plainly_named(curves: Mapping[str, Curve], path: Path) -> dict[str, Curve]:
    """Return `curves` of a table under the keys that the run logged; as they are where no dashboard named them.

    TensorBoard's download is `Wall time,Step,Value` in `run-RUN-tag-TAG.csv`; W&B's has `RUN - KEY`, `RUN - KEY__MIN`
    and `RUN - KEY__MAX`. A table of several runs keeps its names: its columns are not one run's.
    """
    tag = path.stem.partition("-tag-")[2]
    if tag and set(curves) == {"Value"}:
        group = next((group for group in GROUPS if tag.startswith(group)), "")
        return {f"{group[:-1]}/{tag.removeprefix(group)}" if group else tag: curves["Value"]}
    columns = [key for key in curves if not key.endswith(BOUNDS)]
    bounded = any(f"{key}{ending}" in curves for key in columns for ending in BOUNDS)
    runs = {key.rpartition(" - ")[0] for key in columns}  # empty where nothing names a run
    if not bounded or len(runs) != 1 or "" in runs:
        return dict(curves)
    named = {key.rpartition(" - ")[2]: curves[key] for key in columns}
    return {key: curve for key, curve in named.items() if key not in OWN}
