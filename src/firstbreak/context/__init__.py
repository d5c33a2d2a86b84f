"""What a run was: command, configuration, seeds, code, packages, hardware, data, and how it ended.

`record` writes it, `read` reads it, `differences` says what differs between two runs and how likely that explains
where they part, `replaying` runs one again.
"""

from __future__ import annotations

from .contents import NAME, Code, Context, Ending, Mark
from .session import Recorder, record
from .store import find, read

__all__ = ["NAME", "Code", "Context", "Ending", "Mark", "Recorder", "find", "read", "record"]
