"""The probes as TorchRL environments: `torchrl_env("firstbreak/Discounting-v0")`."""

from __future__ import annotations

import importlib
from typing import Any

from ...errors import missing_extra
from .factories import make_env
from .world import KINDS


def torchrl_env(name: str, **options: Any) -> Any:
    """Return a probe as a TorchRL environment.

    Args:
        name: the Gymnasium id (`firstbreak/Discounting-v0`, `firstbreak/BanditActionContinuous-v0`) or the name of the
            world alone.
        options: for `GymWrapper`, for example `categorical_action_encoding=True`.

    Raises:
        UnknownNameError: there is no such probe.
        MissingExtraError: TorchRL is not installed.
    """
    world = name.removeprefix("firstbreak/").removesuffix("-v0")
    kind = KINDS[1] if world.endswith("Continuous") else KINDS[0]
    return wrapped(make_env(world.removesuffix("Continuous"), kind), **options)


def wrapped(env: Any, **options: Any) -> Any:
    """Return a Gymnasium environment as a TorchRL one.

    Raises:
        MissingExtraError: TorchRL is not installed.
    """
    try:
        envs: Any = importlib.import_module("torchrl.envs")
    except ImportError as error:
        raise missing_extra("torchrl", "torchrl", "A probe as a TorchRL environment") from error
    return envs.GymWrapper(env, **options)
