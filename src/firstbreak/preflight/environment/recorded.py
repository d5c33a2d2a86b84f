"""What the checks say when there is nothing to look at."""

from __future__ import annotations

from ...finding import Skip

NOTHING = Skip("no episode was recorded", ("an environment that can be played",))
"""The answer of every check to a world without episodes."""
