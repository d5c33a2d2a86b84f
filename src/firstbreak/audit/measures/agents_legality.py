"""Whether the calls of an agent are ones that its tools can take."""

from __future__ import annotations

from ..episodes.declared import breach
from ..episodes.episode import episode_of
from ..measure import Values, measure
from ..seen import Seen

COLUMNS = {
    "agent/unknown_tool": "calls of a tool that the prompt does not declare, where it declares any",
    "agent/broken_json": "calls whose arguments begin as JSON, or are declared to be, and cannot be parsed",
    "agent/against_schema": "calls whose arguments break the declared schema: missing, unknown, wrong type or choice",
}


@measure(COLUMNS)
def legality(seen: Seen) -> Values:
    """Count illegal calls by kind."""
    episode = episode_of(seen.sample)
    if episode is None or not episode.calls:
        return None
    tools = episode.tools
    broken = [
        c for c in episode.calls if c.given is None and (c.made.arguments.lstrip()[:1] == "{" or c.made.name in tools)
    ]
    if not tools:
        return float("nan"), float(len(broken)), float("nan")
    unknown = sum(c.made.name not in tools for c in episode.calls)
    against = sum(c.given is not None and bool(breach(tools.get(c.made.name, {}), c.given)) for c in episode.calls)
    return float(unknown), float(len(broken)), float(against)
