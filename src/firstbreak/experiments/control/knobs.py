"""Settings by meaning: which keyword of a trainer is its learning rate, its epochs, its batch.

A function's keywords with defaults are its settings, and so are the fields of a dataclass that it takes as `config`;
for SB3 the constructor's arguments. Names follow the large libraries; others are told with `--with NAME_setting=...`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from typing import Any, cast, get_args, get_type_hints

from ...errors import InputError
from ...probes.adapters.reaching import SB3, TORCHRL
from ...target import load_target
from ..experiment import Option
from ..subject import Subject

NAMES: dict[str, tuple[str, ...]] = {
    "learning_rate": ("learning_rate", "lr", "actor_lr", "critic_lr", "alpha_lr", "policy_lr", "value_lr", "q_lr"),
    "epochs": ("n_epochs", "update_epochs", "num_epochs", "ppo_epochs", "num_sgd_iter", "epochs"),
    "minibatches": ("num_minibatches", "n_minibatches", "num_mini_batches", "minibatches"),
    "minibatch_size": ("minibatch_size", "mini_batch_size", "sgd_minibatch_size", "batch_size"),
    "rollout_steps": ("n_steps", "num_steps", "rollout_steps", "steps_per_rollout", "horizon", "frames_per_batch"),
    "copies": ("n_envs", "num_envs", "envs"),
    "batch": ("batch_size", "batch", "batch_episodes", "episodes_per_batch", "train_batch_size"),
    "buffer": ("buffer_size", "replay_size", "memory_size"),
    "discount": ("gamma", "discount"),
    "entropy_coefficient": ("ent_coef", "entropy_coef", "entropy_coefficient", "entropy_coeff", "entropy_bonus"),
    "kl_coefficient": ("beta", "kl_coef", "kl_coefficient", "kl_coeff", "init_kl_coef", "kl_loss_coef", "kl_ctl"),
    "exploration_fraction": ("exploration_fraction", "epsilon_frac", "eps_fraction"),
    "temperature": ("ent_coef", "alpha"),
}
"""Meaning -> names of keywords."""

OWN_NAME = Option("*_setting", "your trainer's name for a setting: learning_rate_setting=my_lr")
"""What `knobs_of` reads."""
OWN = ("total_steps", "seed", "gamma")
CONFIG = "config"


@dataclass(frozen=True)
class Knobs:
    """The settings that a trainer offers, with the values they have in this subject."""

    values: Mapping[str, Any]
    """Name (fields of a config as `config.NAME`) -> value."""
    config: Any = None
    """The trainer's config with the user's own changes, where it takes one."""
    told: Mapping[str, str] | None = None

    def find(self, meaning: str) -> dict[str, Any]:
        """Return the settings that mean `meaning`, by name, with their values."""
        told = (self.told or {}).get(meaning)
        wanted = (told,) if told else NAMES[meaning]
        return {n: v for n, v in self.values.items() if n.removeprefix(f"{CONFIG}.") in wanted}

    def number(self, meaning: str) -> float | None:
        """Return the value of `meaning` when it is one number, else None."""
        found = [v for v in self.find(meaning).values() if isinstance(v, int | float) and not isinstance(v, bool)]
        return float(found[0]) if found else None

    def settings(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return keyword arguments for the trainer with `changes` (names as in `values`) made."""
        inner = {n.removeprefix(f"{CONFIG}."): v for n, v in changes.items() if n.startswith(f"{CONFIG}.")}
        plain = {n: v for n, v in changes.items() if not n.startswith(f"{CONFIG}.")}
        return {**plain, CONFIG: replace(self.config, **inner)} if inner else plain


def knobs_of(subject: Subject) -> Knobs:
    """Return what the trainer of `subject` can be told."""
    told = {m: str(subject.given[f"{m}_setting"]) for m in NAMES if subject.given.get(f"{m}_setting")}
    if subject.trainer.startswith(SB3):
        return Knobs(_of_sb3(subject), told=told)
    target = subject.trainer.removeprefix(TORCHRL)
    return _of_function(cast("Callable[..., Any]", load_target(target)), subject, told)


def change(subject: Subject, meaning: str, value: Callable[[Any], Any] | Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (keyword arguments that change every setting called `meaning`, what was changed by name).

    Raises:
        InputError: the trainer offers no such setting.
    """
    knobs = knobs_of(subject)
    found = knobs.find(meaning)
    if not found:
        raise lacks(subject, meaning)
    changes = {name: value(old) if callable(value) else value for name, old in found.items()}
    return knobs.settings(changes), changes


def lacks(subject: Subject, meaning: str) -> InputError:
    """Build the error of a trainer without a setting called `meaning`."""
    return InputError(
        f"{subject.trainer} has no setting that is known as {meaning.replace('_', ' ')}.",
        f"Known names: {', '.join(NAMES[meaning])}. Another: --with {meaning}_setting=NAME.",
    )


def _of_sb3(subject: Subject) -> dict[str, Any]:
    from ...probes.adapters.sb3 import trainer as sb3_trainer

    built = sb3_trainer(subject.trainer.removeprefix(SB3), subject.settings)
    parameters = inspect.signature(built.algorithm.__init__).parameters
    defaults = {n: p.default for n, p in parameters.items() if p.default is not p.empty and n not in OWN}
    return {**defaults, "n_envs": 1, **built.settings}


def _of_function(function: Callable[..., Any], subject: Subject, told: Mapping[str, str]) -> Knobs:
    parameters = inspect.signature(function).parameters
    values = {n: p.default for n, p in parameters.items() if p.default is not p.empty and n not in (*OWN, CONFIG)}
    values |= {n: v for n, v in subject.settings.items() if n != CONFIG}
    config = subject.settings.get(CONFIG) or _config(function, parameters)
    if config is not None:
        values |= {f"{CONFIG}.{f.name}": getattr(config, f.name) for f in fields(config)}
    return Knobs(values, config, told)


def _config(function: Callable[..., Any], parameters: Mapping[str, inspect.Parameter]) -> Any:
    """The config that the trainer has by default: the parameter's own, or the dataclass of its annotation, built."""
    if CONFIG not in parameters:
        return None
    default = parameters[CONFIG].default
    if is_dataclass(default) and not isinstance(default, type):
        return default
    try:
        hint: Any = get_type_hints(function).get(CONFIG)
    except Exception:  # names that exist for a type checker only
        return None
    kinds: Sequence[Any] = get_args(hint) or (hint,)
    for kind in kinds:
        if is_dataclass(kind) and isinstance(kind, type) and all(_optional(f) for f in fields(kind)):
            return kind()
    return None


def _optional(field: Any) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING
