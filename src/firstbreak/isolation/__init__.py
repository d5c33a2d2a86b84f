"""Running the user's code in a child process with limits, so that it can never take firstbreak down with it.

An environment or a trainer may raise, hang, print, fork, change global state or eat memory. `run` starts a fresh
interpreter, hears what it reports, and says how it ended: which call was under way, after which actions.
"""

from .parent import Ending, How, Limits, run

__all__ = ["Ending", "How", "Limits", "run"]
