"""Faults of the seventh live campaign in Stable-Baselines3's trainers that replay; what they are: seventh.toml.

Each is handed the callback that switches it on and how large it is to be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

OTHER = 4321
"""The seed of the weights of a new network."""
Plant = Callable[[Any, float], None]


def first_obs_stored(ends: str) -> Plant:
    """Return what stores the beginning of the next episode as what followed at an end (all, or a time limit only)."""

    def plant(switch: Any, dose: float) -> None:
        del dose
        model = switch.model
        usual = model._store_transition

        def store(buffer: Any, action: Any, new_obs: Any, reward: Any, dones: Any, infos: Any) -> None:
            for info in infos:
                if ends == "all" or info.get("TimeLimit.truncated"):
                    info.pop("terminal_observation", None)
            usual(buffer, action, new_obs, reward, dones, infos)

        model._store_transition = store

    return plant


def row_after_read(switch: Any, dose: float) -> None:
    """Reward and end are those of the row after the one that was asked for."""
    buffer = switch.model.replay_buffer
    usual = buffer._get_samples

    def get(rows: Any, env: Any = None) -> Any:
        after = usual((rows + int(dose)) % buffer.size(), env=env)
        return usual(rows, env=env)._replace(rewards=after.rewards, dones=after.dones)

    buffer._get_samples = get


def limits_as_ends(switch: Any, dose: float) -> None:
    """A time limit is stored as an end."""
    del dose
    buffer = switch.model.replay_buffer
    buffer.handle_timeout_termination = False
    buffer.timeouts[:] = 0


def boundary_kept(switch: Any, dose: float) -> None:
    """The step from an end to the next beginning is kept as if it had been made."""
    del dose
    model = switch.model
    usual = model._store_transition

    def store(buffer: Any, action: Any, new_obs: Any, reward: Any, dones: Any, infos: Any) -> None:
        usual(buffer, action, new_obs, reward, dones, infos)
        if dones[0]:
            last = np.asarray([infos[0]["terminal_observation"]])
            buffer.add(last, new_obs, action, np.zeros(1, np.float32), np.zeros(1), [{}])

    model._store_transition = store


def batch_of_one(switch: Any, dose: float) -> None:
    """A batch is many copies of so many rows."""
    buffer = switch.model.replay_buffer
    usual = buffer._get_samples
    buffer._get_samples = lambda rows, env=None: usual(np.resize(rows[: int(dose)], len(rows)), env=env)


def ends_valued(switch: Any, dose: float) -> None:
    """That an episode has ended is left out of the target."""
    del dose
    buffer = switch.model.replay_buffer
    usual = buffer._get_samples

    def get(rows: Any, env: Any = None) -> Any:
        found = usual(rows, env=env)
        return found._replace(dones=torch.zeros_like(found.dones))

    buffer._get_samples = get


def replay_full(switch: Any, dose: float) -> None:
    """The buffer takes nothing more."""
    del dose
    switch.model.replay_buffer.add = lambda *args, **kwargs: None


def targets_none(switch: Any, dose: float) -> None:
    """There is no target network: it is copied at every step."""
    switch.model.target_update_interval = int(dose)


def actor_untaught(switch: Any, dose: float) -> None:
    """No gradient goes through the action that was drawn into the actor."""
    del dose
    critic = switch.model.critic
    usual = critic.forward
    critic.forward = lambda obs, actions: usual(obs, actions.detach())


def temperature_runs(switch: Any, dose: float) -> None:
    """The logarithm of the temperature is pushed up at every step."""

    def push() -> None:
        switch.model.log_ent_coef.data += dose

    switch.each.append(push)


def temperature_nothing(switch: Any, dose: float) -> None:
    del dose
    switch.model.ent_coef_optimizer, switch.model.log_ent_coef = None, None
    switch.model.ent_coef_tensor = torch.tensor(0.0)


def epsilon_restarts(switch: Any, dose: float) -> None:
    """The share of random actions falls again from where it began, over so many times the steps of the first time."""
    model = switch.model
    remaining, last = model._current_progress_remaining, model.exploration_final_eps

    def schedule(left: float) -> float:
        done = min(1.0, (remaining - left) / (dose * model.exploration_fraction))
        return model.exploration_initial_eps + done * (last - model.exploration_initial_eps)

    model.exploration_schedule = schedule


def resumed_bare(switch: Any, dose: float) -> None:
    """The weights are loaded; moments of the optimiser, statistics of observations and (2) replay are not."""
    model = switch.model
    model.policy.optimizer.state.clear()
    if dose > 1:
        model.replay_buffer.pos, model.replay_buffer.full = 0, False


def resumed_unlearned(switch: Any, dose: float) -> None:
    """The networks have the weights of new ones; all else goes on."""
    del dose
    model = switch.model
    torch.manual_seed(OTHER)
    for layer in model.q_net.modules():
        if isinstance(layer, torch.nn.Linear):
            layer.reset_parameters()
    model.q_net_target.load_state_dict(model.q_net.state_dict())


OF_REPLAY: dict[str, Plant] = {
    "limits-as-ends": limits_as_ends,
    "boundary-kept": boundary_kept,
    "batch-of-one": batch_of_one,
    "limit-valued-anew": first_obs_stored("limit"),
    "end-overwritten": first_obs_stored("all"),
    "row-after-read": row_after_read,
    "ends-valued": ends_valued,
    "replay-full": replay_full,
    "targets-none": targets_none,
    "actor-untaught": actor_untaught,
    "temperature-runs": temperature_runs,
    "temperature-nothing": temperature_nothing,
    "epsilon-restarts": epsilon_restarts,
    "resumed-bare": resumed_bare,
    "resumed-unlearned": resumed_unlearned,
}
