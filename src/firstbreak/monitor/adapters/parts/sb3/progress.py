"""How far a Stable-Baselines3 model has come: steps, seconds of the clock and of the processor, finished episodes."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from ..seconds import Seconds


class Progress:
    """Counts from the start of a training on."""

    def __init__(self, model: Any) -> None:
        self._model, self._before, self._seconds = model, int(model.num_timesteps), Seconds()

    def row(self) -> dict[str, float]:
        """Return where the training stands."""
        model, seconds = self._model, self._seconds.row()
        pace = (model.num_timesteps - self._before) / max(seconds["time/elapsed_s"], 1e-9)
        row = {"time/env_steps": float(model.num_timesteps), **seconds, "time/fps": pace}
        episodes = list(model.ep_info_buffer or ())
        if episodes:
            row["reward/episode_return_mean"] = fmean(float(e["r"]) for e in episodes)
            row["episode/length_mean"] = fmean(float(e["l"]) for e in episodes)
        if model.ep_success_buffer:
            row["episode/success_rate"] = fmean(float(s) for s in model.ep_success_buffer)
        return row
