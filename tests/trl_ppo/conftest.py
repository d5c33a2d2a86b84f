"""TRL has a PPO trainer up to 1.12, so its tests run in an environment of their own (`make test-trl-ppo`)."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")


def has_ppo() -> bool:
    """Whether the TRL that is installed has a PPO trainer; asked without importing it."""
    try:
        major, minor = version("trl").split(".")[:2]
    except PackageNotFoundError:
        return False
    return (int(major), int(minor)) < (1, 13)


collect_ignore_glob = [] if has_ppo() else ["test_*.py"]
