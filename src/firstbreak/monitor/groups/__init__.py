"""Dynamic filtering: which groups of answers to train on, and what the filter throws away.

Needs numpy and the standard library only; tensors that are handed in bring their library along.
"""

from __future__ import annotations

from .cost import ResamplingCost, resampling_cost
from .filter import GroupFilter
from .group import Group, read_group
from .report import FilterReport, Gap

__all__ = ["FilterReport", "Gap", "Group", "GroupFilter", "ResamplingCost", "read_group", "resampling_cost"]
