"""Shrinking a failing configuration to the few differences from a known-good one that still show the symptom.

Delta debugging (Zeller & Hildebrandt 2002, IEEE TSE 28(2)) made for trainings: whether a symptom shows is a matter of
chance, so every trial is repeated over seeds until a sequential test decides, and what is found is tried again on
seeds that no decision was made from.
"""

from __future__ import annotations

from .differences import ABSENT, Difference, applied, differences
from .numbers import smallest
from .reproduction import Reproduction, shrink
from .running import ClusterSymptom, child_symptom
from .sequential import Sequential, between
from .tries import Budget, Tried, Tries

__all__ = [
    "ABSENT",
    "Budget",
    "ClusterSymptom",
    "Difference",
    "Reproduction",
    "Sequential",
    "Tried",
    "Tries",
    "applied",
    "between",
    "child_symptom",
    "differences",
    "shrink",
    "smallest",
]
