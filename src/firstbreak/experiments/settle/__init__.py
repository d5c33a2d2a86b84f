"""From a diagnosis to the experiment that settles it, and from results back to the diagnosis.

`ties` says which experiment of the catalogue speaks for which cause, and by which verdict; `choosing` picks the
experiment that is expected to tell most about the ranking for what it costs; `weighing` moves the causes of a diagnosis
by what recorded experiments found. All of it is pure; `api` reads and runs.
"""

from __future__ import annotations

from .choosing import Proposal, propose
from .settled import Move, Settled
from .ties import BY_HAND, Tie, ties_of
from .weighing import settle

__all__ = ["BY_HAND", "Move", "Proposal", "Settled", "Tie", "propose", "settle", "ties_of"]
