"""Checks of a policy: its answers against the action space, and an expert's returns against chance."""

from .api import inspect_policy
from .baselines import proportional
from .trial import PolicyTrial

__all__ = ["PolicyTrial", "inspect_policy", "proportional"]
